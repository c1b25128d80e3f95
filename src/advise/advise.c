/*
 * advise.c
 *	  bf_advise and bf_measure_fpp: the actual false positive probability of a
 *	  filter.
 *
 * The textbook formula assumes independent hash functions.  Most original
 * implementations derive all positions of an element from two or four words,
 * so the actual probability, which bf_real_fpp() computes, is higher, most of
 * all if the filter or p is small.  It nearly always helps to size the filter
 * for more elements than it will hold; bf_advise says for how many.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "advise/real_fpp.h"
#include "core/bytes.h"
#include "core/murmur3.h"
#include "type/arguments.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_advise);
PG_FUNCTION_INFO_V1(bloomext_measure_fpp);

/* The longest value whose digits PostgreSQL's scanner takes as a literal. */
#define INSERTS_MAX_BYTES	((uint64) 256 * 1024 * 1024 - 2)

/* Above this multiple of the requested probability, there is advice. */
#define TOLERANCE			1.1

/* Column of the actual probability in bf_advise's row. */
#define AT_REAL_FPP			3

/* Expecting this many times the number of elements is not useful advice. */
#define MOST_TIMES			64

/* Precision of the search for the least sufficient expectation. */
#define CLOSE				(1.0 / 16)

/* A requested filter, and what is found out about it. */
typedef struct Advice
{
	const BfStrategy *strategy;
	int64		expected;
	double		fpp;
	BfLayer		shape;
	uint64		value_bytes;
	double		real_fpp;
	bool		fits_value;
	bool		fits_redis;
	bool		fits_dump;
	BfFppWork  *work;
} Advice;

/* A number of elements to size a filter for, and its actual probability. */
typedef struct Expectation
{
	int64		expected;
	double		fpp;
} Expectation;

/* The actual fpp of a filter of some shape at the expected elements. */
static double
real_fpp(const Advice *advice, const BfLayer *shape)
{
	const BfBlocks *blocks = advice->strategy->blocks;
	int64		elements = Max(advice->expected, 1);

	if (blocks != NULL)
		return blocks->real_fpp((double) elements, shape->bits);
	return bf_real_fpp(advice->strategy->derivation, shape->bits, shape->hashes,
					   (uint64) elements, advice->work);
}

/* The actual fpp of a filter sized for another number; 1 if none exists. */
static double
fpp_made_for(const Advice *advice, int64 expected)
{
	BfLayer		shape;
	BfError		error;

	if (!bf_strategy_size(advice->strategy, expected, advice->fpp, &shape,
						  &error))
		return 1;
	return real_fpp(advice, &shape);
}

/*
 * Where to look for the least sufficient expectation between an insufficient
 * one and a sufficient one: where the line between the logarithms of their
 * probabilities crosses the requested one, then slightly to its other side;
 * every third time halfway, as the curve may not be a line.
 */
static int64
look_between(const Advice *advice, const Expectation *low,
			 const Expectation *high, int step, bool was_enough)
{
	double		ratio = log((double) high->expected / (double) low->expected);
	double		part = log(low->fpp / advice->fpp) /
		log(low->fpp / Max(high->fpp, DBL_MIN));
	double		guess = (double) low->expected *
		exp(step % 3 == 2 ? ratio / 2 : part * ratio + (was_enough ? -1 : 1) * CLOSE / 3);

	return (int64) Min(Max(guess, (double) low->expected + 1),
					   (double) high->expected - 1);
}

/*
 * The least expectation that actually gives the requested probability, within
 * some percent; 0 if there is none worth naming, which is checked first, as
 * each step may take long if p is strict.
 */
