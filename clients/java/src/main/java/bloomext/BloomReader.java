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
package bloomext;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import redis.clients.jedis.UnifiedJedis;

/** May be shared by threads. */
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
		return Element.row(values);
	}

	public boolean mightContain(T element) {
		BloomFilter<T> current = filter;
		return current == null || current.mightContain(element);
	}

	/**
	 * Reads the filter again, whole, by one GET; then the hash next to it, by which a shard is known.
	 * One thread at a time, as what was read earlier must not replace what was read later.
	 */
	public synchronized void refresh() {
		BloomFilter<T> read = null;
		try {
			byte[] bytes = redis.get(key.getBytes(StandardCharsets.UTF_8));
			// Of the layout's length, so that garbage does not ask for memory.
			if (bytes == null || bytes.length < 6 || bytes.length != 6 + 8L * ByteBuffer.wrap(bytes).getInt(2)) {
				throw new IllegalStateException(key + " is no filter of layout guava");
			}
			if (redis.hmget(Reader.hashOf(key), "whole").get(0) != null) {
				throw new IllegalStateException(key + " is a shard of a filter");
			}
			read = BloomFilter.readFrom(new ByteArrayInputStream(bytes), funnel);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		} finally {
			filter = read;
		}
	}
}
