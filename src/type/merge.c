/*
 * merge.c
 *	  Unite and intersect filters, and say which go together.
 *
 * Filters combine cell by cell, so they must be of one strategy and have the
 * same cells in the same layers.  One that is unbound holds nothing and goes
 * with any funnel.
 */
#include "postgres.h"

#include "type/merge.h"

/* Whether two filters have the same strategy, cells, layers, m and k. */
bool
bf_value_same_shape(const BfFilter *left, const BfFilter *right)
{
	BfLayer		b = right->plan.first;

	if (left->plan.strategy != right->plan.strategy ||
		left->plan.header.cell_bits != right->plan.header.cell_bits ||
		left->plan.header.layers != right->plan.header.layers)
		return false;
	bf_foreach_layer(a, left)
	{
		if (a.bits != b.bits || a.hashes != b.hashes)
			return false;
		bf_filter_next_layer(right, &b);
	}
	return true;
}

/* Whether a filter holds nothing, so that any funnel could still be its own. */
static bool
is_unbound(const BfFilter *filter)
{
	return filter->plan.header.funnel == BF_FUNNEL_UNBOUND;
}

/* Whether what two filters hold may be of one kind. */
static bool
same_kind(const BfHeader *left, const BfHeader *right)
{
	return left->funnel == right->funnel &&
		(left->meaning == right->meaning ||
		 left->meaning == BF_MEANING_NONE || right->meaning == BF_MEANING_NONE);
}

/* Whether two filters can be merged. */
bool
bf_value_compatible(const BfFilter *left, const BfFilter *right)
{
	return bf_value_same_shape(left, right) &&
		(is_unbound(left) || is_unbound(right) ||
		 same_kind(&left->plan.header, &right->plan.header));
}

/* Describe a filter where it differs from another, for a message. */
static char *
describe_shape(const BfFilter *filter)
{
	const char *funnel = bf_funnel_name(filter->plan.header.funnel);

	return psprintf("%s%s, %s, bits: %llu, hashes: %u, layers: %u",
					filter->plan.header.cell_bits == BF_CELL_COUNTER ? "counting " : "",
					filter->plan.strategy->name, funnel ? funnel : "unbound",
					(unsigned long long) filter->plan.first.bits,
					filter->plan.first.hashes, filter->plan.header.layers);
}

const BfMerge bf_merge_union = {bf_bits_or, bf_counters_add, true, true};
const BfMerge bf_merge_intersection = {bf_bits_and, bf_counters_min, false, false};

/*
 * Bring up to date how many elements a merged filter's layers count: at most
 * as many as both together, or as the smaller of them.  Too many only makes it
 * grow early.
 */
static void
merge_counted(BfValue *into, const BfFilter *from, bool adds)
{
	BfLayer		b = from->plan.first;

	bf_foreach_layer(a, &into->filter)
	{
		uint64		counted = Min(a.counted, b.counted);

		if (adds && __builtin_add_overflow(a.counted, b.counted, &counted))
			counted = PG_UINT64_MAX;
		bf_filter_set_counted(&into->filter, a.index, counted);
		bf_filter_next_layer(from, &b);
	}
}

/* Merge the cells of a compatible filter into a value; 22023 if it is not. */
void
bf_value_merge(BfValue *into, const BfFilter *from, const BfMerge *merge)
{
	size_t		prefix = BF_PREFIX_SIZE(into->filter.plan.header.layers);
	bool		counters = from->plan.header.cell_bits == BF_CELL_COUNTER;

	if (!bf_value_compatible(&into->filter, from))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bloom filters are not compatible"),
				 errdetail("Left: %s. Right: %s.",
						   describe_shape(&into->filter), describe_shape(from)),
				 errhint("Filters combine when strategy, funnel, layers, bits and hashes are the same: create them with the same parameters.")));
	if (into->filter.plan.header.layers > 1 && !merge->across_layers &&
		memcmp(into->bytes + prefix, from->bytes + prefix,
			   from->length - prefix) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("bloom filters of several layers cannot be intersected"),
				 errdetail("An element that both hold may be in different layers of them, and would be lost."),
				 errhint("Ask both filters, or build them large enough not to grow.")));
	if (is_unbound(&into->filter) ||
		(into->filter.plan.header.meaning == BF_MEANING_NONE && !is_unbound(from)))
		bf_value_bind(into, from->plan.header.funnel, from->plan.header.meaning);
	bf_pieces_combine(counters ? merge->counters : merge->bits,
					  into->bytes + prefix, from->bytes + prefix,
					  from->length - prefix);
	if (from->plan.strategy->counts_elements)
		merge_counted(into, from, merge->adds);
	into->newest.known = false;
}
