/*
 * text.c
 *	  Fuzz the type's input function: text in both notations, long ones too, that
 *	  are decoded in pieces; and its output, which is read back.
 *
 * An input is a byte, two for a place, and the text.  From LONG on the byte says
 * how much longer the text is made, by repeating the character before the place.
 */
#include "fuzz.h"

#include <strings.h>

#include "server.h"

#include "common/base64.h"

#define LONG		0xf0
#define LONG_UNIT	((size_t) 256 * 1024)

/* Values up to this length are worth more than being read and written. */
#define SHORT_VALUE	65536

extern Datum bloomext_in(PG_FUNCTION_ARGS);
extern Datum bloomext_out(PG_FUNCTION_ARGS);

/* The text of an input, of exactly its length. */
static char *
make_text(Input *input)
{
	uint64_t	repeat = take(input, 1);
	size_t		place = take(input, 2);
	size_t		added = repeat > LONG ? (repeat - LONG) * LONG_UNIT : 0;
	char	   *text = (char *) allocate(input->left + added + 1);

	if (place > input->left)
		place = input->left;
	memcpy(text, input->at, place);
	memset(text + place, place > 0 ? text[place - 1] : '0', added);
	memcpy(text + place + added, input->at + place, input->left - place);
	return text;
}

/* Whether text says so many bytes; of its last group, not all bits count. */
static bool
is_base64_of(const char *text, const char *bytes, int length)
{
	int			size = pg_b64_enc_len(length);
	char	   *encoded = palloc(size);
	int			written = pg_b64_encode((const void *) bytes, length, encoded, size);

	return written == (int) strlen(text) && strncmp(encoded, text, written - 4) == 0;
}

/* A value that was read is what the text says; it is written, and read again. */
static void
read_text(void *arg)
{
	char	   *text = arg;
	Datum		datum = CStringGetDatum(text);
	struct varlena *value = (struct varlena *) call(bloomext_in, 1, &datum);
	struct varlena *again;

	datum = call(bloomext_out, 1, (Datum *) &value);
	if (strncmp(text, "\\x", 2) == 0)
		REQUIRE(strcasecmp(text, DatumGetCString(datum)) == 0);
	else
		REQUIRE(is_base64_of(text + strlen("base64:"), VARDATA(value),
							 VARSIZE(value) - VARHDRSZ));
	again = (struct varlena *) call(bloomext_in, 1, &datum);
	REQUIRE(VARSIZE(value) == VARSIZE(again) &&
			memcmp(value, again, VARSIZE(value)) == 0);
	if (VARSIZE(value) <= SHORT_VALUE)
		exercise((uint8_t *) VARDATA(value), VARSIZE(value) - VARHDRSZ);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};
	char	   *text = make_text(&input);
	int			sqlstate = run(read_text, text);

	REQUIRE(sqlstate == 0 || sqlstate == ERRCODE_INVALID_TEXT_REPRESENTATION ||
			sqlstate == ERRCODE_OUT_OF_MEMORY);
	free(text);
	return 0;
}
