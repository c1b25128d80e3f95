/*
 * unit.c
 *	  Tests of core/ and strategy/ without a server.
 *
 * Usage: unit VECTORS_DIR, where guava64/ and guava32/ lie.  The expectations
 * come from those files, which were made by running the originals, and from
 * naive re-computations here; never from the code under test.
 *
 * Bytes handed to the code under test always lie in a malloc of exactly their
 * length, so that a build with AddressSanitizer sees every byte read too far.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "core/bytes.h"
#include "core/error.h"
#include "core/estimate.h"
#include "core/format.h"
#include "core/murmur3.h"
#include "strategy/filter.h"
#include "strategy/strategy.h"

#define MAX_COLUMNS		20
#define MAX_SHOWN		20

static uint64_t passed = 0;
static uint64_t failed = 0;

/* Count one check; show the first failures only. */
__attribute__((format(printf, 3, 4)))
static void
check_at(int line, bool ok, const char *format,...)
{
	va_list		args;

	if (ok)
	{
		passed++;
		return;
	}
	if (failed++ >= MAX_SHOWN)
		return;
	printf("unit.c:%d: ", line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

#define CHECK(ok, ...) check_at(__LINE__, (ok), __VA_ARGS__)

__attribute__((noreturn, format(printf, 1, 2)))
static void
die(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

static void *
allocate(size_t size)
{
	void	   *result = malloc(size > 0 ? size : 1);

	if (result == NULL)
		die("out of memory");
	return result;
}

/* A copy that ends where its malloc ends. */
static uint8_t *
copy_bytes(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = malloc(length);

	if (copy == NULL && length > 0)
		die("out of memory");
	if (length > 0)
		memcpy(copy, bytes, length);
	return copy;
}

/* A small generator with a fixed seed: the same tests every time. */
static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t
next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* ---- Vector files ------------------------------------------------------ */

typedef struct Table
{
	char	   *text;
	char	  **cells;
	size_t		rows;
	size_t		columns;
	char	   *names[MAX_COLUMNS];
} Table;

static char *
read_file(const char *path)
{
	FILE	   *file = fopen(path, "rb");
	char	   *text;
	long		size;

	if (file == NULL)
		die("cannot open %s", path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = allocate(size + 1);
	if (fread(text, 1, size, file) != (size_t) size)
		die("cannot read %s", path);
	text[size] = '\0';
	fclose(file);
	return text;
}

/* Cut one line into cells; returns the start of the next line. */
static char *
cut_line(char *line, char **cells, size_t *count)
{
	char	   *end = strchr(line, '\n');

	if (end == NULL)
		end = line + strlen(line);
	else
		*end++ = '\0';
	for (*count = 0;;)
	{
		char	   *tab = strchr(line, '\t');

		if (*count == MAX_COLUMNS)
			die("too many columns");
		cells[(*count)++] = line;
		if (tab == NULL)
			return end;
		*tab = '\0';
		line = tab + 1;
	}
}

static Table
read_table(const char *dir, const char *strategy_dir, const char *name)
{
	char		path[4096];
	char	   *next;
	Table		table;
	size_t		lines = 0;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, strategy_dir, name);
	table.text = read_file(path);
	for (const char *c = table.text; *c; c++)
		lines += *c == '\n';
	next = cut_line(table.text, table.names, &table.columns);
	table.cells = allocate((lines + 1) * table.columns * sizeof(char *));
	table.rows = 0;
	while (*next)
	{
		char	   *cells[MAX_COLUMNS];
		size_t		count;

		next = cut_line(next, cells, &count);
		if (count != table.columns)
			die("%s: row %zu has %zu columns", path, table.rows + 1, count);
		memcpy(table.cells + table.rows * table.columns, cells,
			   count * sizeof(char *));
		table.rows++;
	}
	CHECK(table.rows > 0, "%s has no rows", path);
	return table;
}

static const char *
cell(const Table *table, size_t row, const char *name)
{
	for (size_t i = 0; i < table->columns; i++)
	{
		if (strcmp(table->names[i], name) == 0)
			return table->cells[row * table->columns + i];
	}
	die("no column %s", name);
}

static uint64_t
cell_u64(const Table *table, size_t row, const char *name)
{
	return strtoull(cell(table, row, name), NULL, 10);
}

static void
free_table(Table *table)
{
	free(table->text);
	free(table->cells);
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	die("'%c' is no hex digit", c);
}

static uint8_t *
from_hex(const char *hex, size_t *length)
{
	uint8_t    *bytes;

	*length = strlen(hex) / 2;
	bytes = allocate(*length);
	for (size_t i = 0; i < *length; i++)
		bytes[i] = hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]);
	return bytes;
}

/* The value column's "rep:COUNT:HEX", or plain hex. */
static uint8_t *
from_element_hex(const char *value, size_t *length)
{
	uint8_t    *unit;
	uint8_t    *bytes;
	size_t		unit_length;
	unsigned long count;
	char	   *colon;

	if (strncmp(value, "rep:", 4) != 0)
		return from_hex(value, length);
	count = strtoul(value + 4, &colon, 10);
	unit = from_hex(colon + 1, &unit_length);
	*length = count * unit_length;
	bytes = allocate(*length);
	for (unsigned long i = 0; i < count; i++)
		memcpy(bytes + i * unit_length, unit, unit_length);
	free(unit);
	return bytes;
}

/* Naive UTF-8 to UTF-16LE: the vectors' strings are well-formed. */
static uint8_t *
to_utf16(const uint8_t *utf8, size_t length, size_t *result_length)
{
	uint8_t    *result = allocate(length * 2);
	size_t		n = 0;

	for (size_t i = 0; i < length;)
	{
		uint8_t		lead = utf8[i];
		int			more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
		uint32_t	c = more == 0 ? lead : lead & (0x3f >> more);

		for (int j = 1; j <= more; j++)
			c = c << 6 | (utf8[i + j] & 0x3f);
		i += more + 1;
		if (c >= 0x10000)
		{
			uint32_t	high = 0xd800 + ((c - 0x10000) >> 10);

			result[n++] = high & 0xff;
			result[n++] = high >> 8;
			c = 0xdc00 + ((c - 0x10000) & 0x3ff);
		}
		result[n++] = c & 0xff;
		result[n++] = c >> 8;
	}
	*result_length = n;
	return result;
}

/* The bytes that a row's element is hashed as, in an exact malloc. */
static uint8_t *
element_bytes(const char *etype, const char *value, size_t *length)
{
	uint8_t    *bytes;
	uint8_t    *exact;

	if (etype[0] == 'i')
	{
		uint64_t	number = (uint64_t) strtoll(value, NULL, 10);

		*length = etype[3] - '0';
		bytes = allocate(*length);
		for (size_t i = 0; i < *length; i++)
			bytes[i] = (uint8_t) (number >> (8 * i));
		return bytes;
	}
	bytes = from_element_hex(value, length);
	if (strcmp(etype, "text16") == 0)
	{
		uint8_t    *utf16 = to_utf16(bytes, *length, length);

		free(bytes);
		bytes = utf16;
	}
	exact = copy_bytes(bytes, *length);
	free(bytes);
	return exact;
}

static void
hash_element(const BfStrategy *strategy, const char *etype, const char *value,
			 BfHash *hash)
{
	size_t		length;
	uint8_t    *bytes = element_bytes(etype, value, &length);

	strategy->hash(bytes, length, hash);
	free(bytes);
}

/* ---- Filters made here ------------------------------------------------- */

static bool
same_double(double got, double want)
{
	return fabs(got - want) <= 1e-14 * fabs(want);
}

/* Lay out an empty one-layer value. */
static uint8_t *
make_value(const BfStrategy *strategy, uint8_t funnel, const BfShape *shape,
		   uint64_t *length)
{
	BfHeader	header;
	BfLayer		layer;
	BfError		error;
	uint8_t    *value;

	memset(&header, 0, sizeof(header));
	memset(&layer, 0, sizeof(layer));
	header.layers = 1;
	header.strategy = strategy->id;
	header.funnel = funnel;
	header.cell_bits = BF_CELL_BIT;
	header.expected = layer.expected = 10;
	header.fpp = layer.fpp = 0.03;
	layer.bits = shape->bits;
	layer.hashes = shape->hashes;
	if (!bf_format_size(&header, &layer, length, &error))
		die("bf_format_size: %s", error.message);
	value = allocate(*length);
	memset(value, 0, *length);
	bf_format_encode(&header, &layer, value);
	return value;
}

static void
open_value(const uint8_t *value, uint64_t length, BfFilter *filter)
{
	BfError		error;

	if (!bf_filter_open(value, length, length, filter, &error))
		die("bf_filter_open: %s", error.message);
}

/* Compare a value's own stream with the bytes wanted. */
static void
check_stream(const BfFilter *filter, const char *hex, const char *what)
{
	const BfStream *stream = filter->strategy->stream;
	uint64_t	length = 0;
	size_t		want_length;
	uint8_t    *want = from_hex(hex, &want_length);
	BfError		error;
	uint8_t    *got;

	CHECK(stream->measure(filter, &length, &error), "%s: no stream", what);
	CHECK(length == want_length, "%s: stream of %" PRIu64 " bytes, not %zu",
		  what, length, want_length);
	if (length == want_length)
	{
		got = allocate(length);
		stream->write(filter, got);
		CHECK(memcmp(got, want, length) == 0, "%s: stream differs", what);
		free(got);
	}
	free(want);
}

/* ---- Strategies against the vectors ------------------------------------ */

/* hashing.tsv: the 16 bytes of murmur3, h1 first, little-endian. */
static void
test_hashing(const char *dir, const char *name)
{
	Table		table = read_table(dir, name, "hashing.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		size_t		length;
		uint8_t    *want = from_hex(cell(&table, i, "murmur3_128"), &length);
		uint8_t		got[16];
		uint64_t	h1,
					h2;
		uint8_t    *bytes = element_bytes(cell(&table, i, "etype"),
										  cell(&table, i, "value"), &length);

		bf_murmur3_x64_128(bytes, length, &h1, &h2);
		for (int j = 0; j < 8; j++)
		{
			got[j] = (uint8_t) (h1 >> (8 * j));
			got[8 + j] = (uint8_t) (h2 >> (8 * j));
		}
		CHECK(memcmp(got, want, 16) == 0, "%s: hash of element %s differs",
			  name, cell(&table, i, "elem_id"));
		free(bytes);
		free(want);
	}
	free_table(&table);
}

/* sizing.tsv: valid for both strategies; errors must be errors. */
static void
test_sizing(const char *dir, const BfStrategy *strategy)
{
	Table		table = read_table(dir, "guava64", "sizing.tsv");
	size_t		refused = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *n = cell(&table, i, "n");
		const char *p = cell(&table, i, "p");
		const char *status = cell(&table, i, "status");
		int64_t		expected = strtoll(n, NULL, 10);
		double		fpp = strtod(p, NULL);
		BfShape		shape = {0, 0};
		BfError		error;
		bool		ok = bf_strategy_size(strategy, expected, fpp, &shape, &error) &&
			strategy->accept(&shape, &error);

		if (strcmp(status, "ok") != 0)
		{
			bool		range = expected < 0 || !(fpp > 0 && fpp < 1);

			CHECK(!ok, "%s: n %s, p %s is accepted", strategy->name, n, p);
			CHECK(ok || error.code == (range ? BF_ERROR_PARAMETER : BF_ERROR_LIMIT),
				  "%s: n %s, p %s is the wrong kind of error", strategy->name, n, p);
			refused++;
			continue;
		}
		CHECK(ok, "%s: n %s, p %s is refused", strategy->name, n, p);
		CHECK(shape.bits == cell_u64(&table, i, "bit_size"),
			  "%s: n %s, p %s: %" PRIu64 " bits", strategy->name, n, p, shape.bits);
		CHECK(shape.hashes == cell_u64(&table, i, "k"),
			  "%s: n %s, p %s: k %u", strategy->name, n, p, shape.hashes);
	}
	CHECK(refused > 50, "only %zu error rows", refused);
	free_table(&table);
}

