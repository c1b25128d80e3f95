// Share clients/java's reader by a copy with another thread: Shared URL.  That reads a filter
// again which has just taken the place of the one that is being read, and has to find what is in it.
import bloomext.BloomReader;
import com.google.common.hash.Funnels;
import java.nio.charset.StandardCharsets;
import redis.clients.jedis.JedisPooled;

public class Shared {
	static BloomReader<CharSequence> reader;
	static Thread other;

	public static void main(String[] args) throws InterruptedException {
		JedisPooled redis = new JedisPooled(args[0]) {
			@Override
			public byte[] get(byte[] key) {
				byte[] read = super.get(key);
				if (reader != null && other == null)
					replace(this);
				return read;
			}
		};
		redis.copy("hash-char", "shared", true);
		reader = new BloomReader<>(redis, "shared", Funnels.stringFunnel(StandardCharsets.UTF_8));
		System.out.println(reader.mightContain(""));
		reader.refresh();
		other.join();
		System.out.println(reader.mightContain(""));
	}

	static void replace(JedisPooled redis) {
		redis.copy("hash-utf8", "shared", true);
		other = new Thread(reader::refresh);
		other.start();
		try {
			other.join(1000); // longer, if it is to wait
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}
}
