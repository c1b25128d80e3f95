// BitmapReader of clients/java, which only reads, as an implementation of what
// test/vectors/README.md says: Kit URL FOLDER STRATEGY.  Both strategies in layout bitmap,
// where no reader takes an empty filter, and none is asked.
import bloomext.BitmapReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import redis.clients.jedis.JedisPooled;

public class Kit implements Vectors.Implementation {
	private final JedisPooled redis;
	private final String strategy;
	private int opened;

	Kit(JedisPooled redis, String strategy) {
		this.redis = redis;
		this.strategy = strategy;
	}

	public byte[] empty(long m, int k) {
		ByteBuffer bytes = ByteBuffer.allocate((int) m / 8 + 20);
		if (strategy.equals("guava")) {
			bytes.put((byte) 1).put((byte) k).putInt((int) m / 64);
		} else {
			bytes.put((byte) 0x15);
			long length = m / 4;
			for (; length > 127; length >>= 7)
				bytes.put((byte) (length | 128));
			bytes.put((byte) length).put(new byte[] {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0});
		}
		return Arrays.copyOf(bytes.array(), bytes.position() + (int) m / 8);
	}

	/** Two are open at a time.  Bits are the other way round in words of Guava, and in bytes of Parquet. */
	public Vectors.Filter open(byte[] bytes, long m, int k) {
		String key = "kit" + opened++ % 4;
		ByteBuffer from = ByteBuffer.wrap(bytes, bytes.length - (int) m / 8, (int) m / 8);
		ByteBuffer string = ByteBuffer.allocate((int) m / 8);
		while (from.hasRemaining()) {
			long word = from.getLong();
			string.putLong(Long.reverse(strategy.equals("guava") ? word : Long.reverseBytes(word)));
		}
		redis.set(key.getBytes(), string.array());
		int at = 0;
		while (at + 4 < m / 8 && string.getInt(at) == 0)
			at += 4;
		String witness = m / 8 + " " + at / 4 + ":" + Integer.toUnsignedString(string.getInt(at));
		boolean isEmpty = string.getInt(at) == 0;
		redis.hset("{" + key + "}:bloomext", Map.of("layout", "bitmap", "strategy", strategy, "bits", "" + m, "hashes", "" + k, "witness", witness));
		BitmapReader reader = new BitmapReader(redis, key);
		return new Vectors.Filter() {
			public boolean contains(String etype, byte[] value) {
				return !isEmpty && reader.contains(List.of(elementOf(etype, value)))[0];
			}

			public boolean add(String etype, byte[] value) {
				return false;
			}

			public byte[] bytes() {
				return null;
			}
		};
	}

	private static Object elementOf(String etype, byte[] value) {
		String text = new String(value, StandardCharsets.UTF_8);
		switch (etype) {
			case "text":
				return text;
			case "text16":
				return text.getBytes(StandardCharsets.UTF_16LE);
			case "int4":
				return Integer.valueOf(text);
			case "int8":
				return Long.valueOf(text);
			case "uuid":
				ByteBuffer halves = ByteBuffer.wrap(value);
				return new UUID(halves.getLong(), halves.getLong());
			default:
				return value;
		}
	}

	public static void main(String[] args) throws Exception {
		int[] counts = Vectors.check(new Kit(new JedisPooled(args[0]), args[2]), args[1], args[2]);
		System.out.printf("%d passed, %d failed, %d left out%n", counts[0], counts[1], counts[2]);
	}
}
