/*
 * text.c
 *	  Convert text from the database's encoding to UTF-8 and UTF-16.
 *
 * Text is hashed as UTF-8 (or UTF-16) whatever the database's encoding, so
 * that filters are portable between databases and services.  In SQL_ASCII only
 * bytes below 128 have a known meaning.
 *
 * Not all text is valid in the database's encoding: PostgreSQL checks neither
 * a setting that a client sends as it connects, nor text from a server whose
 * encoding is SQL_ASCII.  So conversions check their input (error 22021), and
 * do not read or write out of bounds, whatever the bytes are.  In a database
 * of encoding UTF-8, funnel utf8 neither converts nor checks text.  It need
 * not: equal texts have equal bytes, valid or not, and so equal bits.  Other
 * funnels, and databases of other encodings, refuse invalid text, so their
 * filters cannot contain it.
 *
 * Long texts are converted in pieces.  Between these they can be cancelled,
 * and memory is used only for the result and one piece.
 */
#include "postgres.h"

#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"

#include "core/pause.h"
#include "type/text.h"

/* The result so far. */
typedef struct Output
{
	unsigned char *bytes;
	size_t		length;
	size_t		room;
} Output;

/* Make room for `more` bytes at most; returns where they go. */
static unsigned char *
reserve_output(Output *output, size_t more)
{
	size_t		needed = output->length + more;

	if (output->bytes == NULL)
		output->bytes = palloc_extended(needed, MCXT_ALLOC_HUGE);
	else if (needed > output->room)
		output->bytes = repalloc_huge(output->bytes, needed);
	output->room = Max(output->room, needed);
	return output->bytes + output->length;
}

/* Whether all bytes are below 128, and so equal in every server encoding. */
static bool
is_ascii(const unsigned char *bytes, size_t length)
{
	const unsigned char *end = bytes + length;

	while (bytes < end)
	{
		const unsigned char *stop = bytes + Min(end - bytes, BF_PIECE);

		CHECK_FOR_INTERRUPTS();
		for (; bytes < stop; bytes++)
		{
			if (IS_HIGHBIT_SET(*bytes))
				return false;
		}
	}
	return true;
}

/*
 * Whether text is certain to be convertible: non-ASCII characters of an
 * encoding other than UTF-8 may have no equivalent.
 */
bool
bf_text_is_convertible(const unsigned char *text, size_t length)
{
	return is_ascii(text, length) ||
		(GetDatabaseEncoding() == PG_UTF8 &&
		 pg_verify_mbstr(PG_UTF8, (const char *) text, length, true));
}

/* Whether text is UTF-8 as it is; raises if its encoding is unknown. */
static bool
is_utf8(const unsigned char *text, size_t length)
{
	if (GetDatabaseEncoding() == PG_UTF8 || is_ascii(text, length))
		return true;
	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		ereport(ERROR,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("encoding of non-ASCII text is unknown in a SQL_ASCII database"),
				 errhint("Use bytea, or a database with another encoding.")));
	return false;
}

/*
 * PostgreSQL's own conversion to UTF-8: a default conversion by the session's
 * search_path would set other bits.
 */
static Oid
own_conversion(void)
{
	static Oid	conversion = InvalidOid;

	if (!OidIsValid(conversion))
		conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE,
										   GetDatabaseEncoding(), PG_UTF8);
	if (!OidIsValid(conversion))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("default conversion function for encoding \"%s\" to \"UTF8\" does not exist",
						GetDatabaseEncodingName())));
	return conversion;
}

/*
 * Convert a piece of text to UTF-8 with a terminating zero; returns the length
 * converted: all but a character that continues after the piece.
 */
static size_t
convert_piece(const unsigned char *piece, int length, unsigned char *utf8)
{
	Oid			conversion = own_conversion();
	int			room = length * MAX_CONVERSION_GROWTH + 1;
	int			taken;

	CHECK_FOR_INTERRUPTS();
	taken = pg_do_encoding_conversion_buf(conversion, GetDatabaseEncoding(),
										  PG_UTF8, (unsigned char *) piece,
										  length, utf8, room, true);
	/* If not even one character is valid, raise the error. */
	if (taken == 0)
		taken = pg_do_encoding_conversion_buf(conversion, GetDatabaseEncoding(),
											  PG_UTF8, (unsigned char *) piece,
											  length, utf8, room, false);
	return taken;
}

