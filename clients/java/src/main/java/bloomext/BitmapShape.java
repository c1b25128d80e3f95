package bloomext;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a filter of layout bitmap is, by the length of its string and the hash next to it. */
final class BitmapShape extends Plan {
	static final String[] FIELDS = {"layout", "strategy", "bits", "hashes", "funnel", "elements", "whole", "witness"};
	private static final Pattern WITNESS = Pattern.compile("\\d+( \\d+:[1-9]\\d{0,9})+");
	private static final Pattern WORD = Pattern.compile(" (\\d+):(\\d+)");

	final Object described;
	private final List<String> words = new ArrayList<>(); // of the witness
	private final List<Long> wordBits = new ArrayList<>();

	BitmapShape(String key, Object described, long length, List<String> fields) {
		super(key, "bitmap", fields);
		this.described = described;
		if (length != (m + 7) / 8)
			throw refusal("no filter: it has " + length + " bytes, not " + m + " bits");
		String witness = fields.get(7);
		if (witness == null || !WITNESS.matcher(witness).matches())
			throw refusal("it has no witness, so that a lost filter looks like an empty one");
		for (Matcher word = WORD.matcher(witness); word.find(); ) {
			words.add(word.group(1));
			wordBits.add(Long.valueOf(word.group(2)));
		}
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

	/** By the values of gets(). */
	void answer(List<Long> values, boolean[] answers, int from) {
		for (int i = 0; i < words.size(); i++)
			if ((~values.get(i) & wordBits.get(i)) != 0)
				throw refusal("it has lost bits");
		List<Long> bits = values.subList(words.size(), values.size());
		for (int i = 0; i < bits.size() / k; i++)
			answers[from + i] = !bits.subList(i * k, (i + 1) * k).contains(0L);
	}
}