static int64
sufficient_expectation(const Advice *advice)
{
	Expectation low = {Max(advice->expected, 1), advice->real_fpp};
	Expectation high;
	bool		is_enough = false;

	if (low.expected > PG_INT64_MAX / MOST_TIMES)
		return 0;
	high.expected = low.expected * MOST_TIMES;
	high.fpp = fpp_made_for(advice, high.expected);
	if (high.fpp > advice->fpp)
		return 0;
	for (int step = 0; (double) (high.expected - low.expected) >
		 Max(CLOSE * (double) low.expected, 1); step++)
	{
		Expectation middle;

		middle.expected = look_between(advice, &low, &high, step, is_enough);
		middle.fpp = fpp_made_for(advice, middle.expected);
		is_enough = middle.fpp <= advice->fpp;
		if (is_enough)
			high = middle;
		else
			low = middle;
	}
	return high.expected;
}

/*
 * Say what the original would make, and the next power of two, which is all
 * that some programs read.
 */
static void
say_usual_bits(const Advice *advice, StringInfo text)
{
	const BfStrategy *strategy = advice->strategy;
	uint64		usual = strategy->usual_bits(advice->expected, advice->fpp);
	BfLayer		shape = {.bits = usual,.hashes = advice->shape.hashes};

	appendStringInfo(text,
					 "Other programs make %llu bits for that, with %.3g times the false positives asked for: bf_create_bits(%llu, %u, '%s'). ",
					 (unsigned long long) usual,
					 real_fpp(advice, &shape) / advice->fpp,
					 (unsigned long long) usual, shape.hashes, strategy->name);
	shape.bits = pg_nextpower2_64(advice->shape.bits);
	if (shape.bits != advice->shape.bits && shape.bits != usual)
		appendStringInfo(text,
						 "Arrow C++ reads powers of two alone: bf_create_bits(%llu, %u, '%s'). ",
						 (unsigned long long) shape.bits, shape.hashes,
						 strategy->name);
}

/* Say what to pass instead, or that it is fine. */
static text *
advice_text(const Advice *advice)
{
	const BfStrategy *strategy = advice->strategy;
	int64		enough;
	StringInfoData text;

	initStringInfo(&text);
	if (!advice->fits_value)
		appendStringInfoString(&text,
							   "A PostgreSQL value holds at most 1 GB: split the elements over several filters, or accept more false positives. ");
	else if (!advice->fits_dump)
		appendStringInfoString(&text,
							   "pg_dump cannot write it: copy it with FORMAT binary, or split the elements over several filters. ");
	else if (advice->value_bytes > INSERTS_MAX_BYTES)
		appendStringInfoString(&text,
							   "pg_dump writes it, but not with --inserts. ");
	if (advice->fits_value && !advice->fits_redis)
		appendStringInfoString(&text,
							   "A Redis string holds at most 512 MB: mirror it with shards, or split the elements over several filters. ");
	if (strategy->wide != NULL && advice->shape.bits > strategy->wide_from)
		appendStringInfo(&text,
						 "Positions of %s have 31 bits, too few for this filter: use strategy %s. ",
						 strategy->name, strategy->wide->name);
	else if (strategy->derivation_is_unknown)
		appendStringInfo(&text,
						 "The actual false positive probability of %s is not known: measure it with bf_measure_fpp. ",
						 strategy->name);
	else if (advice->real_fpp > advice->fpp * TOLERANCE)
	{
		appendStringInfo(&text,
						 "The derivation of %s gives %.1f times the false positives asked for. ",
						 strategy->name, advice->real_fpp / advice->fpp);
		enough = sufficient_expectation(advice);
		if (enough > 0)
			appendStringInfo(&text,
							 "Pass expected => " INT64_FORMAT " for " INT64_FORMAT " elements. ",
							 enough, advice->expected);
		else
			appendStringInfoString(&text,
								   "No size of this strategy fixes that: use another one. ");
	}
	if (text.len == 0)
		appendStringInfoString(&text, "Fine as it is. ");
	if (strategy->usual_bits != NULL)
		say_usual_bits(advice, &text);
	return cstring_to_text_with_len(text.data, text.len - 1);
}

