/*
 * exchange.c
 *	  Fuzz the functions by which bytes become values and values bytes: bf_import and
 *	  the cast, binary input, bf_export; and what is done with values that lie in a
 *	  table.
 *
 * An input is a byte that says how the bytes come in, one that says as what, one of
 * the strategy, two numbers, a byte and two for a place by which bytes are made more,
 * as in text.c, and the bytes.
 */
#include "fuzz.h"

#include <string.h>

#include "server.h"

#include "hashes.h"
#include "lib/stringinfo.h"
#include "type/add.h"
#include "type/merge.h"
#include "type/toast_slices.h"
#include "type/value.h"

#define LONG			0xfc
#define LONG_UNIT		((size_t) 512 * 1024)

/* Elements that are added to values. */
#define ADDED			40

/* Values up to this length are worth more than being read and written. */
#define SHORT_VALUE		65536

extern Datum bloomext_import(PG_FUNCTION_ARGS);
extern Datum bloomext_import_sized(PG_FUNCTION_ARGS);
extern Datum bloomext_import_bits(PG_FUNCTION_ARGS);
extern Datum bloomext_from_bytea(PG_FUNCTION_ARGS);
extern Datum bloomext_recv(PG_FUNCTION_ARGS);
extern Datum bloomext_send(PG_FUNCTION_ARGS);
extern Datum bloomext_export(PG_FUNCTION_ARGS);
extern Datum bloomext_export_layer(PG_FUNCTION_ARGS);
extern Datum bloomext_to_bytea(PG_FUNCTION_ARGS);
extern Datum bloomext_count(PG_FUNCTION_ARGS);
extern Datum bloomext_fpp(PG_FUNCTION_ARGS);
extern Datum bloomext_info(PG_FUNCTION_ARGS);
extern Datum bloomext_covers(PG_FUNCTION_ARGS);

static const char *const streams[] = {"guava", "redisbloom", "spark", "bitsandblooms", "parquet", "java"};
static const char *const bit_strings[] = {"redis", "bitset", "guava"};
static const char *const funnels[] = {"utf8", "utf16", "bytes", "int", "long", "x"};

/* What an input says. */
typedef struct Bytes
{
	uint8_t		way;
	uint8_t		as;
	uint8_t		strategy;
	uint32_t	numbers[2];
	uint8_t    *bytes;
	size_t		length;
} Bytes;

/* From libpq/pqformat.c: what is left of a message. */
const char *
pq_getmsgbytes(StringInfo message, int length)
{
	message->cursor += length;
	return message->data + message->cursor - length;
}

static Datum
receive(const Bytes *bytes)
{
	StringInfoData message = {(char *) bytes->bytes, bytes->length, bytes->length, 0};
	Datum		datum = PointerGetDatum(&message);
	Datum		value = call(bloomext_recv, 1, &datum);
	struct varlena *sent = (struct varlena *) DatumGetPointer(call(bloomext_send, 1, &value));

	REQUIRE(VARSIZE(sent) - VARHDRSZ == bytes->length &&
			memcmp(VARDATA(sent), bytes->bytes, bytes->length) == 0);
	return value;
}

/* The bytes become a value, by the way that the input says. */
static Datum
come_in(const Bytes *bytes)
{
	Datum		data = bytes_datum(bytes->bytes, bytes->length);
	Datum		funnel = text_datum(funnels[bytes->as / 8 % lengthof(funnels)]);
	const BfStrategy *strategy = bf_strategy_at(bytes->strategy % (STRATEGIES + 1));
	Datum		name = text_datum(strategy ? strategy->name : "none");

	switch (bytes->way % 5)
	{
		case 0:
			return receive(bytes);
		case 1:
			return call(bloomext_import, 3, (Datum[]) {
				data, text_datum(streams[bytes->as % lengthof(streams)]), funnel
			});
		case 2:
			return call(bloomext_from_bytea, 1, &data);
		case 3:
			return call(bloomext_import_bits, 6, (Datum[]) {
				data, text_datum(bit_strings[bytes->as % lengthof(bit_strings)]),
				Int64GetDatum(bytes->numbers[0]), Int32GetDatum(bytes->numbers[1] % 300),
				name, funnel
			});
		default:
			return call(bloomext_import_sized, 6, (Datum[]) {
				data, text_datum(bit_strings[bytes->as % lengthof(bit_strings)]),
				Int64GetDatum(bytes->numbers[0]), Float8GetDatum(bytes->numbers[1] / 4294967296.0),
				name, funnel
			});
	}
}

static const uint8_t *
layer_bytes(const BfFilter *filter)
{
	return filter->bytes + BF_PREFIX_SIZE(filter->plan.header.layers);
}