/* positions.tsv: all at once, and in two parts as two-stage probes ask. */
static void
test_positions(const char *dir, const char *name, const BfStrategy *strategy)
{
	Table		elements = read_table(dir, name, "hashing.tsv");
	Table		table = read_table(dir, name, "positions.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *id = cell(&table, i, "elem_id");
		uint64_t	bits = cell_u64(&table, i, "bit_size");
		uint32_t	k = cell_u64(&table, i, "k");
		const char *list = cell(&table, i, "positions");
		uint64_t   *whole = allocate(k * sizeof(uint64_t));
		uint64_t   *parts = allocate(k * sizeof(uint64_t));
		size_t		row = 0;
		BfHash		hash;
		uint32_t	wrong = 0;
		uint32_t	cut = k < 2 ? k : 2;

		while (strcmp(cell(&elements, row, "elem_id"), id) != 0)
		{
			if (++row == elements.rows)
				die("no element %s", id);
		}
		hash_element(strategy, cell(&elements, row, "etype"),
					 cell(&elements, row, "value"), &hash);
		strategy->positions(&hash, bits, 0, k, whole);
		strategy->positions(&hash, bits, 0, cut, parts);
		strategy->positions(&hash, bits, cut, k - cut, parts + cut);
		for (uint32_t j = 0; j < k; j++)
		{
			char	   *end;

			wrong += strtoull(list, &end, 10) != whole[j] || list == end;
			list = *end == ',' ? end + 1 : end;
		}
		CHECK(wrong == 0 && *list == '\0',
			  "%s: element %s, %" PRIu64 " bits, k %u: %u positions differ",
			  name, id, bits, k, wrong);
		CHECK(memcmp(whole, parts, k * sizeof(uint64_t)) == 0,
			  "%s: element %s, %" PRIu64 " bits, k %u: parts differ",
			  name, id, bits, k);
		free(whole);
		free(parts);
	}
	free_table(&table);
	free_table(&elements);
}

