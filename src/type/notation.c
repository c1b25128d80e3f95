/*
 * notation.c
 *	  Text representation of a value's bytes.
 *
 * Like bytea, a value is written as \x and hexadecimal digits, which are
 * twice as long.  The text of a whole row must stay below 1 GB, so larger
 * values are written in base64, which is four thirds as long, with a prefix.
 * Input accepts both, whatever the length.  When a value is made that is too
 * large even for base64, a notice says that it cannot be written as text, so
 * that nobody learns this from the first dump.
 *
 * Text is converted in pieces, so that this can be interrupted, and directly
 * into the result.
 */
#include "postgres.h"

#include "common/base64.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "type/value.h"

/* Maximum length: 1 GB less some room for the rest of a row. */
#define MAX_TEXT	(MaxAllocSize - (Size) 1024 * 1024)

/* Bytes that are converted together: whole groups of each notation. */
#define PIECE		(BF_PIECE / 4 * 3)

/*
 * A way to write bytes: after a prefix, each group of `bytes` bytes as
 * `characters` characters.  Decoding returns the number of bytes, or -1 if the
 * text is invalid.
 */
typedef struct Notation
{
	const char *prefix;
	int			bytes;
	int			characters;
	void		(*encode) (const char *bytes, int length, char *text);
	int			(*decode) (const char *text, int length, char *bytes);
} Notation;

/* hex_encode(), without its result. */
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

/*
 * pg_b64_encode() takes char * for bytes in some versions, uint8 * in others.
 */
static void
encode_base64(const char *bytes, int length, char *text)
{
	if (pg_b64_encode((const void *) bytes, length, text,
					  pg_b64_enc_len(length)) < 0)
		elog(ERROR, "could not encode a bloom filter in base64");
}

/* Like pg_b64_decode(), but accepts only what encode_base64() writes. */
static int
decode_base64(const char *text, int length, char *bytes)
{
	int			padding = (text[length - 1] == '=') + (text[length - 2] == '=');
	int			wanted = length / 4 * 3 - padding;

	/* pg_b64_decode() would also accept padding in the middle. */
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

/* The length of some bytes in a notation. */
static uint64
text_length(const Notation *notation, uint64 bytes)
{
	return strlen(notation->prefix) +
		(bytes + notation->bytes - 1) / notation->bytes * notation->characters;
}

/* The first notation in which `bytes` bytes fit, or NULL. */
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

/* Report, as an error or a notice, that a value is too large for text. */
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

/* Bytes as text, in the current memory context; 54000 if there are too many. */
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

/* Decode a text without its prefix into a varlena; NULL if it is invalid. */
static struct varlena *
decode_notation(const Notation *notation, const char *text, Size length)
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
		/* Only the last piece may be incomplete. */
		if (decoded < 0 || (decoded < PIECE && length - done > piece))
			return NULL;
		bytes += decoded;
	}
	SET_VARSIZE(value, bytes + VARHDRSZ);
	return value;
}

/* Decode a text into a varlena; NULL if it is invalid. */
struct varlena *
bf_value_read_text(const char *text)
{
	for (int i = 0; i < lengthof(notations); i++)
	{
		Size		prefix = strlen(notations[i].prefix);

		if (strncmp(text, notations[i].prefix, prefix) == 0)
			return decode_notation(&notations[i], text + prefix,
								   strlen(text + prefix));
	}
	return NULL;
}
