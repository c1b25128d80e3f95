/*
 * advise.c
 *	  bf_advise and bf_measure_fpp: what a filter really does.
 *
 * The textbook's formula holds for independent hash functions.  The originals
 * derive all positions from two, and in small or strict filters that shows:
 * each strategy says by how much.  The answer is nearly always to expect more
 * elements than there are, and bf_advise says how many.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/bytes.h"
#include "core/murmur3.h"
#include "strategy/filter.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_measure_fpp);

/*
 * bf_measure_fpp(bloomfilter, probes, seed): the part of `probes` random
 * elements, none of which was added, that the filter says it holds.  The
 * elements are 16 random bytes, hashed as they are: longer than any integer's
 * bytes, and too many for one of them to have been added.
 */
Datum
bloomext_measure_fpp(PG_FUNCTION_ARGS)
{
	int32		probes = PG_GETARG_INT32(1);
	uint8		counter[16];
	uint8		element[16];
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
		filter.strategy->hash(element, sizeof(element), &hash);
		found += bf_filter_contains(&filter, &hash);
	}
	PG_RETURN_FLOAT8((double) found / probes);
}
