/*
 * Ask a filter of bloomext in Redis, layout guava, by a copy of it: Guava's own filter.
 *
 *	BloomReader<CharSequence> titles =
 *		new BloomReader<>(jedis, "titles", Funnels.stringFunnel(StandardCharsets.UTF_8));
 *	titles.mightContain("Breaking news");
 *	titles.refresh();	// now and then: in a thread or by a scheduler
 *
 * false is certain, of what was in the filter when it was read.  Where it could not be read
 * refresh() throws, and the answer is true, until it can: nothing is known.
 *
 * The funnel is of the kind of elements that is in the filter, which does not say: of text
 * as above, of integer Funnels.integerFunnel(), of bigint Funnels.longFunnel(), of bytea and
 * the 16 bytes of a uuid Funnels.byteArrayFunnel(), which row(...) of several columns needs, too.
 */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import redis.clients.jedis.UnifiedJedis;

public class BloomReader<T> {
	private final UnifiedJedis redis;
	private final String key;
	private final Funnel<? super T> funnel;
	private volatile BloomFilter<T> filter;

	public BloomReader(UnifiedJedis redis, String key, Funnel<? super T> funnel) {
		this.redis = redis;
		this.key = key;
		this.funnel = funnel;
		refresh();
	}

	/** The element of several columns: of a String, Integer, Long, UUID or byte[] for each. */
	public static byte[] row(Object... values) {
		ByteArrayOutputStream element = new ByteArrayOutputStream();
		for (Object value : values) {
			if (value instanceof String) {
				add(element, 9, ((String) value).getBytes(StandardCharsets.UTF_8));
			} else if (value instanceof byte[]) {
				add(element, 11, (byte[]) value);
			} else if (value instanceof UUID) {
				UUID id = (UUID) value;
				add(element, 12, ByteBuffer.allocate(16).putLong(id.getMostSignificantBits())
					.putLong(id.getLeastSignificantBits()).array());
			} else if (value instanceof Integer || value instanceof Long) {
				add(element, 13, little(8).putLong(((Number) value).longValue()).array());
			} else {
				throw new IllegalArgumentException("no element of several columns has " + value);
			}
		}
		return element.toByteArray();
	}

	/** The number of its kind, the length, and the bytes. */
	private static void add(ByteArrayOutputStream element, int kind, byte[] bytes) {
		element.write(kind);
		element.writeBytes(little(4).putInt(bytes.length).array());
		element.writeBytes(bytes);
	}

	private static ByteBuffer little(int size) {
		return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
	}

	public boolean mightContain(T element) {
		BloomFilter<T> current = filter;
		return current == null || current.mightContain(element);
	}

	/** Reads the filter again, whole, by one GET. */
	public void refresh() {
		BloomFilter<T> read = null;
		try {
			byte[] bytes = redis.get(key.getBytes(StandardCharsets.UTF_8));
			// Of the layout's length, so that garbage does not ask for memory.
			if (bytes == null || bytes.length < 6 || bytes.length != 6 + 8L * ByteBuffer.wrap(bytes).getInt(2)) {
				throw new IllegalStateException(key + " is no filter of layout guava");
			}
			read = BloomFilter.readFrom(new ByteArrayInputStream(bytes), funnel);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		} finally {
			filter = read;
		}
	}
}
