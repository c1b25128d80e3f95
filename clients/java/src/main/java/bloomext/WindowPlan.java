package bloomext;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a window of time is, by its hash. */
final class WindowPlan extends Plan {
	static final String[] FIELDS =
		{"layout", "strategy", "bits", "hashes", "funnel", "elements", "whole", "id", "slice", "slices", "newest", "turned"};
	private static final long MOST = 999_999_999_999_999L; // of numbers in the hash
	private static final int PIECE = 500_000; // words of a piece, except for the last one

	final String id;
	private final long slice;
	private final long slices;
	private final long newest;
	private final long turned;

	WindowPlan(String key, List<String> fields) {
		super(key, "window", fields);
		id = fields.get(7);
		if (id == null)
			throw refusal("no filter of layout window");
		slice = number(fields.get(8), 1000, MOST);
		slices = number(fields.get(9), 1, 30);
		newest = number(fields.get(10), 0, MOST);
		turned = number(fields.get(11), 0, newest);
	}

	/** The words of a piece that are asked for, and for which elements. */
	static final class Words {
		final List<String> gets = new ArrayList<>(List.of("GET", "i64", "0"));
		final List<Integer> elements = new ArrayList<>();
	}

	/** By the numbers of the pieces. */
	Map<Long, Words> pieces(List<Element> batch) {
		Map<Long, Words> pieces = new TreeMap<>();
		for (int i = 0; i < batch.size(); i++) {
			for (long position : positions(batch.get(i).bytes)) {
				Words words = pieces.computeIfAbsent(position / PIECE, number -> new Words());
				words.gets.addAll(List.of("GET", "u32", "#" + (position % PIECE + 6)));
				words.elements.add(i);
			}
		}
		return pieces;
	}

	/** The slice of now, by the answer of TIME. */
	long now(List<String> time) {
		long now = (Long.parseLong(time.get(0)) * 1000 + Long.parseLong(time.get(1)) / 1000) / slice;
		if (newest > now + 1)
			throw refusal("the clock is behind its newest slice");
		return Math.max(now, newest);
	}

	boolean isPiece(long number, long at, String idThere, long length) {
		return idThere.equals(id) && length == 24 + 4 * Math.min(m - number * PIECE, PIECE) && at >= turned && at <= newest;
	}

	/** The bits that count of the words of a piece that was turned to a slice. */
	int live(long at, long now) {
		int bits = 0;
		for (long s = Math.max(now - slices - 1, at - 31); s <= at; s++)
			bits |= 1 << (int) s;
		return bits;
	}
}
