/*
 * guava.c
 *	  Guava's streams and unions against every row of readfrom.tsv and
 *	  union.tsv, and its streams against hostile bytes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/strategy.h"
#include "vectors.h"

/* ---- Streams ----------------------------------------------------------- */

/*
 * readfrom.tsv: what Guava reads whole is read and written back; bytes left
 * over are refused here, and so is all that Guava refuses.
 */
static void
test_streams(const char *path)
{
	Table		table = read_table(path);
	size_t		accepted = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *id = cell(&table, i, "case_id");
		size_t		length;
		uint8_t    *hex = from_hex(cell(&table, i, "input_hex"), &length);
		uint8_t    *bytes = copy_bytes(hex, length);
		bool		want = cell_is(&table, i, "result", "ok") &&
			cell_u64(&table, i, "unread_bytes") == 0;
		BfFilter	filter;
		uint8_t    *value = import_stream(bf_guava.stream, bytes, length,
										  &filter);

		CHECK((value != NULL) == want, "%s: case %s: %s", path, id,
			  want ? "refused" : "accepted");
		if (value != NULL && want)
		{
			uint8_t    *back = stream_bytes(&filter, &length);

			CHECK(filter.plan.first.bits == cell_u64(&table, i, "bit_size") &&
				  filter.plan.first.hashes == cell_u64(&table, i, "k"),
				  "%s: case %s: shape", path, id);
			CHECK(count_bits(&filter) == cell_u64(&table, i, "bit_count"),
				  "%s: case %s: bits set", path, id);
			check_estimates(&table, i, "expected_fpp", "approx_count",
							&filter);
			CHECK(same_hex(back, length, cell(&table, i, "rewrite_hex")),
				  "%s: case %s: stream differs", path, id);
			free(back);
			accepted++;
		}
		free(value);
		free(bytes);
		free(hex);
	}
	CHECK(accepted > 3, "%s: only %zu streams accepted", path, accepted);
	free_table(&table);
}

static const uint8_t small_stream[] = {
	0x01, 0x05, 0x00, 0x00, 0x00, 0x02, 0x02, 0x28, 0x53, 0x40, 0xb2, 0xc5,
	0x20, 0x32, 0x01, 0x76, 0x9a, 0x2a, 0x2e, 0x82, 0x86, 0x26
};

/* What is accepted must be written as it was read. */
static void
check_changed(size_t at, uint8_t to)
{
	size_t		length = sizeof(small_stream);
	uint8_t    *bytes = copy_bytes(small_stream, length);
	bool		want = at >= 6 || (at == 0 ? to <= 1 :
								   at == 1 ? to != 0 : to == small_stream[at]);
	BfFilter	filter;
	uint8_t    *value;

	bytes[at] = to;
	value = import_stream(bf_guava.stream, bytes, length, &filter);
	CHECK((value != NULL) == want, "stream with byte %zu = %d is %s", at, to,
		  want ? "refused" : "accepted");
	if (value != NULL)
	{
		size_t		written;
		uint8_t    *back = stream_bytes(&filter, &written);

		CHECK(written == length && memcmp(back, bytes, length) == 0,
			  "stream with byte %zu = %d is written otherwise", at, to);
		free(back);
	}
	free(value);
	free(bytes);
}

/* Every truncation and every change of one byte of a stream. */
static void
test_stream_mutations(void)
{
	for (size_t cut = 0; cut < sizeof(small_stream); cut++)
	{
		uint8_t    *bytes = copy_bytes(small_stream, cut);
		BfFilter	filter;
		uint8_t    *value = import_stream(bf_guava.stream, bytes, cut,
										  &filter);

		CHECK(value == NULL, "stream of %zu bytes is accepted", cut);
		free(value);
		free(bytes);
	}
	for (size_t at = 0; at < sizeof(small_stream); at++)
	{
		for (int to = 0; to < 256; to++)
			check_changed(at, (uint8_t) to);
	}
}

/* ---- Unions ------------------------------------------------------------ */

/* One of a row's two filters, by its rule; its stream is in a column. */
static uint8_t *
make_side(const BfStrategy *strategy, const Table *table, size_t row,
		  int side, BfFilter *filter)
{
	char		n[4] = "n1",
				p[4] = "p1",
				rule[8] = "rule1",
				count[8] = "cnt1",
				hex[16] = "filter1_hex";
	BfLayer		shape;
	BfError		error;
	uint8_t    *value;
	uint8_t    *stream;
	size_t		length;

	n[1] = p[1] = rule[4] = count[3] = hex[6] = (char) ('0' + side);
	if (!bf_strategy_size(strategy, cell_i64(table, row, n),
						  cell_double(table, row, p), &shape, &error))
		die("%s: size: %s", table->path, error.message);
	value = make_value(strategy, shape.bits, shape.hashes, filter);
	run_rule(filter, 0, "text", cell(table, row, rule),
			 cell_u64(table, row, count), true);
	stream = stream_bytes(filter, &length);
	CHECK(same_hex(stream, length, cell(table, row, hex)),
		  "%s: case %s: side %d differs", table->path,
		  cell(table, row, "case_id"), side);
	free(stream);
	return value;
}

/* union.tsv: putAll of equal shapes; of others, Guava throws. */
static void
test_unions(const BfStrategy *strategy, const char *path)
{
	Table		table = read_table(path);
	size_t		united = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *id = cell(&table, i, "case_id");
		BfFilter	a,
					b;
		uint8_t    *a_value = make_side(strategy, &table, i, 1, &a);
		uint8_t    *b_value = make_side(strategy, &table, i, 2, &b);
		bool		same_shape = a.plan.first.bits == b.plan.first.bits &&
			a.plan.first.hashes == b.plan.first.hashes;

		CHECK(same_shape == cell_is(&table, i, "result", "ok"),
			  "%s: case %s: shapes", path, id);
		if (same_shape)
		{
			size_t		length;
			uint8_t    *stream;

			bf_bits_or(a_value + a.plan.first.offset, b_value + b.plan.first.offset,
					   a.plan.first.bytes);
			stream = stream_bytes(&a, &length);
			CHECK(same_hex(stream, length, cell(&table, i, "union_hex")),
				  "%s: case %s: union differs", path, id);
			CHECK(count_bits(&a) == cell_u64(&table, i, "union_bit_count"),
				  "%s: case %s: bits set", path, id);
			check_estimates(&table, i, "union_expected_fpp",
							"union_approx_count", &a);
			free(stream);
			united++;
		}
		free(a_value);
		free(b_value);
	}
	CHECK(united > 0, "%s: no unions", path);
	free_table(&table);
}

void
test_guava(void)
{
	CHECK(bf_stream_by_name("guava") == bf_guava.stream &&
		  bf_guava.stream == bf_guava32.stream, "no stream named guava");
	test_streams("guava64/readfrom.tsv");
	test_streams("guava32/readfrom.tsv");
	test_stream_mutations();
	test_unions(&bf_guava, "guava64/union.tsv");
	test_unions(&bf_guava32, "guava32/union.tsv");
}
