// Ask by clients/java: Ask URL KEY KIND [COMMAND...] < elements, one a line, as ask.py does;
// a key that begins with "bitmap" by BitmapReader, others by BloomReader.
import bloomext.BitmapReader;
import bloomext.BloomReader;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import com.google.common.io.BaseEncoding;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import redis.clients.jedis.JedisPooled;

public class Ask {
	static Object parse(String kind, String text) {
		switch (kind) {
			case "text": case "t":
				return text;
			case "integer":
				return Integer.valueOf(text);
			case "bigint": case "n":
				return Long.valueOf(text);
			case "uuid": case "u":
				return UUID.fromString(text);
			case "bytea": case "b":
				return hex(text);
			default:
				return Arrays.stream(text.split("\t")).map(value -> parse(value.substring(0, 1), value.substring(1))).collect(Collectors.toList());
		}
	}

	static byte[] hex(String digits) {
		return BaseEncoding.base16().lowerCase().decode(digits.replace("-", ""));
	}

	static boolean[] byBitmap(JedisPooled redis, String key, List<Object> elements, Runnable meanwhile) {
		BitmapReader reader = new BitmapReader(redis, key);
		if (meanwhile != null) {
			reader.contains(elements);
			meanwhile.run();
		}
		return reader.contains(elements);
	}

	static <T> boolean[] byCopy(JedisPooled redis, String key, Funnel<? super T> funnel, List<T> elements, Runnable meanwhile) {
		BloomReader<T> reader = new BloomReader<>(redis, key, funnel);
		if (meanwhile != null) {
			meanwhile.run();
			try {
				reader.refresh();
			} catch (IllegalStateException e) {
				System.err.println(e.getMessage());
			}
		}
		boolean[] answers = new boolean[elements.size()];
		for (int i = 0; i < answers.length; i++)
			answers[i] = reader.mightContain(elements.get(i));
		return answers;
	}

	@SuppressWarnings("unchecked")
	static <T> List<T> of(List<?> elements) {
		return (List<T>) elements;
	}

	static byte[] bytes(Object element) {
		return element instanceof byte[] ? (byte[]) element :
			element instanceof UUID ? hex(element.toString()) : BloomReader.row(((List<?>) element).toArray());
	}

	public static void main(String[] args) throws Exception {
		JedisPooled redis = new JedisPooled(args[0]);
		String key = args[1], kind = args[2];
		Runnable meanwhile = args.length == 3 ? null :
			() -> redis.sendCommand(() -> args[3].getBytes(), Arrays.copyOfRange(args, 4, args.length));
		String[] lines = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).split("\n", -1);
		List<Object> elements = Arrays.stream(lines, 0, lines.length - 1).map(line -> parse(kind, line)).collect(Collectors.toList());
		StringBuilder printed = new StringBuilder();
		for (boolean answer : ask(redis, key, kind, elements, meanwhile))
			printed.append(answer ? "1\n" : "0\n");
		System.out.print(printed);
	}

	static boolean[] ask(JedisPooled redis, String key, String kind, List<Object> elements, Runnable meanwhile) {
		if (key.startsWith("bitmap"))
			return byBitmap(redis, key, elements, meanwhile);
		switch (kind) {
			case "text":
				return byCopy(redis, key, Funnels.stringFunnel(StandardCharsets.UTF_8), Ask.<CharSequence>of(elements), meanwhile);
			case "integer":
				return byCopy(redis, key, Funnels.integerFunnel(), Ask.<Integer>of(elements), meanwhile);
			case "bigint":
				return byCopy(redis, key, Funnels.longFunnel(), Ask.<Long>of(elements), meanwhile);
			default:
				return byCopy(redis, key, Funnels.byteArrayFunnel(), elements.stream().map(Ask::bytes).collect(Collectors.toList()), meanwhile);
		}
	}
}
