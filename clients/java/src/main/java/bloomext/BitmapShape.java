package bloomext;

import com.google.common.hash.Hashing;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jpountz.xxhash.XXHashFactory;

/** What a filter of layout bitmap is, by the length of its string and the hash next to it. */
final class BitmapShape {
	static final String[] FIELDS = {"layout", "strategy", "bits", "hashes", "funnel", "elements", "whole", "witness"};
	private static final Pattern WITNESS = Pattern.compile("\\d+( \\d+:\\d{1,10})*");
	private static final Pattern WORD = Pattern.compile(" (\\d+):(\\d+)");
	private static final int[] SALTS =
		{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

	final Object described;
	private final String key;
	private final String strategy;
	private final long m;
	private final int k;
	private final String funnel;
	private final String elements;
	private final List<String> words = new ArrayList<>(); // of the witness
	private final List<Long> wordBits = new ArrayList<>();

	BitmapShape(String key, Object described, long length, List<String> fields) {
		this.key = key;
		this.described = described;
		if (!"bitmap".equals(fields.get(0)))
			throw refusal("no filter of layout bitmap");
		strategy = fields.get(1);
		m = number(fields.get(2), 1L << 32);
		k = (int) number(fields.get(3), 255);
		funnel = fields.get(4) == null ? "" : fields.get(4);
		elements = fields.get(5) == null ? "" : fields.get(5);
		if (!"guava".equals(strategy) && !("parquet".equals(strategy) && k == SALTS.length && m % 256 == 0))
			throw refusal("strategy " + strategy + " with " + m + " bits and " + k + " hashes is not known");
		if (length != (m + 7) / 8)
			throw refusal("no filter: it has " + length + " bytes, not " + m + " bits");
		if (fields.get(6) != null)
			throw refusal("a shard, which has some of the elements only");
		String witness = fields.get(7);
		if (witness == null || !WITNESS.matcher(witness).matches())
			throw refusal("it has no witness, so that a lost filter looks like an empty one");
		for (Matcher word = WORD.matcher(witness); word.find(); ) {
			words.add(word.group(1));
			wordBits.add(Long.valueOf(word.group(2)));
		}
	}

	private IllegalStateException refusal(String why) {
		return new IllegalStateException(key + ": " + why);
	}

	private long number(String text, long most) {
		if (text == null || !text.matches("[1-9]\\d{0,9}") || Long.parseLong(text) > most)
			throw refusal("no filter: its hash says " + text + " bits or hashes");
		return Long.parseLong(text);
	}

	/** What BITFIELD_RO is to read: words of the witness, then bits. */
	String[] gets(List<Element> batch) {
		List<String> gets = new ArrayList<>();
		for (String word : words)
			gets.addAll(List.of("GET", "u32", "#" + word));
		for (Element element : batch)
			for (long position : positions(element.bytes))
				gets.addAll(List.of("GET", "u1", Long.toString(position)));
		return gets.toArray(new String[0]);
	}

	private long[] positions(byte[] element) {
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

	/** By the values of gets(). */
	void answer(List<Long> values, boolean[] answers, int from) {
		for (int i = 0; i < words.size(); i++)
			if ((~values.get(i) & wordBits.get(i)) != 0)
				throw refusal("it has lost bits");
		List<Long> bits = values.subList(words.size(), values.size());
		for (int i = 0; i < bits.size() / k; i++)
			answers[from + i] = !bits.subList(i * k, (i + 1) * k).contains(0L);
	}

	/** Refuses elements of another kind than the hash says. */
	void check(List<Element> batch) {
		for (Element element : batch) {
			boolean isUuid = element.kind == Element.UUID_KIND;
			if (!funnel.isEmpty() && !funnel.equals(element.funnel) || !elements.isEmpty() && elements.equals("uuid") != isUuid)
				throw refusal("its elements are \"" + elements + "\" as " + funnel + ", and not what was asked for");
			if (elements.equals("char(n)") && element.bytes.length > 0 && element.bytes[element.bytes.length - 1] == ' ')
				throw refusal("its elements are char(n): ask for them without trailing blanks");
		}
	}
}