/* What its own format says of a filter makes a filter of the same bits. */
static void
check_stream(Datum value, const BfFilter *filter)
{
	const BfStrategy *strategy = filter->plan.strategy;
	Datum		written = call(bloomext_export, 1, &value);
	Datum		read;
	BfFilter	copy;

	if (strategy->stream == NULL || filter->plan.header.cell_bits != BF_CELL_BIT)
		return;
	read = call(bloomext_import, 3, (Datum[]) {
		written, text_datum(strategy->stream->name),
		text_datum(bf_funnel_name(strategy->funnels[BF_KIND_TEXT]))
	});
	bf_value_open(read, &copy);
	REQUIRE(copy.length == filter->length &&
			memcmp(layer_bytes(&copy), layer_bytes(filter),
				   filter->length - BF_PREFIX_SIZE(filter->plan.header.layers)) == 0);
}

/* So does a layer's bit string. */
static void
check_bit_string(Datum value, const BfFilter *filter, const char *order)
{
	Datum		written = call(bloomext_export_layer, 3, (Datum[]) {
		value, Int32GetDatum(filter->plan.header.layers - 1), text_datum(order)
	});
	BfLayer		layer = bf_filter_layer(filter, filter->plan.header.layers - 1);
	Datum		read;
	BfFilter	copy;

	if (filter->plan.header.cell_bits != BF_CELL_BIT)
		return;
	read = call(bloomext_import_bits, 6, (Datum[]) {
		written, text_datum(order), Int64GetDatum(layer.bits), Int32GetDatum(layer.hashes),
		text_datum(filter->plan.strategy->name),
		text_datum(bf_funnel_name(filter->plan.strategy->funnels[BF_KIND_TEXT]))
	});
	bf_value_open(read, &copy);
	REQUIRE(memcmp(layer_bytes(&copy), filter->bytes + layer.offset, layer.bytes) == 0);
}

/* A filter is what it is united with itself, be it stored or not. */
static void
check_merge(Datum value, const BfFilter *filter)
{
	BfValue		copy;
	Datum		there = stored_datum(filter->bytes, filter->length, filter->length);

	bf_value_copy(there, &copy);
	REQUIRE(memcmp(copy.bytes, filter->bytes, filter->length) == 0);
	bf_value_merge_datum(&copy, there, &bf_merge_intersection);
	REQUIRE(memcmp(copy.bytes, filter->bytes, filter->length) == 0);
	bf_value_merge_datum(&copy, value, &bf_merge_intersection);
	REQUIRE(memcmp(copy.bytes, filter->bytes, filter->length) == 0);
	bf_value_merge_datum(&copy, value, &bf_merge_union);
	bf_value_merge_datum(&copy, there, &bf_merge_union);
	REQUIRE(copy.filter.plan.header.cell_bits == BF_CELL_COUNTER ||
			memcmp(layer_bytes(&copy.filter), layer_bytes(filter),
				   filter->length - BF_PREFIX_SIZE(filter->plan.header.layers)) == 0);
}

/* It has all elements of itself, be it stored or not. */
static void
check_covers(Datum value, const BfFilter *filter)
{
	Datum		there = stored_datum(filter->bytes, filter->length, filter->length);
	Datum		both[] = {value, there, value};

	REQUIRE(DatumGetBool(call(bloomext_covers, 2, both)));
	REQUIRE(DatumGetBool(call(bloomext_covers, 2, both + 1)));
}

/* Elements, hashed once by each strategy. */
static BfHash *
elements_of(const BfStrategy *strategy)
{
	static BfHash hashes[STRATEGIES + 1][ADDED];
	static bool hashed[STRATEGIES + 1];

	for (int i = 0; i < ADDED && !hashed[strategy->id]; i++)
		hash_element(strategy, (const uint8_t *) &i, sizeof(i), &hashes[strategy->id][i]);
	hashed[strategy->id] = true;
	return hashes[strategy->id];
}

/* What is added to it is there, and so is what it has held. */
static void
check_add(Datum value, const BfFilter *filter)
{
	BfHash	   *hashes = elements_of(filter->plan.strategy);
	BfValue		grown;

	bf_value_copy(value, &grown);
	REQUIRE(bf_value_put(&grown, &hashes[0]) == !bf_filter_contains(filter, &hashes[0]));
	bf_value_add(&grown, hashes, ADDED);
	for (int i = 0; i < ADDED; i++)
		REQUIRE(bf_filter_contains(&grown.filter, &hashes[i]));
	REQUIRE(!bf_value_put(&grown, &hashes[0]));
	REQUIRE(DatumGetBool(call(bloomext_covers, 2, (Datum[]) {
		PointerGetDatum(grown.varlena), value
	})));
	(void) call(bloomext_covers, 2, (Datum[]) {value, PointerGetDatum(grown.varlena)});
	exercise(grown.bytes, grown.filter.length);
}

