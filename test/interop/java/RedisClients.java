/*
 * RedisClients.java
 *	  What Java services do with filters in Redis.
 *
 *	  guava URL KEY N			one GET, BloomFilter.readFrom, then N titles that were
 *								added and N that were not
 *	  create URL KEY N			RBloomFilter.tryInit for 2 * N, and N titles added
 *	  ask URL KEY N				as guava, by RBloomFilter.contains; then adds "from Java"
 *	  keep URL KEY N			as ask, without adding; and again, by the same RBloomFilter
 *								and then by a new one, for each line of standard input
 *
 * Prints "missing M wrong W": titles not found that were added, and found that
 * were not.
 */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import org.redisson.Redisson;
import org.redisson.api.RBloomFilter;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

public class RedisClients {
	static void probe(int n, Predicate<String> contains) {
		int missing = 0;
		int wrong = 0;
		for (int i = 1; i <= n; i++) {
			if (!contains.test("Title " + i)) {
				missing++;
			}
			if (contains.test("Other title " + i)) {
				wrong++;
			}
		}
		System.out.println("missing " + missing + " wrong " + wrong);
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[3]);
		Config config = new Config();
		config.useSingleServer().setAddress(args[1])
			.setConnectionMinimumIdleSize(1).setConnectionPoolSize(2);
		RedissonClient client = Redisson.create(config);
		try {
			RBloomFilter<String> filter =
				client.getBloomFilter(args[2], StringCodec.INSTANCE);
			switch (args[0]) {
				case "guava":
					byte[] bytes = client.<byte[]>getBucket(args[2], ByteArrayCodec.INSTANCE).get();
					BloomFilter<CharSequence> read = BloomFilter.readFrom(
						new ByteArrayInputStream(bytes),
						Funnels.stringFunnel(StandardCharsets.UTF_8));
					probe(n, read::mightContain);
					break;
				case "create":
					System.out.println(filter.tryInit(2L * n, 0.01));
					for (int i = 1; i <= n; i++) {
						filter.add("Title " + i);
					}
					break;
				case "keep":
					BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
					probe(n, filter::contains);
					while (lines.readLine() != null) {
						probe(n, filter::contains);
						probe(n, client.<String>getBloomFilter(args[2], StringCodec.INSTANCE)::contains);
					}
					break;
				default:
					probe(n, filter::contains);
					System.out.println(filter.add("from Java") + " " + filter.add("from Java")
						+ " " + filter.getSize() + " " + filter.getHashIterations());
			}
		} finally {
			client.shutdown();
		}
	}
}
