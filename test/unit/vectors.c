/*
 * vectors.c
 *	  Reading golden vectors, and counting what agrees with them.
 *
 * Bytes handed to the code under test lie in a malloc of exactly their length,
 * for AddressSanitizer to see a byte read too far.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/md5.h"
#include "hashes.h"
#include "vectors.h"

#define MAX_SHOWN		20
#define MAX_FILES		100

const char *vectors_dir;
uint64_t	passed = 0;
uint64_t	failed = 0;

/* Paths of the files read so far. */
static const char *files_read[MAX_FILES];
static size_t files_read_count = 0;

/* Count one check; show the first failures only. */
void
check_at(const char *file, int line, bool ok, const char *format,...)
{
	va_list		args;

	if (ok)
	{
		passed++;
		return;
	}
	if (failed++ >= MAX_SHOWN)
		return;
	printf("%s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void
die(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

void *
allocate(size_t size)
{
	void	   *result = calloc(size > 0 ? size : 1, 1);

	if (result == NULL)
		die("out of memory");
	return result;
}

/* A copy that ends where its malloc ends. */
uint8_t *
copy_bytes(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = malloc(length);

	if (copy == NULL && length > 0)
		die("out of memory");
	if (length > 0)
		memcpy(copy, bytes, length);
	return copy;
}

/* Doubles of pow() and log1p() may differ from Java's in the last place. */
bool
same_double(double got, double want)
{
	return fabs(got - want) <= 1e-14 * fabs(want);
}

/* ---- Tables ------------------------------------------------------------ */

static char *
read_file(const char *path)
{
	char		full[4096];
	FILE	   *file;
	char	   *text;
	long		size;

	snprintf(full, sizeof(full), "%s/%s", vectors_dir, path);
	file = fopen(full, "rb");
	if (file == NULL)
		die("cannot open %s", full);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = allocate((size_t) size + 1);
	if (fread(text, 1, (size_t) size, file) != (size_t) size)
		die("cannot read %s", full);
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

/* Whether some test has read this file. */
bool
was_read(const char *path)
{
	for (size_t i = 0; i < files_read_count; i++)
	{
		if (strcmp(files_read[i], path) == 0)
			return true;
	}
	return false;
}

/* Read a file; `path` is kept, so it must outlive the tests. */
Table
read_table(const char *path)
{
	Table		table = {.path = path};
	char	   *next;
	size_t		lines = 0;

	table.text = read_file(path);
	if (!was_read(path))
	{
		if (files_read_count == MAX_FILES)
			die("too many files");
		files_read[files_read_count++] = path;
	}
	for (const char *c = table.text; *c; c++)
		lines += *c == '\n';
	next = cut_line(table.text, table.names, &table.columns);
	table.cells = allocate((lines + 1) * table.columns * sizeof(char *));
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

void
free_table(Table *table)
{
	free(table->text);
	free(table->cells);
}

bool
has_column(const Table *table, const char *name)
{
	for (size_t i = 0; i < table->columns; i++)
	{
		if (strcmp(table->names[i], name) == 0)
			return true;
	}
	return false;
}

const char *
cell(const Table *table, size_t row, const char *name)
{
	for (size_t i = 0; i < table->columns; i++)
	{
		if (strcmp(table->names[i], name) == 0)
			return table->cells[row * table->columns + i];
	}
	die("%s has no column %s", table->path, name);
}

/* Tables that have no etype hold text. */
const char *
etype_of(const Table *table, size_t row)
{
	return has_column(table, "etype") ? cell(table, row, "etype") : "text";
}

uint64_t
cell_u64(const Table *table, size_t row, const char *name)
{
	return strtoull(cell(table, row, name), NULL, 10);
}

int64_t
cell_i64(const Table *table, size_t row, const char *name)
{
	return strtoll(cell(table, row, name), NULL, 10);
}

double
cell_double(const Table *table, size_t row, const char *name)
{
	return strtod(cell(table, row, name), NULL);
}

bool
cell_is(const Table *table, size_t row, const char *name, const char *text)
{
	return strcmp(cell(table, row, name), text) == 0;
}

/* ---- Bytes ------------------------------------------------------------- */

static uint8_t
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (uint8_t) (c - '0');
	if (c >= 'a' && c <= 'f')
		return (uint8_t) (c - 'a' + 10);
	die("'%c' is no hex digit", c);
}

uint8_t *
from_hex(const char *hex, size_t *length)
{
	uint8_t    *bytes;

	*length = strlen(hex) / 2;
	bytes = allocate(*length);
	for (size_t i = 0; i < *length; i++)
		bytes[i] = (uint8_t) (hex_digit(hex[2 * i]) << 4 |
							  hex_digit(hex[2 * i + 1]));
	return bytes;
}

/* Compare bytes with hex, or with "sha256:" and the hex of a digest. */
bool
same_hex(const uint8_t *bytes, size_t length, const char *hex)
{
	uint8_t		digest[32];
	uint8_t    *want;
	size_t		want_length;
	bool		same;

	if (strncmp(hex, "sha256:", 7) == 0)
	{
		sha256(bytes, length, digest);
		return same_hex(digest, sizeof(digest), hex + 7);
	}
	want = from_hex(hex, &want_length);
	same = length == want_length && memcmp(bytes, want, length) == 0;
	free(want);
	return same;
}

/* ---- Elements ---------------------------------------------------------- */

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

/* Append a code unit in the strategy's order. */
static void
put_unit(uint8_t *bytes, size_t *length, uint32_t unit, bool big_endian)
{
	bytes[(*length)++] = (uint8_t) (big_endian ? unit >> 8 : unit);
	bytes[(*length)++] = (uint8_t) (big_endian ? unit : unit >> 8);
}

/* UTF-8 to UTF-16, naively: the vectors' strings are well-formed. */
static uint8_t *
to_utf16(const uint8_t *utf8, size_t length, bool marked,
		 size_t *result_length)
{
	uint8_t    *result = allocate(length * 2 + 2);
	size_t		n = 0;

	if (marked && length > 0)
		put_unit(result, &n, 0xfeff, true);
	for (size_t i = 0; i < length;)
	{
		uint8_t		lead = utf8[i];
		int			more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
		uint32_t	c = more == 0 ? lead : lead & (0x3fu >> more);

		for (int j = 1; j <= more; j++)
			c = c << 6 | (utf8[i + (size_t) j] & 0x3f);
		i += (size_t) more + 1;
		if (c >= 0x10000)
		{
			put_unit(result, &n, 0xd800 + ((c - 0x10000) >> 10), marked);
			c = 0xdc00 + ((c - 0x10000) & 0x3ff);
		}
		put_unit(result, &n, c, marked);
	}
	*result_length = n;
	return result;
}

static const struct
{
	const char *etype;
	BfKind		kind;
}			etypes[] = {
	{"text", BF_KIND_TEXT}, {"text16", BF_KIND_TEXT},
	{"bytea", BF_KIND_BYTEA}, {"uuid", BF_KIND_UUID},
	{"int4", BF_KIND_INT4}, {"int8", BF_KIND_INT8}
};

/* The funnel that an etype of the files names, or that its type binds. */
static BfFunnel
etype_funnel(const BfStrategy *strategy, const char *etype)
{
	if (strcmp(etype, "text16") == 0)
		return BF_FUNNEL_UTF16;
	for (size_t i = 0; i < sizeof(etypes) / sizeof(etypes[0]); i++)
	{
		if (strcmp(etype, etypes[i].etype) == 0)
			return strategy->funnels[etypes[i].kind];
	}
	die("unknown etype %s", etype);
}

/* An element, as UTF-8, raw bytes or decimal text, funneled. */
static uint8_t *
funnel_bytes(const BfStrategy *strategy, const char *etype,
			 const uint8_t *bytes, size_t *length)
{
	BfFunnel	funnel = etype_funnel(strategy, etype);
	uint8_t    *funneled = NULL;
	uint8_t    *exact;

	if (funnel == BF_FUNNEL_UTF16)
		bytes = funneled = to_utf16(bytes, *length,
									strategy->utf16_is_marked, length);
	else if (funnel == BF_FUNNEL_INT || funnel == BF_FUNNEL_LONG)
	{
		uint64_t	number = (uint64_t) strtoll((const char *) bytes, NULL, 10);

		*length = funnel == BF_FUNNEL_INT ? 4 : 8;
		bytes = funneled = allocate(8);
		bf_store_le64(funneled, number);
	}
	else if (funnel != BF_FUNNEL_UTF8 && funnel != BF_FUNNEL_BYTES)
		die("%s does not take an element", strategy->name);
	exact = copy_bytes(bytes, *length);
	free(funneled);
	return exact;
}

/* The bytes that a row's element is hashed as. */
uint8_t *
element_bytes(const BfStrategy *strategy, const char *etype,
			  const char *value, size_t *length)
{
	uint8_t    *bytes;
	uint8_t    *result;

	if (etype[0] == 'i')
	{
		*length = strlen(value);
		return funnel_bytes(strategy, etype, (const uint8_t *) value, length);
	}
	bytes = from_element_hex(value, length);
	result = funnel_bytes(strategy, etype, bytes, length);
	free(bytes);
	return result;
}

/* The MD5 of text that is not empty. */
static uint8_t *
md5_bytes(const char *text, size_t *length)
{
	uint32_t	digest[4];
	uint8_t    *bytes = allocate(sizeof(digest));

	bf_md5_salted((uint8_t) text[0], (const uint8_t *) text + 1, *length - 1,
				  digest);
	for (int i = 0; i < 4; i++)
		bf_store_le32(bytes + 4 * i, digest[i]);
	*length = sizeof(digest);
	return bytes;
}

/*
 * Element number i of a rule: title-{i}, the MD5 of md5:title-{i}, or the number
 * that i is added to.
 */
uint8_t *
rule_bytes(const BfStrategy *strategy, const char *etype, const char *rule,
		   uint64_t i, size_t *length)
{
	char		text[256];
	bool		is_md5 = strncmp(rule, "md5:", 4) == 0;
	const char *brace;

	rule += is_md5 ? 4 : 0;
	brace = strstr(rule, "{i}");

	if (etype[0] == 'i')
		*length = (size_t) snprintf(text, sizeof(text), "%" PRId64,
									(int64_t) (strtoull(rule, NULL, 10) + i));
	else if (brace != NULL)
		*length = (size_t) snprintf(text, sizeof(text), "%.*s%" PRIu64 "%s",
									(int) (brace - rule), rule, i, brace + 3);
	else
		die("rule %s has no {i}", rule);
	if (is_md5)
		return md5_bytes(text, length);
	return funnel_bytes(strategy, etype, (const uint8_t *) text, length);
}

/* ---- Filters ----------------------------------------------------------- */

void
open_value(const uint8_t *value, uint64_t length, BfFilter *filter)
{
	BfError		error;

	if (!bf_filter_open(value, length, length, filter, &error))
		die("bf_filter_open: %s", error.message);
}

/* An empty value of one layer, opened. */
uint8_t *
make_value(const BfStrategy *strategy, uint64_t bits, uint32_t hashes,
		   BfFilter *filter)
{
	BfPlan		plan = {
		.strategy = strategy,
		.header = {
			.strategy = strategy->id, .cell_bits = BF_CELL_BIT, .layers = 1
		},
		.first = {.bits = bits, .hashes = hashes}
	};
	BfError		error;
	uint64_t	length;
	uint8_t    *value;

	if (!bf_plan_measure(&plan, &length, &error))
		die("bf_plan_measure: %s", error.message);
	value = allocate(length);
	bf_plan_encode(&plan, value);
	open_value(value, length, filter);
	return value;
}

/* A value's bits in an order, whole bytes; trimmed: up to the last one set. */
uint8_t *
foreign_bits(const BfFilter *filter, BfBitOrder order, bool trimmed,
			 size_t *length)
{
	uint8_t    *bits;

	*length = (filter->plan.first.bits + 7) / 8;
	bits = allocate(*length);
	bf_bits_to_order(order, filter->bytes + filter->plan.first.offset, bits,
					 *length);
	while (trimmed && *length > 0 && bits[*length - 1] == 0)
		(*length)--;
	return bits;
}

uint64_t
count_bits(const BfFilter *filter)
{
	return bf_bits_count(filter->bytes + filter->plan.first.offset,
						 filter->plan.first.bytes);
}

/* A value's own stream. */
uint8_t *
stream_bytes(const BfFilter *filter, size_t *length)
{
	uint64_t	measured;
	BfError		error;
	uint8_t    *bytes;

	if (!filter->plan.strategy->stream->measure(filter, &measured, &error))
		die("stream: %s", error.message);
	*length = measured;
	bytes = malloc(measured);
	if (bytes == NULL)
		die("out of memory");
	bf_stream_write(filter, bytes);
	return bytes;
}

/*
 * Read a stream as bf_import does; NULL where it is refused.  What is accepted
 * must open, and hold no more than the stream does.
 */
uint8_t *
import_stream(const BfStream *stream, const uint8_t *bytes, size_t length,
			  BfFilter *filter)
{
	static BfLayer layers[BF_MAX_LAYERS];
	BfPlan		plan = {.layers = layers};
	BfError		error = {.message = ""};
	uint64_t	value_length;
	uint8_t    *value;

	memset(layers, 0, sizeof(layers));
	if (!stream->inspect(bytes, length, &plan, &error))
	{
		CHECK((error.code == BF_ERROR_MALFORMED ||
			   error.code == BF_ERROR_UNSUPPORTED) && error.message[0] != '\0',
			  "a stream's error without a message, or of another kind");
		return NULL;
	}
	if (!bf_plan_measure(&plan, &value_length, &error))
		die("bf_plan_measure: %s", error.message);
	if (value_length > 2 * length + BF_PREFIX_SIZE(1))
		die("a stream of %zu bytes makes a value of %" PRIu64, length,
			value_length);
	value = allocate(value_length);
	bf_plan_encode(&plan, value);
	open_value(value, value_length, filter);
	bf_stream_read(bytes, filter, value);
	if (bf_filter_open(value, value_length, value_length, filter, &error))
		return value;
	free(value);
	return NULL;
}
