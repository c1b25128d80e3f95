package bloomext;

import com.google.common.hash.Hashing;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import net.jpountz.xxhash.XXHashFactory;

/** How the elements of a filter become positions, and of which kind they are, by the hash next to it. */
class Plan {
	private static final int[] SALTS =
		{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

	private final String key;
	private final String strategy;
	final long m;
	final int k;
	private final String funnel;
	private final String elements;

	/** By fields that begin with layout, strategy, bits, hashes, funnel, elements, whole. */
	Plan(String key, String layout, List<String> fields) {
		this.key = key;
		if (!layout.equals(fields.get(0)))
			throw refusal("no filter of layout " + layout);
		strategy = fields.get(1);
		m = number(fields.get(2), 1, 1L << 32);
		k = (int) number(fields.get(3), 1, 255);
		funnel = fields.get(4) == null ? "" : fields.get(4);
		elements = fields.get(5) == null ? "" : fields.get(5);
		if (m % 64 != 0 || !"guava".equals(strategy) && !("parquet".equals(strategy) && k == SALTS.length && m % 256 == 0))
			throw refusal("strategy " + strategy + " with " + m + " bits and " + k + " hashes is not known");
		if (fields.get(6) != null)
			throw refusal("a shard, which has some of the elements only");
	}

	IllegalStateException refusal(String why) {
		return new IllegalStateException(key + ": " + why);
	}

	long number(String text, long least, long most) {
		if (text == null || !text.matches("0|[1-9]\\d{0,14}") || Long.parseLong(text) < least || Long.parseLong(text) > most)
			throw refusal("no filter: its hash says " + text + ", and not a number from " + least + " to " + most);
		return Long.parseLong(text);
	}

	long[] positions(byte[] element) {
		return strategy.equals("guava") ? guava(element) : parquet(element);
	}

	private long[] guava(byte[] element) {
		ByteBuffer halves = ByteBuffer.wrap(Hashing.murmur3_128().hashBytes(element).asBytes()).order(ByteOrder.LITTLE_ENDIAN);
		long h1 = halves.getLong();
		long h2 = halves.getLong();
		long[] positions = new long[k];
		for (int i = 0; i < k; i++)
			positions[i] = (h1 + i * h2 & Long.MAX_VALUE) % m;
		return positions;
	}

	/** A block of 256 bits by the upper half of the hash, and a bit in each of its words by the lower half. */
	private long[] parquet(byte[] element) {
		long hash = XXHashFactory.safeInstance().hash64().hash(element, 0, element.length, 0);
		long block = (hash >>> 32) * (m / 256) >>> 32;
		long[] positions = new long[k];
		for (int i = 0; i < k; i++)
			positions[i] = 256 * block + 32 * i + ((int) hash * SALTS[i] >>> 27);
		return positions;
	}

	/** Refuses elements of another kind than the hash says. */
	void check(List<Element> batch) {
		for (Element element : batch) {
			boolean fits = elements.isEmpty() || Element.KINDS.getOrDefault(elements, 0) == element.kind;
			if (!fits || !funnel.isEmpty() && !funnel.equals(element.funnel))
				throw refusal("its elements are \"" + elements + "\" as " + funnel + ", and not what was asked for");
			if (elements.equals("char(n)") && element.bytes.length > 0 && element.bytes[element.bytes.length - 1] == ' ')
				throw refusal("its elements are char(n): ask for them without trailing blanks");
		}
	}
}