/* ---- Filters against the vectors --------------------------------------- */

/* Add a filter's elements in order; put_result says whether bits changed. */
static BfHash *
insert_elements(const Table *elements, const char *id, BfFilter *filter,
				size_t *count)
{
	BfHash	   *hashes = allocate(elements->rows * sizeof(BfHash));

	*count = 0;
	for (size_t i = 0; i < elements->rows; i++)
	{
		BfHash	   *hash = &hashes[*count];

		if (strcmp(cell(elements, i, "filter_id"), id) != 0)
			continue;
		hash_element(filter->strategy, cell(elements, i, "etype"),
					 cell(elements, i, "value"), hash);
		CHECK(bf_filter_contains(filter, hash) == !cell_u64(elements, i, "put_result"),
			  "filter %s: put_result of element %s", id, cell(elements, i, "seq"));
		bf_filter_add(filter, hash, 1);
		CHECK(bf_filter_contains(filter, hash),
			  "filter %s: element %s is lost", id, cell(elements, i, "seq"));
		(*count)++;
	}
	return hashes;
}

/* probes.tsv of one filter, one by one and in batches. */
static size_t
probe_filter(const Table *probes, const char *id, const BfFilter *filter)
{
	BfHash	   *hashes = allocate(probes->rows * sizeof(BfHash));
	bool	   *found = allocate(probes->rows * sizeof(bool));
	size_t	   *rows = allocate(probes->rows * sizeof(size_t));
	size_t		count = 0;

	for (size_t i = 0; i < probes->rows; i++)
	{
		if (strcmp(cell(probes, i, "filter_id"), id) != 0)
			continue;
		rows[count] = i;
		hash_element(filter->strategy, cell(probes, i, "etype"),
					 cell(probes, i, "value"), &hashes[count++]);
	}
	bf_filter_contains_batch(filter, hashes, count, found);
	for (size_t i = 0; i < count; i++)
	{
		bool		want = cell_u64(probes, rows[i], "might_contain") == 1;

		CHECK(found[i] == want, "filter %s: batch probe in row %zu", id, rows[i]);
		CHECK(bf_filter_contains(filter, &hashes[i]) == want,
			  "filter %s: probe in row %zu", id, rows[i]);
	}
	free(hashes);
	free(found);
	free(rows);
	return count;
}

