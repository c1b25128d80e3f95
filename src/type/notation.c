/*
 * notation.c
 *	  How the bytes of a value are written as text.
 *
 * As \x and hexadecimal digits, as bytea's are: twice the value.  The text of a
 * whole row must stay below 1 GB, so larger values are written in base64, four
 * thirds of the value, with a prefix that says so.  Either is read whatever its
 * size.  A value too large for both has no text: whoever makes one is told so at
 * once, not by the first dump.
 *
 * Conversions go in pieces, so that they can be interrupted, and straight to
 * where the result is to be.
 */
#include "postgres.h"

#include "common/base64.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "type/value.h"

/* The longest text: 1 GB less what a row may have besides. */
#define MAX_TEXT	(MaxAllocSize - (Size) 1024 * 1024)

/* How many bytes are converted at once: whole groups of any notation. */
#define PIECE		(BF_PIECE / 4 * 3)

/*
 * A way to write bytes: after a prefix, each group of so many bytes as so many
 * characters.  Decoding gives the number of bytes, or -1 where they are none.
 */
typedef struct Notation
{
	const char *prefix;
	int			bytes;
	int			characters;
	void		(*encode) (const char *bytes, int length, char *text);
	int			(*decode) (const char *text, int length, char *bytes);
} Notation;

/* hex_encode(), which also says how much it wrote. */
static void
encode_hexadecimal(const char *bytes, int length, char *text)
{
	hex_encode(bytes, length, text);
}

/* hex_decode() would raise another SQLSTATE, and skip white space. */
static int
decode_hexadecimal(const char *text, int length, char *bytes)
{
	for (int i = 0; i < length; i++)
	{
		char		c = text[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
			  (c >= 'A' && c <= 'F')))
			return -1;
	}
	return (int) hex_decode(text, length, bytes);
}

/* The bytes are char * to some versions of these two, uint8 * to others. */
static void
encode_base64(const char *bytes, int length, char *text)
{
	if (pg_b64_encode((const void *) bytes, length, text,
					  pg_b64_enc_len(length)) < 0)
		elog(ERROR, "could not encode a bloom filter in base64");
}

/* -1 where the text is not what encode_base64() writes. */
static int
decode_base64(const char *text, int length, char *bytes)
{
	int			padding = (text[length - 1] == '=') + (text[length - 2] == '=');
	int			wanted = length / 4 * 3 - padding;

	/* It would also take padding, and characters after it, in the middle. */
	if (memchr(text, '=', length - padding) != NULL)
		return -1;
	return pg_b64_decode(text, length, (void *) bytes,
						 length / 4 * 3) == wanted ? wanted : -1;
}

/* In order of preference. */
static const Notation notations[] = {
	{"\\x", 1, 2, encode_hexadecimal, decode_hexadecimal},
	{"base64:", 3, 4, encode_base64, decode_base64}
};

/* How long some bytes are in a notation. */
static uint64
text_length(const Notation *notation, uint64 bytes)
{
	return strlen(notation->prefix) +
		(bytes + notation->bytes - 1) / notation->bytes * notation->characters;
}

/* The first notation in which so many bytes fit, or NULL. */
static const Notation *
fitting_notation(uint64 bytes)
{
	for (int i = 0; i < lengthof(notations); i++)
	{
		if (text_length(&notations[i], bytes) <= MAX_TEXT)
			return &notations[i];
	}
	return NULL;
}

/* Whether a value of a length can be written as text. */
bool
bf_value_has_text(uint64 length)
{
	return fitting_notation(length) != NULL;
}

/* Say, as an error or a notice, that a value is too large for text. */
void
bf_value_lacks_text(int level, uint64 length)
{
	ereport(level,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("bloom filter of %llu bytes is too large to be written as text",
					(unsigned long long) length),
			 errdetail("pg_dump and COPY in text format support values of up to %d MB.",
					   (int) (MAX_TEXT / 4 * 3 / (1024 * 1024))),
			 errhint("Copy it with FORMAT binary, divide its elements among several filters, or use a live filter, which is rebuilt when a dump is restored.")));
}

/* Bytes as text, in the current memory context; 54000 where they have none. */
char *
bf_value_write_text(const char *bytes, Size length)
{
	const Notation *notation = fitting_notation(length);
	char	   *output;
	char	   *text;

	if (notation == NULL)
	{
		bf_value_lacks_text(ERROR, length);
		pg_unreachable();
	}
	output = palloc(text_length(notation, length) + 1);
	text = output + strlen(notation->prefix);
	memcpy(output, notation->prefix, strlen(notation->prefix));
	for (Size done = 0; done < length; done += PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		notation->encode(bytes + done, Min(PIECE, length - done),
						 text + done / notation->bytes * notation->characters);
	}
	output[text_length(notation, length)] = '\0';
	return output;
}

/* Bytes that were written in a notation, as a varlena; NULL where none were. */
static struct varlena *
decode(const Notation *notation, const char *text, Size length)
{
	Size		piece = PIECE / notation->bytes * notation->characters;
	Size		bytes = 0;
	struct varlena *value;

	if (length % notation->characters != 0)
		return NULL;
	value = palloc(length / notation->characters * notation->bytes + VARHDRSZ);
	for (Size done = 0; done < length; done += piece)
	{
		int			decoded;

		CHECK_FOR_INTERRUPTS();
		decoded = notation->decode(text + done, Min(piece, length - done),
								   VARDATA(value) + bytes);
		/* Less than a whole piece comes only at the end. */
		if (decoded < 0 || (decoded < PIECE && length - done > piece))
			return NULL;
		bytes += decoded;
	}
	SET_VARSIZE(value, bytes + VARHDRSZ);
	return value;
}

/* The bytes that a text says, as a varlena; NULL where it is in no notation. */
struct varlena *
bf_value_read_text(const char *text)
{
	for (int i = 0; i < lengthof(notations); i++)
	{
		Size		prefix = strlen(notations[i].prefix);

		if (strncmp(text, notations[i].prefix, prefix) == 0)
			return decode(&notations[i], text + prefix, strlen(text + prefix));
	}
	return NULL;
}
