/*
 * vectors.c
 *	  Reading golden vectors, and counting what agrees with them.
 *
 * Usage: vectors VECTORS_DIR.  Bytes handed to the code under test lie in a
 * malloc of exactly their length, for AddressSanitizer to see a byte read too
 * far.  SHA-256 is here because the large vectors come as digests.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "vectors.h"

#define MAX_SHOWN		20

const char *vectors_dir;
uint64_t	passed = 0;
uint64_t	failed = 0;

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

Table
read_table(const char *path)
{
	Table		table = {.path = path};
	char	   *next;
	size_t		lines = 0;

	table.text = read_file(path);
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

static inline uint32_t
rotr32(uint32_t x, int bits)
{
	return x >> bits | x << (32 - bits);
}

/* The first 32 bits of the fractions of the primes' cube roots. */
static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static void
sha256_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t	w[64];
	uint32_t	s[8];

	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 16; i++)
		w[i] = bf_load_be32(block + 4 * i);
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
			(rotr32(w[i - 15], 7) ^ rotr32(w[i - 15], 18) ^ w[i - 15] >> 3) +
			(rotr32(w[i - 2], 17) ^ rotr32(w[i - 2], 19) ^ w[i - 2] >> 10);
	for (int i = 0; i < 64; i++)
	{
		uint32_t	t1 = s[7] + sha256_k[i] + w[i] +
			(rotr32(s[4], 6) ^ rotr32(s[4], 11) ^ rotr32(s[4], 25)) +
			((s[4] & s[5]) ^ (~s[4] & s[6]));
		uint32_t	t2 = (rotr32(s[0], 2) ^ rotr32(s[0], 13) ^ rotr32(s[0], 22)) +
			((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(uint32_t));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

static void
sha256(const uint8_t *bytes, size_t length, uint8_t digest[32])
{
	uint32_t	state[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
	};
	uint8_t		last[128] = {0};
	size_t		rest = length % 64;
	size_t		padded = rest < 56 ? 64 : 128;

	for (size_t i = 0; i + 64 <= length; i += 64)
		sha256_block(state, bytes + i);
	memcpy(last, bytes + length - rest, rest);
	last[rest] = 0x80;
	bf_store_be32(last + padded - 8, (uint32_t) ((uint64_t) length >> 29));
	bf_store_be32(last + padded - 4, (uint32_t) (length << 3));
	for (size_t i = 0; i < padded; i += 64)
		sha256_block(state, last + i);
	for (int i = 0; i < 8; i++)
		bf_store_be32(digest + 4 * i, state[i]);
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

/* Funnel bytes (UTF-8 of text, or raw) into an exact malloc. */
static uint8_t *
funnel_bytes(const BfStrategy *strategy, BfFunnel funnel, const uint8_t *bytes,
			 size_t *length)
{
	uint8_t    *exact;
	uint8_t    *utf16 = NULL;

	if (funnel == BF_FUNNEL_UTF16)
		bytes = utf16 = to_utf16(bytes, *length, strategy->utf16_is_marked,
								 length);
	else if (funnel != BF_FUNNEL_UTF8 && funnel != BF_FUNNEL_BYTES)
		die("%s does not take an element", strategy->name);
	exact = malloc(*length);
	if (exact == NULL && *length > 0)
		die("out of memory");
	if (*length > 0)
		memcpy(exact, bytes, *length);
	free(utf16);
	return exact;
}

/* The bytes that a row's element is hashed as, by the strategy's funnels. */
uint8_t *
element_bytes(const BfStrategy *strategy, const char *etype,
			  const char *value, size_t *length)
{
	BfKind		kind = strcmp(etype, "text") == 0 ? BF_KIND_TEXT :
		strcmp(etype, "bytea") == 0 ? BF_KIND_BYTEA :
		strcmp(etype, "int4") == 0 ? BF_KIND_INT4 : BF_KIND_INT8;
	uint8_t    *bytes;
	uint8_t    *result;

	if (kind == BF_KIND_INT4 || kind == BF_KIND_INT8)
	{
		*length = strlen(value);
		return funnel_bytes(strategy, strategy->funnels[kind],
							(const uint8_t *) value, length);
	}
	bytes = from_element_hex(value, length);
	result = funnel_bytes(strategy, strategy->funnels[kind], bytes, length);
	free(bytes);
	return result;
}

/* Element number i of a rule such as title-{i}. */
uint8_t *
rule_bytes(const BfStrategy *strategy, const char *rule, uint64_t i,
		   size_t *length)
{
	char		text[256];
	const char *brace = strstr(rule, "{i}");

	if (brace == NULL)
		die("rule %s has no {i}", rule);
	*length = (size_t) snprintf(text, sizeof(text), "%.*s%" PRIu64 "%s",
								(int) (brace - rule), rule, i, brace + 3);
	return funnel_bytes(strategy, strategy->funnels[BF_KIND_TEXT],
						(const uint8_t *) text, length);
}

/* ---- Filters ----------------------------------------------------------- */

/* An empty value of one layer, opened. */
uint8_t *
make_value(const BfStrategy *strategy, uint64_t bits, uint32_t hashes,
		   BfFilter *filter)
{
	BfHeader	header = {
		.strategy = strategy->id, .cell_bits = BF_CELL_BIT, .layers = 1
	};
	BfLayer		layer = {.bits = bits, .hashes = hashes};
	BfError		error;
	uint64_t	length;
	uint8_t    *value;

	if (!bf_format_size(&header, &layer, &length, &error))
		die("bf_format_size: %s", error.message);
	value = allocate(length);
	bf_format_encode(&header, &layer, value);
	if (!bf_filter_open(value, length, length, filter, &error))
		die("bf_filter_open: %s", error.message);
	return value;
}

/* A value's bits in an order, whole bytes; trimmed: up to the last one set. */
uint8_t *
foreign_bits(const BfFilter *filter, BfBitOrder order, bool trimmed,
			 size_t *length)
{
	uint8_t    *bits;

	*length = (filter->first.bits + 7) / 8;
	bits = allocate(*length);
	bf_bits_to_order(order, filter->bytes + filter->first.offset, bits,
					 *length);
	while (trimmed && *length > 0 && bits[*length - 1] == 0)
		(*length)--;
	return bits;
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		die("usage: vectors VECTORS_DIR");
	vectors_dir = argv[1];
	test_services();
	test_chains();
	test_real_fpp();
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
	return failed > 0;
}