static void
test_filters(const char *dir, const char *name, const BfStrategy *strategy)
{
	Table		table = read_table(dir, name, "filters.tsv");
	Table		elements = read_table(dir, name, "filter_elements.tsv");
	Table		probes = read_table(dir, name, "probes.tsv");
	size_t		inserted = 0;
	size_t		probed = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *id = cell(&table, i, "filter_id");
		const char *approx = cell(&table, i, "approx_count");
		BfShape		shape = {cell_u64(&table, i, "bit_size"),
		(uint32_t) cell_u64(&table, i, "k")};
		uint64_t	length;
		uint8_t    *value = make_value(strategy, BF_FUNNEL_UNBOUND, &shape, &length);
		uint8_t    *again = make_value(strategy, BF_FUNNEL_UNBOUND, &shape, &length);
		BfFilter	filter;
		BfFilter	batch;
		BfHash	   *hashes;
		size_t		count;
		uint64_t	set;
		double		estimate;

		open_value(value, length, &filter);
		open_value(again, length, &batch);
		hashes = insert_elements(&elements, id, &filter, &count);
		bf_filter_add(&batch, hashes, count);
		CHECK(memcmp(value, again, length) == 0,
			  "%s filter %s: adding all at once differs", name, id);
		inserted += count;
		probed += probe_filter(&probes, id, &filter);

		set = bf_bits_count(value + filter.first.offset, filter.first.bytes);
		CHECK(set == cell_u64(&table, i, "bit_count"),
			  "%s filter %s: %" PRIu64 " bits set", name, id, set);
		CHECK(same_double(bf_estimate_fpp(set, shape.bits, shape.hashes),
						  strtod(cell(&table, i, "expected_fpp"), NULL)),
			  "%s filter %s: expected fpp", name, id);
		estimate = bf_estimate_count(set, shape.bits, shape.hashes);
		if (strncmp(approx, "error", 5) == 0)
			CHECK(isfinite(estimate) && estimate > 0,
				  "%s filter %s: estimate of a full filter", name, id);
		else
			CHECK(estimate == strtod(approx, NULL),
				  "%s filter %s: estimated %g", name, id, estimate);
		check_stream(&filter, cell(&table, i, "write_to_hex"), id);
		free(hashes);
		free(value);
		free(again);
	}
	CHECK(inserted == elements.rows, "%s: %zu elements", name, inserted);
	CHECK(probed == probes.rows, "%s: %zu probes", name, probed);
	free_table(&table);
	free_table(&elements);
	free_table(&probes);
}

/* Read one stream as bf_import does; false where it is refused. */
static uint8_t *
import_stream(const BfStream *stream, const uint8_t *bytes, size_t length,
			  uint64_t *value_length, BfError *error)
{
	BfHeader	header;
	BfLayer		layer;
	BfFilter	filter;
	uint8_t    *value;

	memset(&header, 0, sizeof(header));
	memset(&layer, 0, sizeof(layer));
	if (!stream->inspect(bytes, length, &header, &layer, error))
		return NULL;
	header.funnel = BF_FUNNEL_UTF8;
	if (!bf_format_size(&header, &layer, value_length, error))
		return NULL;
	value = allocate(*value_length);
	memset(value, 0, *value_length);
	bf_format_encode(&header, &layer, value);
	open_value(value, *value_length, &filter);
	stream->read(bytes, &filter, value);
	return value;
}

/*
 * readfrom.tsv: what Guava reads whole is read and written back; bytes left
 * over are refused here, and so is all that Guava refuses.
 */
static void
test_streams(const char *dir, const char *name)
{
	Table		table = read_table(dir, name, "readfrom.tsv");
	const BfStream *stream = bf_stream_by_name("guava");
	size_t		accepted = 0;

	CHECK(stream != NULL, "no stream named guava");
	for (size_t i = 0; i < table.rows; i++)
	{
		const char *id = cell(&table, i, "case_id");
		size_t		length;
		uint8_t    *hex = from_hex(cell(&table, i, "input_hex"), &length);
		uint8_t    *bytes = copy_bytes(hex, length);
		bool		want = strcmp(cell(&table, i, "result"), "ok") == 0 &&
			cell_u64(&table, i, "unread_bytes") == 0;
		uint64_t	value_length;
		BfError		error;
		uint8_t    *value = import_stream(stream, bytes, length, &value_length, &error);

		CHECK((value != NULL) == want, "%s case %s: %s", name, id,
			  want ? "refused" : "accepted");
		CHECK(value != NULL || error.code == BF_ERROR_MALFORMED,
			  "%s case %s: wrong kind of error", name, id);
		if (value != NULL && want)
		{
			BfFilter	filter;

			open_value(value, value_length, &filter);
			CHECK(filter.first.bits == cell_u64(&table, i, "bit_size") &&
				  filter.first.hashes == cell_u64(&table, i, "k"),
				  "%s case %s: shape", name, id);
			CHECK(bf_bits_count(value + filter.first.offset, filter.first.bytes) ==
				  cell_u64(&table, i, "bit_count"), "%s case %s: bits set", name, id);
			check_stream(&filter, cell(&table, i, "rewrite_hex"), id);
			accepted++;
		}
		free(value);
		free(bytes);
		free(hex);
	}
	CHECK(accepted > 3, "%s: only %zu streams accepted", name, accepted);
	free_table(&table);
}

