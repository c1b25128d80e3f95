/*
 * sizing.c
 *	  What the sizing rules of several strategies share: their refusals, and
 *	  Guava's rule, which Spark has taken over.
 *
 * If a size is beyond its limits, an original fails, or (magnuss, tale2009)
 * goes on with garbage.  Here all strategies fail, with the same message.
 */
#include <inttypes.h>

#include "core/javamath.h"
#include "strategy/sizing.h"

/*
 * Check bits (a whole number in a double, so that even the largest can be
 * reported) and hashes against the limits, and store them in a layer.
 */
bool
bf_sizing_finish(const char *name, int64_t expected, double fpp, double bits,
				 double max_bits, int64_t hashes, BfLayer *layer,
				 BfError *error)
{
	if (!(bits >= 1))
		return bf_fail_hint(error, BF_ERROR_LIMIT,
							"Expect more elements, or pass a lower fpp, such as 0.03.",
							"bloom filter with expected %" PRId64 " and fpp %g has no bits",
							expected, fpp);
	if (bits > max_bits)
		return bf_fail_hint(error, BF_ERROR_LIMIT, BF_HINT_SMALLER,
							"bloom filter with expected %" PRId64 " and fpp %g takes %.0f bits, more than the %.0f of strategy \"%s\"",
							expected, fpp, bits, max_bits, name);
	if (hashes > BF_MAX_HASHES)
		return bf_fail_hint(error, BF_ERROR_LIMIT,
							"Allow a higher fpp; 1e-70 takes fewer.",
							"fpp %g takes %" PRId64 " hash functions, more than %d",
							fpp, hashes, BF_MAX_HASHES);
	layer->bits = (uint64_t) bits;
	layer->hashes = (uint32_t) hashes;
	return true;
}

/*
 * Guava's BloomFilter.create(funnel, expected, fpp): optimalNumOfBits,
 * optimalNumOfHashFunctions.  Spark's is identical, except for n = 0, which
 * only Guava accepts (as 1).
 */
bool
bf_sizing_guava(int64_t expected, double fpp, BfLayer *layer, BfError *error)
{
	int64_t		bits;
	int64_t		hashes;

	if (expected == 0)
		expected = 1;
	bits = bf_java_long((double) -expected * log(fpp) / (BF_LN2 * BF_LN2));
	hashes = bf_java_round((double) bits / (double) expected * BF_LN2);
	if (hashes < 1)
		hashes = 1;
	/* Saturated bits stay saturated: they are over every limit anyway. */
	if (!bf_sizing_finish("guava", expected, fpp, (double) bits, INFINITY,
						  hashes, layer, error))
		return false;
	layer->bits = (layer->bits + 63) / 64 * 64;
	return true;
}

/*
 * The bits and hashes that a strategy gives n expected insertions at
 * probability p.  Parameters that make no sense for any original are refused
 * here; those that only some refuse, by their own size functions.
 */
bool
bf_strategy_size(const BfStrategy *strategy, int64_t expected, double fpp,
				 BfLayer *layer, BfError *error)
{
	if (expected < 0)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "expected must not be negative, but is %" PRId64,
					   expected);
	if (!(fpp > 0 && fpp < 1))
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "fpp must lie between 0 and 1, both excluded, but is %g",
					   fpp);
	if (expected == 0 && strategy->needs_elements)
		return bf_fail_hint(error, BF_ERROR_PARAMETER,
							"Expect at least 1 element.",
							"expected must be positive for strategy \"%s\", but is 0",
							strategy->name);
	return strategy->size(expected, fpp, layer, error);
}

/*
 * Whether an original can have a filter of these numbers of bits and hashes.
 * All that reads or makes filters of known bits asks this: what else a strategy
 * does relies on it.
 */
bool
bf_strategy_accepts(const BfStrategy *strategy, uint64_t bits, uint32_t hashes,
					BfError *error)
{
	if (strategy->fixed_hashes != 0 && hashes != strategy->fixed_hashes)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "number of hash functions must be %" PRIu32 " for strategy \"%s\", but is %" PRIu32,
					   strategy->fixed_hashes, strategy->name, hashes);
	if (bits % strategy->bits_multiple != 0)
		return bf_fail(error, BF_ERROR_LIMIT,
					   "number of bits must be a multiple of %" PRIu32 " for strategy \"%s\", but is %" PRIu64,
					   strategy->bits_multiple, strategy->name, bits);
	if (bits == 0 || bits > strategy->max_bits)
		return bf_fail(error, BF_ERROR_LIMIT,
					   "number of bits must be between 1 and %" PRIu64 " for strategy \"%s\", but is %" PRIu64,
					   strategy->max_bits, strategy->name, bits);
	return true;
}
