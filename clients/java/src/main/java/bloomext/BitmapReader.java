/*
 * Ask a filter of bloomext in Redis, of layout bitmap, strategy guava or parquet: by
 * BITFIELD_RO, in batches.
 *
 *	BitmapReader titles = new BitmapReader(jedis, "titles");
 *	titles.contains(List.of("Breaking news", "首页"));	// true, false
 *
 * false is certain.  An exception means that nothing is known: take it for true.
 *
 * A question is one round trip of three commands.  The first one reads the bits, and with
 * them bits that the string of the filter must have, its witness.  The others read what the
 * filter is, its length and the hash next to it.  Where that is not as remembered, the bits
 * may be another filter's.
 */
package bloomext;

import java.util.Arrays;
import java.util.List;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/** May be shared by threads. */
public class BitmapReader extends Reader {
	private volatile BitmapShape shape;

	public BitmapReader(UnifiedJedis redis, String key) {
		super(redis, key);
	}

	/** Each batch is of one moment. */
	@Override
	boolean ask(List<Element> batch, boolean[] answers, int from, boolean last) {
		BitmapShape current = shape;
		Response<List<Long>> values;
		Response<Long> length;
		Response<List<String>> fields;
		try (AbstractPipeline pipeline = redis.pipelined()) {
			values = pipeline.bitfieldReadonly(key, current == null ? new String[] {"GET", "u1", "0"} : current.gets(batch));
			length = pipeline.strlen(key);
			fields = pipeline.hmget(hash, BitmapShape.FIELDS);
			pipeline.sync();
		}
		List<Object> described = Arrays.asList(length.get(), fields.get());
		if (current != null && described.equals(current.described)) {
			current.check(batch);
			current.answer(values.get(), answers, from);
			return true;
		}
		shape = null;
		try {
			shape = new BitmapShape(key, described, length.get(), fields.get());
		} catch (IllegalStateException e) {
			// Of two filters, perhaps, but not where there is none.
			if (last || length.get() == 0)
				throw e;
		}
		return false;
	}
}