/* Every truncation and every change of one byte of a stream. */
static void
test_stream_mutations(void)
{
	const BfStream *stream = bf_stream_by_name("guava");
	static const uint8_t original[] = {
		0x01, 0x05, 0x00, 0x00, 0x00, 0x02, 0x02, 0x28, 0x53, 0x40, 0xb2, 0xc5,
		0x20, 0x32, 0x01, 0x76, 0x9a, 0x2a, 0x2e, 0x82, 0x86, 0x26
	};
	const size_t length = sizeof(original);
	uint64_t	value_length;
	BfError		error;

	for (size_t cut = 0; cut < length; cut++)
	{
		uint8_t    *bytes = copy_bytes(original, cut);
		uint8_t    *value = import_stream(stream, bytes, cut, &value_length, &error);

		CHECK(value == NULL, "stream of %zu bytes is accepted", cut);
		free(value);
		free(bytes);
	}
	for (size_t at = 0; at < length; at++)
	{
		for (int to = 0; to < 256; to++)
		{
			uint8_t    *bytes = copy_bytes(original, length);
			uint8_t    *value;
			bool		want = at >= 6 || (at == 0 ? to <= 1 :
										   at == 1 ? to != 0 : to == original[at]);

			bytes[at] = to;
			value = import_stream(stream, bytes, length, &value_length, &error);
			CHECK((value != NULL) == want, "stream with byte %zu = %d is %s",
				  at, to, want ? "refused" : "accepted");
			if (value != NULL)
			{
				BfFilter	filter;
				uint64_t	written = 0;
				uint8_t    *back;

				open_value(value, value_length, &filter);
				CHECK(filter.strategy->stream->measure(&filter, &written, &error) &&
					  written == length, "stream with byte %zu = %d: length", at, to);
				back = allocate(written);
				filter.strategy->stream->write(&filter, back);
				CHECK(memcmp(back, bytes, length) == 0,
					  "stream with byte %zu = %d is written otherwise", at, to);
				free(back);
			}
			free(value);
			free(bytes);
		}
	}
}

/* ---- Bits -------------------------------------------------------------- */

static bool
naive_bit(const uint8_t *stored, uint64_t i)
{
	/* strategies.md: byte 8 * (i / 64) + 7 - (i % 64) / 8, mask 1 << (i % 8) */
	return stored[8 * (i / 64) + 7 - (i % 64) / 8] >> (i % 8) & 1;
}

static void
test_bits(void)
{
	static const size_t words[] = {1, 2, 3, 7, 8, 33};

	for (size_t round = 0; round < 60; round++)
	{
		size_t		bytes = 8 * words[round % 6];
		uint8_t    *a = allocate(bytes);
		uint8_t    *b = allocate(bytes);
		uint8_t    *c = allocate(bytes);
		uint64_t	set = 0;

		for (size_t i = 0; i < bytes; i++)
		{
			a[i] = round < 6 ? 0 : round < 12 ? 0xff : (uint8_t) next_random();
			b[i] = (uint8_t) next_random();
		}
		for (uint64_t i = 0; i < 8 * bytes; i++)
		{
			set += naive_bit(a, i);
			CHECK(bf_bit_get(a, i) == naive_bit(a, i), "bit %" PRIu64, i);
		}
		CHECK(bf_bits_count(a, bytes) == set, "count of %zu bytes", bytes);

		memcpy(c, a, bytes);
		bf_bits_or(c, b, bytes);
		for (size_t i = 0; i < bytes; i++)
			CHECK(c[i] == (a[i] | b[i]), "or of byte %zu", i);
		memcpy(c, a, bytes);
		bf_bits_and(c, b, bytes);
		for (size_t i = 0; i < bytes; i++)
			CHECK(c[i] == (a[i] & b[i]), "and of byte %zu", i);

		for (uint64_t i = 0; i < 8 * bytes; i++)
		{
			bool		was = naive_bit(a, i);
			uint64_t	others;

			memcpy(c, a, bytes);
			CHECK(bf_bit_set(c, i) == !was, "change of bit %" PRIu64, i);
			others = bf_bits_count(c, bytes);
			CHECK(naive_bit(c, i) && others == set + !was, "setting bit %" PRIu64, i);
		}
		free(a);
		free(b);
		free(c);
	}
}

