// Ask by clients/java, as ask.py does; a key that begins with "bitmap" by BitmapReader, with
// "window" by WindowReader, others by BloomReader.
import bloomext.BitmapReader;
import bloomext.BloomReader;
import bloomext.WindowReader;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import com.google.common.io.BaseEncoding;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.exceptions.JedisException;

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

	static boolean[] by(Function<List<?>, boolean[]> contains, List<Object> elements, Runnable meanwhile) {
		if (meanwhile != null) {
			contains.apply(elements);
			meanwhile.run();
		}
		return contains.apply(elements);
	}

	static <T> boolean[] byCopy(JedisPooled redis, String key, Funnel<? super T> funnel, List<T> elements, Runnable meanwhile) {
		BloomReader<T> reader = new BloomReader<>(redis, key, funnel);
		IllegalStateException failed = null;
		if (meanwhile != null) {
			meanwhile.run();
			try {
				reader.refresh();
			} catch (IllegalStateException e) {
				failed = e;
			}
		}
		boolean[] answers = new boolean[elements.size()];
		boolean maybe = true;
		for (int i = 0; i < answers.length; i++)
			maybe &= answers[i] = reader.mightContain(elements.get(i));
		if (failed != null && maybe)
			throw failed;
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
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = input.readLine(); line != null; line = input.readLine()) {
			String[] question = line.split("\t");
			StringBuilder answer = new StringBuilder();
			try (JedisPooled redis = new JedisPooled(question[0])) {
				for (boolean there : ask(redis, question[1], question[2], question[3], Arrays.copyOfRange(question, 4, question.length)))
					answer.append(there ? '1' : '0');
			} catch (IllegalStateException | UncheckedIOException | JedisException e) {
				answer.append(e.toString().replace('\n', ' '));
			}
			System.out.println(answer);
			System.out.flush();
		}
	}

	static boolean[] ask(JedisPooled redis, String key, String kind, String file, String[] command) throws IOException {
		String[] lines = Files.readString(Path.of(file)).split("\n", -1);
		List<Object> elements = Arrays.stream(lines, 0, lines.length - 1).map(line -> parse(kind, line)).collect(Collectors.toList());
		Runnable meanwhile = command.length == 0 ? null :
			() -> redis.sendCommand(() -> command[0].getBytes(), Arrays.copyOfRange(command, 1, command.length));
		if (key.startsWith("bitmap"))
			return by(new BitmapReader(redis, key)::contains, elements, meanwhile);
		if (key.startsWith("window"))
			return by(new WindowReader(redis, key)::contains, elements, meanwhile);
		return byCopy(redis, key, kind, elements, meanwhile);
	}

	static boolean[] byCopy(JedisPooled redis, String key, String kind, List<Object> elements, Runnable meanwhile) {
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
