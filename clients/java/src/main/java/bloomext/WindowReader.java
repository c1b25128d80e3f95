/*
 * Ask a window of time, layout window: by BITFIELD_RO, in batches.
 *
 *	WindowReader seen = new WindowReader(jedis, "seen");
 *	seen.contains(List.of("Breaking news", "首页"));	// true, false
 *
 * false is certain.  An exception means that nothing is known: take it for true.
 *
 * A question is two round trips: the hash, and then the clock and the words of all pieces,
 * which say how far they are turned.
 */
package bloomext;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.BuilderFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/** May be shared by threads. */
public class WindowReader extends Reader {
	private static final CommandObject<List<String>> TIME =
		new CommandObject<>(new CommandArguments(Protocol.Command.TIME), BuilderFactory.STRING_LIST);

	public WindowReader(UnifiedJedis redis, String key) {
		super(redis, key);
	}

	/** What is found of a piece. */
	private static final class Piece {
		final long number;
		final WindowPlan.Words words;
		final Response<List<Long>> values;
		final Response<String> id;
		final Response<Long> length;

		Piece(AbstractPipeline pipeline, String key, long number, WindowPlan.Words words) {
			this.number = number;
			this.words = words;
			values = pipeline.bitfieldReadonly(key, words.gets.toArray(new String[0]));
			id = pipeline.getrange(key, 8, 23);
			length = pipeline.strlen(key);
		}
	}

	/** Not if it was turned, or replaced, after its hash was read. */
	@Override
	boolean ask(List<Element> batch, boolean[] answers, int from, boolean last) {
		WindowPlan plan = new WindowPlan(key, redis.hmget(hash, WindowPlan.FIELDS));
		plan.check(batch);
		List<Piece> pieces = new ArrayList<>();
		Response<List<String>> time;
		try (AbstractPipeline pipeline = redis.pipelined()) {
			time = pipeline.executeCommand(TIME);
			for (Map.Entry<Long, WindowPlan.Words> words : plan.pieces(batch).entrySet())
				pieces.add(new Piece(pipeline, hash + "-window-" + plan.id + "-" + words.getKey(), words.getKey(), words.getValue()));
			pipeline.sync();
		}
		long now = plan.now(time.get());
		int[] common = new int[batch.size()];
		Arrays.fill(common, -1);
		for (Piece piece : pieces) {
			List<Long> values = piece.values.get();
			if (!plan.isPiece(piece.number, values.get(0), piece.id.get(), piece.length.get())) {
				if (last)
					throw plan.refusal("it has lost a part");
				return false;
			}
			int live = plan.live(values.get(0), now);
			for (int i = 1; i < values.size(); i++)
				common[piece.words.elements.get(i - 1)] &= values.get(i).intValue() & live;
		}
		// An element is there if its words have a bit in common.
		for (int i = 0; i < common.length; i++)
			answers[from + i] = common[i] != 0;
		return true;
	}
}