/* Whether any bit at or beyond `used` is set, for every `used`. */
static void
test_tail(void)
{
	for (size_t bytes = 8; bytes <= 24; bytes += 8)
	{
		uint8_t    *bits = allocate(bytes);

		for (uint64_t last = 0; last < 8 * bytes; last++)
		{
			memset(bits, 0, bytes);
			bf_bit_set(bits, last);
			bf_bit_set(bits, last / 2);
			for (uint64_t used = 8 * (bytes - 8) + 1; used <= 8 * bytes; used++)
				CHECK(bf_bits_tail_is_zero(bits, bytes, used) == (last < used),
					  "tail from %" PRIu64 ", bit %" PRIu64, used, last);
		}
		free(bits);
	}
}

/* Redis and BitSet orders, whole and cut to ceil(m / 8) bytes, and back. */
static void
test_orders(void)
{
	for (uint64_t m = 1; m <= 200; m++)
	{
		size_t		stored_bytes = (m + 63) / 64 * 8;
		size_t		foreign_bytes = (m + 7) / 8;
		uint8_t    *stored = allocate(stored_bytes);
		uint8_t    *back = allocate(stored_bytes);

		memset(stored, 0, stored_bytes);
		for (uint64_t i = 0; i < m; i++)
		{
			if (next_random() & 1)
				bf_bit_set(stored, i);
		}
		for (int order = BF_ORDER_REDIS; order <= BF_ORDER_BITSET; order++)
		{
			uint8_t    *foreign = malloc(foreign_bytes);
			uint64_t	wrong = 0;

			memset(foreign, 0xaa, foreign_bytes);
			bf_bits_to_order((BfBitOrder) order, stored, foreign, foreign_bytes);
			for (uint64_t i = 0; i < 8 * foreign_bytes; i++)
			{
				int			shift = order == BF_ORDER_REDIS ? 7 - (int) (i % 8) : (int) (i % 8);
				bool		bit = foreign[i / 8] >> shift & 1;

				wrong += bit != (i < m && naive_bit(stored, i));
			}
			CHECK(wrong == 0, "order %d of %" PRIu64 " bits: %" PRIu64 " wrong",
				  order, m, wrong);
			memset(back, 0, stored_bytes);
			bf_bits_from_order((BfBitOrder) order, foreign, foreign_bytes, back);
			CHECK(memcmp(stored, back, stored_bytes) == 0,
				  "order %d of %" PRIu64 " bits does not come back", order, m);
			free(foreign);
		}
		free(stored);
		free(back);
	}
}

/* ---- The format -------------------------------------------------------- */

/*
 * Open untrusted bytes.  What opens must be canonical: encoding what was read
 * gives the same prefix, and the layers fill the value exactly.
 */
static bool
open_untrusted(const uint8_t *bytes, size_t length)
{
	BfFilter	filter;
	BfError		error;
	BfLayer		layer;
	BfLayer    *layers;
	uint8_t    *prefix;
	uint32_t	index = 0;
	uint64_t	end;
	size_t		prefix_size;

	memset(&error, 0, sizeof(error));
	if (!bf_filter_open(bytes, length, length, &filter, &error))
	{
		CHECK(error.code == BF_ERROR_MALFORMED, "a decoder's error of another kind");
		CHECK(error.message[0] != '\0', "a decoder's error without a message");
		return false;
	}
	prefix_size = BF_PREFIX_SIZE(filter.header.layers);
	end = prefix_size;
	CHECK(prefix_size <= length, "opened beyond its length");
	layers = allocate(filter.header.layers * sizeof(BfLayer));
	while (bf_format_next_layer(&filter, &index, &layer))
	{
		CHECK(layer.offset == end, "layer %u at %" PRIu64, index, layer.offset);
		CHECK(layer.hashes >= 1 && layer.hashes <= BF_MAX_HASHES && layer.bits >= 1,
			  "layer %u opened with %u hashes", index, layer.hashes);
		CHECK(layer.bytes * 8 >= layer.bits * filter.header.cell_bits &&
			  layer.bytes <= length, "layer %u of %" PRIu64 " bytes", index, layer.bytes);
		end += layer.bytes;
		layers[index - 1] = layer;
	}
	CHECK(index == filter.header.layers && end == length,
		  "layers end at %" PRIu64 " of %zu", end, length);
	prefix = allocate(prefix_size);
	bf_format_encode(&filter.header, layers, prefix);
	CHECK(memcmp(prefix, bytes, prefix_size) == 0, "opened, but not canonical");
	free(prefix);
	free(layers);
	return true;
}

/* A value of one or two layers of 64 * words bits, some of them set. */
static uint8_t *
make_layered(uint32_t count, uint64_t words, uint64_t *length)
{
	BfHeader	header;
	BfLayer		layers[2];
	BfError		error;
	uint8_t    *value;

	if (count > 2)
		die("too many layers");
	memset(&header, 0, sizeof(header));
	memset(layers, 0, sizeof(layers));
	header.strategy = BF_STRATEGY_GUAVA;
	header.funnel = BF_FUNNEL_UTF8;
	header.cell_bits = BF_CELL_BIT;
	header.layers = count;
	header.expansion = count - 1;
	header.expected = 10;
	header.fpp = 0.03;
	for (uint32_t i = 0; i < count; i++)
	{
		layers[i].bits = 64 * words;
		layers[i].hashes = 5;
		layers[i].expected = 10;
		layers[i].fpp = 0.03;
	}
	if (!bf_format_size(&header, layers, length, &error))
		die("bf_format_size: %s", error.message);
	value = allocate(*length);
	memset(value, 0x5a, *length);
	bf_format_encode(&header, layers, value);
	return value;
}

