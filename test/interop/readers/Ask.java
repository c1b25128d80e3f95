// Ask by doc/readers/java: Ask URL KEY KIND [COMMAND...] < elements, one a line, as ask.py does.
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import com.google.common.io.BaseEncoding;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.Function;
import redis.clients.jedis.JedisPooled;

public class Ask {
	static <T> void ask(String[] args, Funnel<? super T> funnel, Function<String, T> parse) throws Exception {
		JedisPooled redis = new JedisPooled(args[0]);
		BloomReader<T> reader = new BloomReader<>(redis, args[1], funnel);
		if (args.length > 3) {
			redis.sendCommand(() -> args[3].getBytes(), Arrays.copyOfRange(args, 4, args.length));
			try {
				reader.refresh();
			} catch (IllegalStateException e) {
				System.err.println(e.getMessage());
			}
		}
		StringBuilder answers = new StringBuilder();
		String input = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
		for (int at = 0, end; (end = input.indexOf('\n', at)) >= 0; at = end + 1) {
			answers.append(reader.mightContain(parse.apply(input.substring(at, end))) ? "1\n" : "0\n");
		}
		System.out.print(answers);
	}

	static byte[] hex(String digits) {
		return BaseEncoding.base16().lowerCase().decode(digits.replace("-", ""));
	}

	static Object value(String value) {
		String text = value.substring(1);
		switch (value.charAt(0)) {
			case 't':
				return text;
			case 'n':
				return Long.valueOf(text);
			case 'u':
				return UUID.fromString(text);
			default:
				return hex(text);
		}
	}

	public static void main(String[] args) throws Exception {
		switch (args[2]) {
			case "text":
				ask(args, Funnels.stringFunnel(StandardCharsets.UTF_8), s -> s);
				break;
			case "integer":
				ask(args, Funnels.integerFunnel(), Integer::valueOf);
				break;
			case "bigint":
				ask(args, Funnels.longFunnel(), Long::valueOf);
				break;
			case "row":
				ask(args, Funnels.byteArrayFunnel(), s -> BloomReader.row(Arrays.stream(s.split("\t")).map(Ask::value).toArray()));
				break;
			default:
				ask(args, Funnels.byteArrayFunnel(), Ask::hex);
		}
	}
}
