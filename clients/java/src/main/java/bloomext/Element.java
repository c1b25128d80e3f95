package bloomext;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** What is looked for, as bytes, and of which kind it is. */
final class Element {
	/** Kinds by what the hash next to a filter says that the elements are. */
	static final Map<String, Integer> KINDS = Map.of("text", 9, "char(n)", 9, "bytea", 11, "uuid", 12, "integer", 13);

	final String funnel; // as the hash next to a filter names it
	final int kind;      // of a value in a row
	final byte[] bytes;

	private Element(String funnel, int kind, byte[] bytes) {
		this.funnel = funnel;
		this.kind = kind;
		this.bytes = bytes;
	}

	static Element of(Object value) {
		if (value instanceof String)
			return new Element("utf8", 9, ((String) value).getBytes(StandardCharsets.UTF_8));
		if (value instanceof byte[])
			return new Element("bytes", 11, (byte[]) value);
		if (value instanceof UUID) {
			UUID id = (UUID) value;
			return new Element("bytes", 12, ByteBuffer.allocate(16).putLong(id.getMostSignificantBits())
				.putLong(id.getLeastSignificantBits()).array());
		}
		if (value instanceof Integer)
			return new Element("int", 13, little(4).putInt((Integer) value).array());
		if (value instanceof Long)
			return new Element("long", 13, little(8).putLong((Long) value).array());
		if (value instanceof List)
			return new Element("bytes", 11, row(((List<?>) value).toArray()));
		throw new IllegalArgumentException("no element is " + value);
	}

	/** The element of several columns.  Integers of any size are the same there. */
	static byte[] row(Object... values) {
		ByteArrayOutputStream row = new ByteArrayOutputStream();
		for (Object value : values) {
			Element part = of(value instanceof Integer ? Long.valueOf((Integer) value) : value);
			row.write(part.kind);
			row.writeBytes(little(4).putInt(part.bytes.length).array());
			row.writeBytes(part.bytes);
		}
		return row.toByteArray();
	}

	private static ByteBuffer little(int size) {
		return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
	}
}