/* Every truncation, and bytes too many. */
static void
test_truncations(uint32_t layers)
{
	uint64_t	length;
	uint8_t    *value = make_layered(layers, 2, &length);
	size_t		prefix = BF_PREFIX_SIZE(layers);

	CHECK(open_untrusted(value, length), "%u layers do not open", layers);
	for (uint64_t cut = 0; cut < length; cut++)
	{
		uint8_t    *bytes = copy_bytes(value, cut);
		BfFilter	filter;
		BfError		error;

		CHECK(!open_untrusted(bytes, cut), "%" PRIu64 " bytes open", cut);

		/* The first bytes of a longer value, as slices of a toasted one. */
		if (cut > 0)
		{
			bool		ok = bf_filter_open(bytes, cut, length, &filter, &error);

			CHECK(ok == (cut >= prefix), "the first %" PRIu64 " bytes", cut);
			CHECK(!ok || !filter.whole, "%" PRIu64 " bytes pass for all", cut);
		}
		free(bytes);
	}
	for (uint64_t more = 1; more <= 16; more++)
	{
		uint8_t    *bytes = allocate(length + more);

		memset(bytes, 0, length + more);
		memcpy(bytes, value, length);
		CHECK(!open_untrusted(bytes, length + more),
			  "%" PRIu64 " trailing bytes are accepted", more);
		free(bytes);
	}
	free(value);
}

/* Every change of one byte, to all other values, and of all pairs of 0/ff. */
static void
test_mutations(uint32_t layers)
{
	uint64_t	length;
	uint8_t    *value = make_layered(layers, 2, &length);
	size_t		prefix = BF_PREFIX_SIZE(layers);
	size_t		accepted = 0;

	for (uint64_t at = 0; at < length; at++)
	{
		for (int to = 0; to < 256; to++)
		{
			uint8_t    *bytes = copy_bytes(value, length);
			bool		ok;

			bytes[at] = to;
			ok = open_untrusted(bytes, length);
			accepted += ok;
			CHECK(ok || at < prefix, "a change of bit byte %" PRIu64 " is refused", at);

			/* Magic, version, widths, reserved bytes, layer counts: no other. */
			if (at < 3 || (at >= 5 && at < 8) || (at >= 12 && at < 16) ||
				(at >= BF_HEADER_SIZE && at < BF_HEADER_SIZE + 8) ||
				(at >= BF_HEADER_SIZE + 36 && at < BF_HEADER_SIZE + 40))
				CHECK(ok == (to == value[at]), "byte %" PRIu64 " = %d is %s",
					  at, to, ok ? "accepted" : "refused");
			free(bytes);
		}
	}
	CHECK(accepted > 256 * (length - prefix), "only %zu changes accepted", accepted);
	for (uint64_t at = 0; at < prefix; at++)
	{
		for (uint64_t at2 = at + 1; at2 < prefix; at2++)
		{
			for (int to = 0; to < 4; to++)
			{
				uint8_t    *bytes = copy_bytes(value, length);

				bytes[at] = to & 1 ? 0xff : 0;
				bytes[at2] = to & 2 ? 0xff : 0;
				(void) open_untrusted(bytes, length);
				free(bytes);
			}
		}
	}
	free(value);
}

/* Fields chosen so that a size computed carelessly wraps to the real one. */
static void
test_overflows(void)
{
	static const uint64_t sizes[] = {
		UINT64_C(0), UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 63, UINT64_MAX - 62,
		UINT64_C(1) << 62, UINT64_C(1) << 61, UINT64_C(1) << 60,
		UINT64_C(1) << 48, UINT64_C(1) << 37, UINT64_C(1) << 32,
		(UINT64_C(1) << 63) + 128, (UINT64_C(1) << 62) + 128,
		(UINT64_C(1) << 62) + 32, (UINT64_C(1) << 61) + 128, 192, 64
	};
	static const uint32_t counts[] = {
		0, 2, 3, 1024, 1025, UINT32_C(1) << 31, UINT32_MAX,
		/* 40 * layers wraps to 40 or less in 32 bits */
		UINT32_C(107374183), UINT32_C(536870913), UINT32_C(1073741825)
	};
	uint64_t	length;
	uint8_t    *value = make_layered(1, 2, &length);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		for (int cell_bits = 1; cell_bits <= 4; cell_bits += 3)
		{
			uint8_t    *bytes = copy_bytes(value, length);

			bytes[5] = cell_bits;
			bf_store_le64(bytes + BF_HEADER_SIZE, sizes[i]);
			CHECK(!open_untrusted(bytes, length), "%" PRIu64 " cells of %d open",
				  sizes[i], cell_bits);
			free(bytes);
		}
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
	{
		uint8_t    *bytes = copy_bytes(value, length);

		bf_store_le32(bytes + 8, 1);
		bf_store_le32(bytes + 12, counts[i]);
		CHECK(!open_untrusted(bytes, length), "%u layers open", counts[i]);
		free(bytes);
	}
	free(value);
}

