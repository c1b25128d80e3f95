// What test/t/interop/drivers.pl asks of each driver, by pgjdbc.
import java.sql.*;
import java.util.Arrays;
import java.util.Collections;
import java.util.stream.Collectors;

public class Ask {
	static final String[] ELEMENTS = {"plain", "with \"quotes\", {braces} and \\", "ünï", null};
	static Connection db;

	static String[] more(String last) {
		String[] more = Arrays.copyOf(ELEMENTS, ELEMENTS.length + 1);
		more[ELEMENTS.length] = last;
		return more;
	}

	static Object bound(Object parameter) throws SQLException {
		return parameter instanceof String[] ? db.createArrayOf("text", (String[]) parameter) : parameter;
	}

	static Object ask(String query, Object... parameters) throws SQLException {
		try (PreparedStatement statement = db.prepareStatement(query)) {
			for (int i = 0; i < parameters.length; i++)
				statement.setObject(i + 1, bound(parameters[i]));
			if (!statement.execute())
				return null;
			ResultSet rows = statement.getResultSet();
			rows.next();
			Object answer = rows.getObject(1);
			// What getBytes gives, where it is not asked of an array or a boolean.
			return answer instanceof Array ? ((Array) answer).getArray()
				: answer instanceof Boolean || answer instanceof String ? answer : rows.getBytes(1);
		}
	}

	static void show(Object... answers) {
		System.out.println(Arrays.stream(answers).map(answer -> answer == null ? "-" : (Boolean) answer ? "t" : "f")
			.collect(Collectors.joining(" ")));
	}

	static void careless(String query, Object... parameters) {
		String word = "works";
		try {
			Object answer = ask(query, parameters);
			if (answer instanceof String)
				word = (String) answer;
			else if (answer instanceof byte[] && new String((byte[]) answer).startsWith("\\x6266"))
				word = "text";
		} catch (SQLException e) {
			word = "error";
		}
		System.out.println(word);
	}

	public static void main(String[] args) throws Exception {
		db = DriverManager.getConnection(System.getenv("JDBC_URL"));
		for (Object added : Arrays.asList(ELEMENTS, null, new String[0])) {
			ask("UPDATE filters SET f = bf_add_all(f, ?::text[])", added);
			show((Object[]) ask("SELECT bf_contains_each(f, ?::text[]) FROM filters", (Object) more("other")));
		}
		ask("UPDATE filters SET f = bf_add(f, ?)", (Object) null);
		show(ask("SELECT bf_contains_all(f, ?) FROM filters", (Object) ELEMENTS),
			ask("SELECT bf_contains_all(f, ?) FROM filters", (Object) more("other")));
		show((Object[]) ask("SELECT bf_live_contains_each('titles', ?)", (Object) new String[] {"title", "other", null}));
		show(ask("SELECT bf_live_contains_all('titles', ?)", (Object) new String[] {"title", null}),
			ask("SELECT bf_live_contains_all('titles', ?)", (Object) new String[] {"title", "other"}));
		show(ask("SELECT bf_contains(f, ?::bigint) FROM numbers", 5), ask("SELECT bf_contains(f, ?::bigint) FROM numbers", -5));
		byte[] stream = (byte[]) ask("SELECT bf_export(f) FROM filters");
		show(ask("SELECT ?::bytea::bloomfilter = f FROM filters", stream));

		// Prepared after the fifth.
		Object[] answers = Collections.nCopies(13, false).toArray();
		try (PreparedStatement late = db.prepareStatement("SELECT bf_contains(f, ?::text) FROM filters")) {
			for (int i = 0; i <= 12; i++) {
				if (i == 12)
					ask("UPDATE filters SET f = bf_add(f, 'late')");
				late.setString(1, "late");
				ResultSet rows = late.executeQuery();
				rows.next();
				answers[i] = rows.getBoolean(1);
			}
		}
		show(Arrays.copyOf(answers, 12));
		show(answers[12]);

		careless("SELECT f FROM filters");
		careless("SELECT ?::bloomfilter IS NOT NULL", stream);
		careless("SELECT bf_contains_each(f, ?) FROM filters", (Object) new String[] {"plain"});
		careless("SELECT bf_contains_each(f, ?) FROM filters", "{plain}");
		careless("SELECT bf_contains(f, ?) FROM numbers", 5);
		careless("SELECT (bf_info(bf_add(bf_create(100), ?))).funnel", 5);
		db.close();
	}
}
