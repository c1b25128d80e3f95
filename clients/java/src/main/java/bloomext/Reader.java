package bloomext;

import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/** What asks in batches, and again where a filter is replaced. */
abstract class Reader {
	private static final int BATCH = 100; // elements a command; larger ones keep Redis from others for longer
	private static final int TRIES = 5;   // where the filter is replaced again and again

	final UnifiedJedis redis;
	final String key;
	final String hash;

	Reader(UnifiedJedis redis, String key) {
		this.redis = redis;
		this.key = key;
		this.hash = hashOf(key);
	}

	/** The hash next to a filter. */
	static String hashOf(String key) {
		return (key.contains("{") ? key : "{" + key + "}") + ":bloomext";
	}

	/**
	 * An answer for each element.  Elements are of class String, Integer, Long, UUID or byte[];
	 * of several columns, a List that has such a value for each.
	 */
	public boolean[] contains(List<?> elements) {
		boolean[] answers = new boolean[elements.size()];
		for (int from = 0; from < answers.length; from += BATCH) {
			List<Element> batch = new ArrayList<>();
			for (Object element : elements.subList(from, Math.min(from + BATCH, answers.length)))
				batch.add(Element.of(element));
			int left = TRIES;
			while (!ask(batch, answers, from, left == 1))
				if (--left == 0)
					throw new IllegalStateException(key + ": it is replaced again and again");
		}
		return answers;
	}

	/**
	 * Puts an answer for each of the batch into answers, from a place on; or returns false, if the
	 * filter is another one than it seemed.  Then the last try says why.
	 */
	abstract boolean ask(List<Element> batch, boolean[] answers, int from, boolean last);
}