/* Two layers whose sizes add up to the real one modulo 2^64, bits or bytes. */
static void
test_layer_overflows(void)
{
	uint64_t	length;
	uint8_t    *value = make_layered(2, 2, &length);
	uint8_t    *first = value + BF_HEADER_SIZE;
	uint8_t    *second = first + BF_LAYER_SIZE;

	CHECK(open_untrusted(value, length), "two layers do not open");
	for (int shift = 7; shift < 64; shift++)
	{
		uint64_t	big = UINT64_C(1) << shift;

		bf_store_le64(first, big);
		bf_store_le64(second, UINT64_C(256) - big);
		CHECK(open_untrusted(value, length) == (big == 128),
			  "layers of 2^%d and less", shift);
		bf_store_le64(first, UINT64_C(256) - big);
		bf_store_le64(second, big);
		CHECK(open_untrusted(value, length) == (big == 128),
			  "layers of less and 2^%d", shift);
	}
	free(value);
}

/* A nonzero bit beyond a layer's bits can only be an error. */
static void
test_sizing_fields(void)
{
	static const double wrong_fpp[] = {-1, 1, 2, 1e300, -0.0};
	uint64_t	length;
	uint8_t    *value = make_layered(1, 2, &length);
	uint8_t    *bytes;

	for (size_t at = 24; at <= BF_HEADER_SIZE + 16; at += BF_HEADER_SIZE + 16 - 24)
	{
		for (size_t i = 0; i < sizeof(wrong_fpp) / sizeof(wrong_fpp[0]); i++)
		{
			bytes = copy_bytes(value, length);
			bf_store_double(bytes + at, wrong_fpp[i]);
			CHECK(!open_untrusted(bytes, length), "fpp %g opens", wrong_fpp[i]);
			free(bytes);
		}
		bytes = copy_bytes(value, length);
		bf_store_double(bytes + at, NAN);
		CHECK(!open_untrusted(bytes, length), "fpp NaN opens");
		bf_store_double(bytes + at, INFINITY);
		CHECK(!open_untrusted(bytes, length), "infinite fpp opens");
		free(bytes);
	}
	for (size_t at = 16; at <= BF_HEADER_SIZE + 8; at += BF_HEADER_SIZE + 8 - 16)
	{
		bytes = copy_bytes(value, length);
		bf_store_le64(bytes + at, UINT64_C(1) << 63);
		CHECK(!open_untrusted(bytes, length), "a negative n opens");
		free(bytes);
	}
	for (uint32_t hashes = 0; hashes < 600; hashes++)
	{
		bytes = copy_bytes(value, length);
		bf_store_le32(bytes + BF_HEADER_SIZE + 32, hashes);
		CHECK(open_untrusted(bytes, length) == (hashes >= 1 && hashes <= 255),
			  "%u hashes", hashes);
		free(bytes);
	}
	free(value);
}

/* ---- The registry ------------------------------------------------------ */

static void
test_registry(void)
{
	BfFunnel	funnel = BF_FUNNEL_UNBOUND;

	CHECK(bf_strategy_by_name("guava") == &bf_guava, "guava");
	CHECK(bf_strategy_by_name("guava32") == &bf_guava32, "guava32");
	CHECK(bf_strategy_by_name("Guava") == NULL, "Guava");
	CHECK(bf_strategy_by_name("") == NULL, "no name");
	CHECK(bf_stream_by_name("redis") == NULL, "redis is no stream");
	for (int id = 0; id < 256; id++)
	{
		const BfStrategy *strategy = bf_strategy_by_id(id);

		CHECK(strategy == NULL || strategy->id == id, "strategy %d", id);
	}
	for (size_t i = 0; bf_strategy_at(i) != NULL; i++)
		CHECK(bf_strategy_by_id(bf_strategy_at(i)->id) == bf_strategy_at(i),
			  "strategy at %zu", i);
	for (int i = BF_FUNNEL_UNBOUND + 1; i <= BF_FUNNEL_LAST; i++)
		CHECK(bf_funnel_by_name(bf_funnel_name((BfFunnel) i), &funnel) &&
			  funnel == (BfFunnel) i, "funnel %d", i);
	CHECK(!bf_funnel_by_name("utf-8", &funnel), "funnel utf-8");
	CHECK(!bf_funnel_by_name("", &funnel), "no funnel");
}

int
main(int argc, char **argv)
{
	static const char *const dirs[] = {"guava64", "guava32"};
	const BfStrategy *const strategies[] = {&bf_guava, &bf_guava32};

	if (argc != 2)
		die("usage: unit VECTORS_DIR");
	for (int i = 0; i < 2; i++)
	{
		test_hashing(argv[1], dirs[i]);
		test_sizing(argv[1], strategies[i]);
		test_positions(argv[1], dirs[i], strategies[i]);
		test_filters(argv[1], dirs[i], strategies[i]);
		test_streams(argv[1], dirs[i]);
	}
	test_stream_mutations();
	test_bits();
	test_tail();
	test_orders();
	for (uint32_t layers = 1; layers <= 2; layers++)
	{
		test_truncations(layers);
		test_mutations(layers);
	}
	test_overflows();
	test_layer_overflows();
	test_sizing_fields();
	test_registry();
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
	return failed > 0;
}
