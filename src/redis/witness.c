/*
 * witness.c
 *	  Bits that a string in Redis had, which distinguish the string of a filter
 *	  from a later one at its key.
 *
 * A string has no identity.  It may be evicted and created again by a SETBIT
 * of a service, be replaced by an unrelated string, be renamed or be cut
 * short, and still match the description of the filter.  A lookup in it would
 * then return a false "no".  But bits of a filter are only ever set.  So the
 * Redis hash that describes the filter has a witness: the string's length,
 * and some of the bits that were set when the witness was written.  When a
 * filter is described, all of these bits are checked.  A lookup, an addition
 * or a fetch checks four words of them, at the moment of the operation.  A
 * string that has lost one of these bits is not the filter's.
 *
 * A mirror is written together with a witness, made of words with many bits
 * from all over the string, including the last word that is not zero.  A
 * filter without a witness gets one with the first elements that are added,
 * made of the words that contain their bits.  If a witness is rewritten,
 * every other session takes this for a change of the filter and describes the
 * filter again.  So a witness is rewritten rarely: only while it has few
 * bits, only with some of the additions, and only if the new one has at least
 * twice as many bits.  The witness of a layer that grows is rewritten once
 * more when the layer is full.
 *
 * As text, the witnesses of a filter's strings are separated by semicolons.
 * Each is the length, then " WORD:BITS" for each word, both in decimal;
 * BITFIELD GET u32 #WORD reads that word.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "redis/witness.h"

/*
 * Where in a layer to look for words, in eighths of it, starting with those
 * that are checked in each lookup.  The last word is searched from the end.
 */
#define FROM_END	8
static const int eighths[BF_WITNESS_WORDS] = {FROM_END, 0, 3, 6, 1, 2, 4, 5};

/* The fullest of this number of stored words, after the first, is chosen. */
#define CHOICE		64

/* Add a bit, by its offset for GETBIT, if there is room. */
void
bf_witness_add(BfWitness *witness, uint64 bit)
{
	uint64		word = bit / 32;
	int			i = 0;

	while (i < witness->words && witness->word[i] != word)
		i++;
	if (i == BF_WITNESS_WORDS)
		return;
	if (i == witness->words)
	{
		witness->word[i] = word;
		witness->bits[i] = 0;
		witness->words++;
	}
	witness->bits[i] |= UINT32_C(1) << (31 - bit % 32);
}

/* Whether a stored word has any bit. */
static bool
has_bits(const uint8 *bits, uint64 word)
{
	uint64		value;

	memcpy(&value, bits + word * 8, 8);
	return value != 0;
}

/* Set `fullest` to a word of the string that a stored word fills more. */
static void
choose_fuller(BfWitness *fullest, const BfLayout *layout, const uint8 *bits,
			  uint64 word)
{
	BfWitness	found = {0};

	for (uint64 i = word * 64; i < (word + 1) * 64; i++)
	{
		uint64		at = i;

		if (!bf_bit_get(bits, i))
			continue;
		bf_layout_offsets(layout, &at, 1);
		bf_witness_add(&found, at);
	}
	for (int i = 0; i < found.words; i++)
	{
		if (pg_popcount32(found.bits[i]) <= pg_popcount32(fullest->bits[0]))
			continue;
		fullest->word[0] = found.word[i];
		fullest->bits[0] = found.bits[i];
	}
}

/* Add the fullest word of the string, searching stored ones up to the last. */
static void
add_fullest(BfWitness *witness, const BfLayout *layout, const uint8 *bits,
			uint64 word, uint64 last)
{
	BfWitness	fullest = {0};

	while (!has_bits(bits, word))
		word++;
	for (uint64 i = word; i <= Min(word + CHOICE, last); i++)
		choose_fuller(&fullest, layout, bits, i);
	for (uint32 bit = 0; bit < 32; bit++)
	{
		if (fullest.bits[0] & (UINT32_C(1) << (31 - bit)))
			bf_witness_add(witness, fullest.word[0] * 32 + bit);
	}
}

/* Make the witness of a layer from its bits, in their stored order. */
BfWitness
bf_witness_of_layer(const BfLayout *layout, const BfLayer *layer,
					const uint8 *bits)
{
	BfWitness	witness = {.length = bf_layout_used_bytes(layout, layer, bits)};
	uint64		words = layer->bytes / 8;
	uint64		last = words;

	while (last > 0 && !has_bits(bits, last - 1))
		last--;
	for (int i = 0; i < BF_WITNESS_WORDS && last > 0; i++)
	{
		uint64		word = eighths[i] == FROM_END ? last - 1 :
			Min(words / 8 * eighths[i], last - 1);

		add_fullest(&witness, layout, bits, word, last - 1);
	}
	return witness;
}

/* Number of bits in at most the given number of words. */
int
bf_witness_count(const BfWitness *witness, int words)
{
	int			bits = 0;

	for (int i = 0; i < Min(witness->words, words); i++)
		bits += pg_popcount32(witness->bits[i]);
	return bits;
}

/*
 * Whether the words that are checked in each lookup have enough bits for
 * another string, half of whose bits are set, not to have them by chance.
 */
bool
bf_witness_is_strong(const BfWitness *witness)
{
	return bf_witness_count(witness, BF_WITNESS_ASKED) >= BF_WITNESS_STRONG;
}

/* Whether a string has all bits of a witness. */
bool
bf_witness_is_in(const BfWitness *witness, const uint8 *bytes, size_t length)
{
	for (int i = 0; i < witness->words; i++)
	{
		for (int j = 0; j < 4; j++)
		{
			uint64		at = witness->word[i] * 4 + j;
			uint8		bits = (uint8) (witness->bits[i] >> (24 - 8 * j));

			if (((at < length ? bytes[at] : 0) & bits) != bits)
				return false;
		}
	}
	return true;
}

/* Append a witness as text, after those of previous strings. */
void
bf_witness_append(StringInfo text, const BfWitness *witness)
{
	appendStringInfo(text, "%s" UINT64_FORMAT, text->len > 0 ? ";" : "",
					 witness->length);
	for (int i = 0; i < witness->words; i++)
		appendStringInfo(text, " " UINT64_FORMAT ":%u", witness->word[i],
						 witness->bits[i]);
}

/* Read a decimal, up to the character that ends it. */
static bool
read_decimal(const char **text, const char *ends, uint64 most, uint64 *number)
{
	size_t		length = strspn(*text, "0123456789");
	const char *end = *text + length;

	if (!bf_read_number(pnstrdup(*text, length), 0, most, number) ||
		strchr(ends, *end) == NULL)
		return false;
	*text = end;
	return true;
}

/* Read the words of one string; false if the text is not a witness. */
static bool
read_words(const char **text, BfWitness *witness)
{
	if (!read_decimal(text, " ;", BF_REDIS_MAX_BYTES, &witness->length))
		return false;
	for (witness->words = 0; **text == ' '; witness->words++)
	{
		uint64		bits;

		++*text;
		if (witness->words == BF_WITNESS_WORDS ||
			!read_decimal(text, ":", BF_REDIS_MAX_BYTES / 4 - 1,
						  &witness->word[witness->words]) ||
			**text != ':')
			return false;
		++*text;
		if (!read_decimal(text, " ;", PG_UINT32_MAX, &bits))
			return false;
		witness->bits[witness->words] = (uint32) bits;
	}
	return true;
}

/* Read up to `count` witnesses from text; returns how many, or -1. */
int
bf_witness_read(const char *text, BfWitness *witness, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (!read_words(&text, &witness[i]))
			return -1;
		if (*text == '\0')
			return i + 1;
		text++;
	}
	return count;
}
