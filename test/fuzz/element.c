/*
 * element.c
 *	  Fuzz how elements become bytes and hashes: text that need not be valid in the
 *	  database's encoding, other types, elements so long that there are pauses in their hashes.
 *
 * An input is a byte that says the strategy, one that says type and encoding, a byte
 * and two for a place by which the element is made longer, as in text.c, and its
 * bytes.  What follows the place in a longer one begins a byte before a piece may end.
 */
#include "fuzz.h"

#include <string.h>

#include "server.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "type/element_hash.h"
#include "type/shard.h"
#include "type/value.h"
#include "utils/date.h"

#define LONG			0xfb
#define LONG_UNIT		((size_t) 512 * 1024)

typedef struct Element
{
	const BfStrategy *strategy;
	uint8_t		type;
	uint8_t    *bytes;
	size_t		length;
} Element;

static const Oid types[] = {
	TEXTOID, TEXTOID, TEXTOID, BYTEAOID, BPCHAROID, NAMEOID, UUIDOID, INETOID,
	MACADDROID, BOOLOID, CHAROID, INT2OID, INT4OID, INT8OID, DATEOID, TIMESTAMPOID
};
static const pg_enc encodings[] = {PG_UTF8, PG_UTF8, PG_LATIN1, PG_SQL_ASCII};

/* The element as a datum of a type. */
static Datum
make_datum(const Element *element, Oid type)
{
	char		fixed[NAMEDATALEN] = "";

	memcpy(fixed, element->bytes, Min(element->length, NAMEDATALEN - 1));
	switch (type)
	{
		case TEXTOID:
		case BPCHAROID:
		case BYTEAOID:
			return bytes_datum(element->bytes, element->length);
		case INETOID:
			{
				/* Only what inet_in() makes: a family, its bits, its address. */
				bool		is_old = element->length > 0 && (element->bytes[0] & 1);
				char		inet[18] = {is_old ? 2 : 3};

				memcpy(inet + 1, fixed, 17);
				inet[1] = (uint8) inet[1] % (is_old ? 33 : 129);
				return bytes_datum((uint8 *) inet, is_old ? 6 : 18);
			}
		case NAMEOID:
		case UUIDOID:
		case MACADDROID:
			return PointerGetDatum(copy_bytes((uint8 *) fixed, type == NAMEOID ? NAMEDATALEN : type == UUIDOID ? 16 : 6));
		case BOOLOID:
			return BoolGetDatum(fixed[0] & 1);
		case CHAROID:
			return CharGetDatum(fixed[0]);
		case INT2OID:
			return Int16GetDatum(*(int16 *) fixed);
		case INT4OID:
		case DATEOID:
			return Int32GetDatum(*(int32 *) fixed);
		default:
			return Int64GetDatum(*(int64 *) fixed);
	}
}

/* What is hashable is hashed, the same every time, and found where it was added. */
static void
hash(void *arg)
{
	const Element *element = arg;
	Oid			type = types[element->type / lengthof(encodings) % lengthof(types)];
	BfElementType described;
	BfFunnel	funnel;
	Datum		value = make_datum(element, type);
	BfValue		filter;
	BfPlan		plan;
	bool		found[2];

	bf_element_type(type, InvalidOid, &described);
	for (funnel = BF_FUNNEL_UNBOUND + 1; funnel <= BF_FUNNEL_LAST; funnel++)
	{
		BfHash		first = {0};
		BfHash		second = {0};
		bool		hashable;

		if (!bf_element_fits(element->strategy, funnel, &described))
			continue;
		hashable = bf_element_is_hashable(funnel, &described, value);
		if (!bf_element_hash(element->strategy, funnel, &described, value, &first))
			continue;
		/* LATIN1 may be more than UTF-8 has; and a NUL, which no text has, ends what is verified. */
		REQUIRE(hashable || database_encoding == PG_LATIN1 ||
				memchr(element->bytes, '\0', element->length) != NULL);
		REQUIRE(bf_element_hash(element->strategy, funnel, &described, value, &second));
		REQUIRE(memcmp(first.word, second.word, sizeof(first.word)) == 0);
		bf_value_plan_bits(element->strategy, 768, 8, funnel, &plan);
		bf_value_make(&plan, &filter);
		bf_hash_reach(element->strategy, &first, 8);
		bf_filter_add(&filter.filter, &first, 1);
		REQUIRE(bf_filter_contains(&filter.filter, &second));
		bf_filter_contains_batch(&filter.filter, (BfHash[]) {first, second}, 2, found);
		REQUIRE(found[0] && found[1]);
		REQUIRE(bf_element_bind_to(&filter.filter.plan, &described) == funnel);
	}
	(void) bf_shard_find(element->strategy, &described, value, 7);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};
	Element		element = {bf_strategy_at(take(&input, 1) % STRATEGIES), take(&input, 1)};
	uint64_t	repeat = take(&input, 1);
	size_t		place = take(&input, 2);
	size_t		added = 0;
	int			sqlstate;

	database_encoding = encodings[element.type % lengthof(encodings)];
	place = Min(place, input.left);
	if (repeat > LONG)
		added = (repeat - LONG) * LONG_UNIT - 1 - place;
	element.length = input.left + added;
	element.bytes = allocate(element.length);
	memcpy(element.bytes, input.at, place);
	memset(element.bytes + place, place > 0 ? input.at[place - 1] : 'x', added);
	memcpy(element.bytes + place + added, input.at + place, input.left - place);
	sqlstate = run(hash, &element);
	REQUIRE(sqlstate == 0 || sqlstate == ERRCODE_CHARACTER_NOT_IN_REPERTOIRE ||
			sqlstate == ERRCODE_INVALID_PARAMETER_VALUE ||
			sqlstate == ERRCODE_FEATURE_NOT_SUPPORTED ||
			sqlstate == ERRCODE_OUT_OF_MEMORY);
	free(element.bytes);
	return 0;
}