/* What is said of it are numbers. */
static void
check_info(Datum value)
{
	double		fpp = DatumGetFloat8(call(bloomext_fpp, 1, &value));

	REQUIRE(fpp >= 0 && fpp <= 1);
	REQUIRE(DatumGetInt64(call(bloomext_count, 1, &value)) >= 0);
	(void) call(bloomext_info, 1, &value);
}

static void
convert(void *arg)
{
	const Bytes *bytes = arg;
	Datum		value = come_in(bytes);
	BfFilter	filter;

	bf_value_open(value, &filter);
	if (filter.length <= SHORT_VALUE)
	{
		exercise(filter.bytes, filter.length);
		open_slices(filter.bytes, filter.length);
		check_add(value, &filter);
	}
	check_info(value);
	check_merge(value, &filter);
	check_covers(value, &filter);
	check_bit_string(value, &filter, bit_strings[bytes->as % 2]);
	(void) call(bloomext_export_layer, 3, (Datum[]) {
		value, Int32GetDatum(bytes->numbers[0] % 4), text_datum("guava")
	});
	check_stream(value, &filter);
	(void) call(bloomext_to_bytea, 1, &value);
}

/* What lies in a table may be any bytes, for all that is known; none is a value. */
static void
read_stored(void *arg)
{
	const Bytes *bytes = arg;
	Datum		there = stored_datum(bytes->bytes, bytes->length, bytes->length);
	BfFilter	filter;
	BfValue		value;

	(void) bf_slice_read_prefix(there, &filter);
	bf_value_copy(there, &value);
	bf_value_merge_datum(&value, there, &bf_merge_union);
}

/* Of some bytes that lie in a table the last are lost: that is told. */
static Datum
store_cut(const Bytes *bytes)
{
	Size		lost = 1 + bytes->numbers[1] % bytes->length;

	return stored_datum(bytes->bytes, bytes->length - lost, bytes->length);
}

static void
copy_cut(void *arg)
{
	BfValue		value;

	bf_value_copy(store_cut(arg), &value);
	REQUIRE(false);
}

static void
merge_cut(void *arg)
{
	const Bytes *bytes = arg;
	BfValue		value;

	bf_value_copy(stored_datum(bytes->bytes, bytes->length, bytes->length), &value);
	bf_value_merge_datum(&value, store_cut(bytes), &bf_merge_union);
	REQUIRE(false);
}

/* Have a statement read what is stored; it says what is wrong there, if anything. */
static void
read_damaged(void (*statement) (void *arg), Bytes *bytes)
{
	int			sqlstate = run(statement, bytes);

	REQUIRE(sqlstate == 0 || sqlstate == ERRCODE_DATA_CORRUPTED ||
			sqlstate == ERRCODE_FEATURE_NOT_SUPPORTED ||
			sqlstate == ERRCODE_OUT_OF_MEMORY);
}

/* The bytes of an input, of exactly their length. */
static void
make_bytes(Input *input, Bytes *bytes)
{
	uint64_t	repeat = take(input, 1);
	size_t		place = take(input, 2);
	size_t		added = repeat > LONG ? (repeat - LONG) * LONG_UNIT : 0;

	place = Min(place, input->left);
	bytes->length = input->left + added;
	bytes->bytes = allocate(bytes->length);
	if (bytes->length == 0)
		return;
	memcpy(bytes->bytes, input->at, place);
	memset(bytes->bytes + place, place > 0 ? input->at[place - 1] : 0, added);
	memcpy(bytes->bytes + place + added, input->at + place, input->left - place);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};
	Bytes		bytes;
	int			sqlstate;

	bytes.way = take(&input, 1);
	bytes.as = take(&input, 1);
	bytes.strategy = take(&input, 1);
	bytes.numbers[0] = take(&input, 4);
	bytes.numbers[1] = take(&input, 4);
	make_bytes(&input, &bytes);

	sqlstate = run(convert, &bytes);
	REQUIRE(sqlstate == 0 || sqlstate == ERRCODE_INVALID_BINARY_REPRESENTATION ||
			sqlstate == ERRCODE_INVALID_PARAMETER_VALUE ||
			sqlstate == ERRCODE_FEATURE_NOT_SUPPORTED ||
			sqlstate == ERRCODE_PROGRAM_LIMIT_EXCEEDED ||
			sqlstate == ERRCODE_OUT_OF_MEMORY);
	may_be_damaged = true;
	read_damaged(read_stored, &bytes);
	if (bytes.length > 0)
	{
		read_damaged(copy_cut, &bytes);
		read_damaged(merge_cut, &bytes);
	}
	may_be_damaged = false;
	free(bytes.bytes);
	return 0;
}