/* How large the filter is, and where it fits. */
static void
find_limits(Advice *advice)
{
	const BfStream *stream = advice->strategy->stream;
	uint64		redis_bytes = (advice->shape.bits + 7) / 8 +
		(stream != NULL ? stream->head_size : 0);

	advice->value_bytes = BF_PREFIX_SIZE(1) + (advice->shape.bits + 63) / 64 * 8;
	advice->fits_value = advice->value_bytes <= MaxAllocSize - VARHDRSZ;
	advice->fits_redis = redis_bytes <= BF_REDIS_MAX_BYTES;
	advice->fits_dump = advice->fits_value &&
		bf_value_has_text(advice->value_bytes);
}

/*
 * bf_advise(expected, fpp, strategy): the filter for these parameters, its
 * actual false positive probability at `expected` elements (NULL if unknown),
 * whether it fits, and what to pass instead.  22023 and 54000 if there is no
 * such filter.
 */
Datum
bloomext_advise(PG_FUNCTION_ARGS)
{
	Advice		advice = {
		.strategy = bf_strategy_argument(fcinfo, 2),
		.expected = PG_GETARG_INT64(0),
		.fpp = PG_GETARG_FLOAT8(1),
		.work = palloc(sizeof(BfFppWork))
	};
	BfError		error;
	Datum		values[8];
	bool		nulls[8] = {false};

	if (!bf_strategy_size(advice.strategy, advice.expected, advice.fpp,
						  &advice.shape, &error))
		bf_raise(&error);
	if (advice.shape.bits > PG_INT64_MAX - 1024)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("number of bits of the filter is out of range for type bigint"),
				 errhint(BF_HINT_SMALLER)));
	find_limits(&advice);
	nulls[AT_REAL_FPP] = advice.strategy->derivation_is_unknown;
	if (!nulls[AT_REAL_FPP])
		advice.real_fpp = real_fpp(&advice, &advice.shape);

	values[0] = Int64GetDatum((int64) advice.shape.bits);
	values[1] = Int32GetDatum(advice.shape.hashes);
	values[2] = Int64GetDatum((int64) advice.value_bytes);
	values[AT_REAL_FPP] = Float8GetDatum(advice.real_fpp);
	values[4] = BoolGetDatum(advice.fits_value);
	values[5] = BoolGetDatum(advice.fits_redis);
	values[6] = PointerGetDatum(advice_text(&advice));
	values[7] = BoolGetDatum(advice.fits_dump);
	return bf_row(fcinfo, values, nulls, lengthof(values));
}

/*
 * bf_measure_fpp(bloomfilter, probes, seed): the fraction of `probes` random
 * elements that the filter reports as present.  An element is 16 random bytes,
 * hashed as they are: longer than any integer, and too random to have been
 * added.
 */
Datum
bloomext_measure_fpp(PG_FUNCTION_ARGS)
{
	int32		probes = PG_GETARG_INT32(1);
	uint8		counter[16];
	uint8		element[16];
	uint32		digests[BF_MAX_DIGESTS][4];
	int32		found = 0;
	BfFilter	filter;

	if (probes < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of probes must be at least 1, but is %d", probes)));
	bf_value_open(PG_GETARG_DATUM(0), &filter);
	bf_store_le64(counter, (uint64) PG_GETARG_INT64(2));
	for (int32 i = 0; i < probes; i++)
	{
		uint64		h1;
		uint64		h2;
		BfHash		hash;

		CHECK_FOR_INTERRUPTS();
		bf_store_le64(counter + 8, i);
		bf_murmur3_x64_128(counter, sizeof(counter), &h1, &h2);
		bf_store_le64(element, h1);
		bf_store_le64(element + 8, h2);
		filter.plan.strategy->hash(element, sizeof(element), &hash);
		/* One buffer for the digests of all probes. */
		hash.digests = digests;
		found += bf_filter_contains(&filter, &hash);
	}
	PG_RETURN_FLOAT8((double) found / probes);
}