/*
 * Convert text from the database's encoding to UTF-8; *length is updated.  The
 * result is the text itself, or memory to be freed.
 */
const unsigned char *
bf_text_to_utf8(const unsigned char *text, size_t *length)
{
	const unsigned char *end = text + *length;
	Output		output = {NULL};

	if (is_utf8(text, *length))
		return text;
	while (text < end)
	{
		int			piece = Min(end - text, BF_PIECE);
		unsigned char *utf8 = reserve_output(&output,
											 piece * MAX_CONVERSION_GROWTH + 1);

		text += convert_piece(text, piece, utf8);
		output.length += strlen((char *) utf8);
	}
	*length = output.length;
	return output.bytes;
}

/* Store a UTF-16 code unit, in either order. */
static unsigned char *
put_unit(unsigned char *out, uint32 unit, bool big_endian)
{
	*out++ = big_endian ? unit >> 8 : unit & 0xff;
	*out++ = big_endian ? unit & 0xff : unit >> 8;
	return out;
}

/*
 * Append as UTF-16 the characters of UTF-8 that begin before `stop`, the last
 * of which must end by `end`; returns where the next one begins.
 */
static const unsigned char *
append_utf16(Output *output, const unsigned char *utf8,
			 const unsigned char *stop, const unsigned char *end,
			 bool big_endian)
{
	/* No character takes more than twice its bytes; the last may pass stop. */
	unsigned char *out = reserve_output(output, (stop - utf8) * 2 + 2);
	int			length;

	CHECK_FOR_INTERRUPTS();
	for (; utf8 < stop; utf8 += length)
	{
		uint32		c;

		if (!IS_HIGHBIT_SET(*utf8))
		{
			out = put_unit(out, *utf8, big_endian);
			length = 1;
			continue;
		}
		length = pg_utf_mblen(utf8);
		if (length > end - utf8 || !pg_utf8_islegal(utf8, length))
			report_invalid_encoding(PG_UTF8, (const char *) utf8, end - utf8);
		c = utf8_to_unicode(utf8);
		if (length == 4)
		{
			out = put_unit(out, 0xd800 + ((c - 0x10000) >> 10), big_endian);
			c = 0xdc00 + ((c - 0x10000) & 0x3ff);
		}
		out = put_unit(out, c, big_endian);
	}
	output->length = out - output->bytes;
	return utf8;
}

/*
 * Convert text from the database's encoding to UTF-16 code units; *length is
 * updated.  They are little-endian or, if marked, as in Java's charset
 * "UTF-16": big-endian after a byte order mark, which empty text does not
 * have.  The result is memory to be freed.
 */
const unsigned char *
bf_text_as_utf16(const unsigned char *text, size_t *length, bool marked)
{
	const unsigned char *end = text + *length;
	size_t		piece = Min(*length, BF_PIECE);
	unsigned char *utf8 = is_utf8(text, *length) ? NULL :
		palloc(piece * MAX_CONVERSION_GROWTH + 1);
	Output		output = {NULL};

	(void) reserve_output(&output, piece * 2 + 4);
	if (marked && *length > 0)
		output.length = put_unit(output.bytes, 0xfeff, true) - output.bytes;
	while (text < end)
	{
		const unsigned char *stop = text + Min(end - text, BF_PIECE);

		if (utf8 == NULL)
			text = append_utf16(&output, text, stop, end, marked);
		else
		{
			text += convert_piece(text, stop - text, utf8);
			stop = utf8 + strlen((char *) utf8);
			(void) append_utf16(&output, utf8, stop, stop, marked);
		}
	}
	if (utf8 != NULL)
		pfree(utf8);
	*length = output.length;
	return output.bytes;
}
