/*
 * bitsandblooms.c
 *	  Streams and unions of Go's bits-and-blooms/bloom against every row of
 *	  union.tsv, and its streams against hostile bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

/* union.tsv: Merge of what has one shape. */
static void
test_unions(void)
{
	Table		table = read_table("bitsandblooms/union.tsv");
	size_t		united = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		static const char *const columns[] = {"filter1_hex", "filter2_hex"};
		const char *id = cell(&table, i, "case_id");
		BfFilter	filters[2];
		uint8_t    *values[2];
		bool		same_shape;

		for (int side = 0; side < 2; side++)
		{
			size_t		length;
			uint8_t    *bytes = from_hex(cell(&table, i, columns[side]), &length);

			values[side] = import_stream(bf_bitsandblooms.stream, bytes, length,
										 &filters[side]);
			if (values[side] == NULL)
				die("%s: case %s: %s", table.path, id, columns[side]);
			free(bytes);
		}
		same_shape = filters[0].plan.first.bits == filters[1].plan.first.bits &&
			filters[0].plan.first.hashes == filters[1].plan.first.hashes;
		CHECK(same_shape == cell_is(&table, i, "merge", "ok"),
			  "%s: case %s: shapes", table.path, id);
		if (same_shape)
		{
			const BfLayer *layer = &filters[0].plan.first;
			size_t		length;
			uint8_t    *stream;

			bf_bits_or(values[0] + layer->offset, values[1] + layer->offset,
					   layer->bytes);
			stream = stream_bytes(&filters[0], &length);
			CHECK(same_hex(stream, length, cell(&table, i, "union_hex")),
				  "%s: case %s: union differs", table.path, id);
			free(stream);
			united++;
		}
		free(values[0]);
		free(values[1]);
	}
	CHECK(united > 0, "%s: no unions", table.path);
	free_table(&table);
}

/* WriteTo of 73 bits: m, k, m, two words. */
static const uint8_t small_stream[] = {
	0, 0, 0, 0, 0, 0, 0, 0x49, 0, 0, 0, 0, 0, 0, 0, 0x06,
	0, 0, 0, 0, 0, 0, 0, 0x49, 0xc9, 0xb1, 0x3e, 0x7e, 0x9d, 0x99, 0x51, 0xc8,
	0, 0, 0, 0, 0, 0, 0, 0x35
};

/* A changed byte: k may be any, bits may be where there are some. */
static bool
may_be(size_t at, uint8_t to)
{
	if (at == 15)
		return to != 0;
	if (at >= 24 && at < 32)
		return true;
	if (at == 38)
		return to <= 1;
	return at == 39 || to == small_stream[at];
}

/* Every truncation of a stream, every change of one byte, and one more. */
static void
test_stream_mutations(void)
{
	size_t		length = sizeof(small_stream);
	BfFilter	filter;

	for (size_t cut = 0; cut <= length + 1; cut++)
	{
		uint8_t    *bytes = allocate(length + 1);
		uint8_t    *exact;
		uint8_t    *value;

		memcpy(bytes, small_stream, length);
		exact = copy_bytes(bytes, cut);
		value = import_stream(bf_bitsandblooms.stream, exact, cut, &filter);
		CHECK((value != NULL) == (cut == length), "stream of %zu bytes", cut);
		free(value);
		free(exact);
		free(bytes);
	}
	for (size_t at = 0; at < length; at++)
	{
		for (int to = 0; to < 256; to++)
		{
			uint8_t    *bytes = copy_bytes(small_stream, length);
			uint8_t    *value;

			bytes[at] = (uint8_t) to;
			value = import_stream(bf_bitsandblooms.stream, bytes, length, &filter);
			CHECK((value != NULL) == may_be(at, (uint8_t) to),
				  "stream with byte %zu = %d is %s", at, to,
				  value != NULL ? "accepted" : "refused");
			free(value);
			free(bytes);
		}
	}
}

void
test_bitsandblooms(void)
{
	CHECK(bf_stream_by_name("bitsandblooms") == bf_bitsandblooms.stream,
		  "no stream named bitsandblooms");
	test_unions();
	test_stream_mutations();
}
