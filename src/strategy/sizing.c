/*
 * sizing.c
 *	  What the sizing rules of several strategies share: their refusals.
 *
 * An original that computes a size beyond its limits fails, or (MagnusS, the
 * murmur3+city filter) goes on with garbage.  Here all of them fail, and with
 * the same words.
 */
#include <inttypes.h>

#include "strategy/sizing.h"

/* Refuse n = 0 where the original divides by it or makes a filter of no bits. */
bool
bf_sizing_needs_elements(const char *name, int64_t expected, BfError *error)
{
	if (expected > 0)
		return true;
	return bf_fail(error, BF_ERROR_PARAMETER,
				   "expected must be positive for strategy \"%s\", but is %" PRId64,
				   name, expected);
}

/*
 * Check bits (a whole number in a double, so that none is too large to be
 * named) and hashes against the limits, and make them a layer's.
 */
bool
bf_sizing_finish(const char *name, int64_t expected, double fpp, double bits,
				 double max_bits, int64_t hashes, BfLayer *layer,
				 BfError *error)
{
	if (!(bits >= 1))
		return bf_fail(error, BF_ERROR_LIMIT,
					   "bloom filter with expected %" PRId64 " and fpp %g has no bits",
					   expected, fpp);
	if (bits > max_bits)
		return bf_fail_hint(error, BF_ERROR_LIMIT, BF_HINT_SMALLER,
							"bloom filter with expected %" PRId64 " and fpp %g takes %.0f bits, more than the %.0f of strategy \"%s\"",
							expected, fpp, bits, max_bits, name);
	if (hashes > BF_MAX_HASHES)
		return bf_fail(error, BF_ERROR_LIMIT,
					   "fpp %g takes %" PRId64 " hash functions, more than %d",
					   fpp, hashes, BF_MAX_HASHES);
	layer->bits = (uint64_t) bits;
	layer->hashes = (uint32_t) hashes;
	return true;
}
