// The program of doc/languages.md, by pgjdbc: the page has what differs from psycopg's.
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.sql.*;

public class Titles {
	public static void main(String[] args) throws Exception {
		try (Connection db = DriverManager.getConnection(System.getenv("JDBC_URL"))) {
			// Which of these are new?
			PreparedStatement ask = db.prepareStatement("SELECT ARRAY(SELECT DISTINCT title FROM unnest(?::text[]) AS title "
				+ "WHERE title IS NOT NULL AND bf_contains((SELECT f FROM filters WHERE name = 'titles'), title) IS NOT TRUE "
				+ "ORDER BY title)");
			ask.setArray(1, db.createArrayOf("text", new Object[] {"Title number 7", "Breaking news", "首页"}));
			ResultSet answer = ask.executeQuery();
			answer.next();
			String[] found = (String[]) answer.getArray(1).getArray();
			System.out.println("new: " + String.join(", ", found));

			// Out, remember them ...
			answer = db.createStatement().executeQuery("SELECT bf_export(f) FROM filters WHERE name = 'titles'");
			answer.next();
			BloomFilter<CharSequence> filter = BloomFilter.readFrom(
				new ByteArrayInputStream(answer.getBytes(1)), Funnels.stringFunnel(StandardCharsets.UTF_8));
			for (String title : found) filter.put(title);

			// ... and in.
			ByteArrayOutputStream stream = new ByteArrayOutputStream();
			filter.writeTo(stream);
			PreparedStatement unite = db.prepareStatement(
				"UPDATE filters SET f = f | ?::bytea::bloomfilter WHERE name = 'titles' RETURNING bf_count(f)");
			unite.setBytes(1, stream.toByteArray());
			answer = unite.executeQuery();
			answer.next();
			System.out.println(stream.size() + " bytes, some " + answer.getLong(1) + " elements");
		}
	}
}
