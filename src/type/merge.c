/*
 * merge.c
 *	  Unite and intersect compatible filters.
 *
 * Filters are merged cell by cell, so they must have the same strategy,
 * layers, cells and kind of elements.  An unbound filter is empty, and
 * compatible with any funnel.  A filter of unknown meaning is compatible with
 * any meaning for its funnel, and the result is of unknown meaning as well.
 *
 * If the strategy has blocks, filters of different sizes can be merged if
 * both have one layer and do not grow, and the number of blocks of the larger
 * is a multiple of the smaller's.  The larger is then folded
 * (bf_filter_fold).  This loses no element of either, whether they are united
 * or intersected.
 *
 * A stored filter is merged piece by piece as it is read, so only the bits of
 * the result are in memory.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "type/merge.h"
#include "type/toast_slices.h"

/* Whether filters have equal strategy, cells, and m, k of common layers. */
static bool
start_alike(const BfFilter *left, const BfFilter *right)
{
	BfLayer		b = right->plan.first;

	if (left->plan.strategy != right->plan.strategy ||
		left->plan.header.cell_bits != right->plan.header.cell_bits)
		return false;
	bf_foreach_layer(a, left)
	{
		if (b.index == right->plan.header.layers)
			break;
		if (a.bits != b.bits || a.hashes != b.hashes)
			return false;
		bf_filter_next_layer(right, &b);
	}
	return true;
}

/* Whether two filters have the same strategy, cells, layers, m and k. */
bool
bf_value_same_shape(const BfFilter *left, const BfFilter *right)
{
	return left->plan.header.layers == right->plan.header.layers &&
		start_alike(left, right);
}

/* Whether a filter is empty and not yet bound to a funnel. */
static bool
is_unbound(const BfFilter *filter)
{
	return filter->plan.header.funnel == BF_FUNNEL_UNBOUND;
}

/* Whether the elements of two filters may be of one kind. */
static bool
same_kind(const BfHeader *left, const BfHeader *right)
{
	return left->funnel == right->funnel &&
		(left->meaning == right->meaning ||
		 left->meaning == BF_MEANING_UNKNOWN ||
		 right->meaning == BF_MEANING_UNKNOWN ||
		 left->meaning == BF_MEANING_OPEN || right->meaning == BF_MEANING_OPEN);
}

/* Whether an element of one filter may be an element of another. */
static bool
may_share(const BfFilter *left, const BfFilter *right)
{
	return is_unbound(left) || is_unbound(right) ||
		same_kind(&left->plan.header, &right->plan.header);
}

/* Whether a filter can be folded to the size of another. */
static bool
folds_to(const BfFilter *larger, const BfFilter *smaller)
{
	const BfHeader *a = &larger->plan.header;
	const BfHeader *b = &smaller->plan.header;

	return larger->plan.strategy == smaller->plan.strategy &&
		larger->plan.strategy->blocks != NULL &&
		a->layers == 1 && b->layers == 1 &&
		a->expansion == 0 && b->expansion == 0 &&
		larger->plan.first.bytes > smaller->plan.first.bytes &&
		larger->plan.first.bytes % smaller->plan.first.bytes == 0;
}

/* Whether two filters can be merged. */
bool
bf_value_compatible(const BfFilter *left, const BfFilter *right)
{
	return may_share(left, right) &&
		(bf_value_same_shape(left, right) || folds_to(left, right) ||
		 folds_to(right, left));
}

/* Whether filters can be compared: merged except for the number of layers. */
bool
bf_value_comparable(const BfFilter *left, const BfFilter *right)
{
	return start_alike(left, right) && may_share(left, right) &&
		(left->plan.header.layers == right->plan.header.layers ||
		 left->plan.header.expansion == right->plan.header.expansion);
}

/* Describe what two filters may differ in, for a message. */
static char *
describe_shape(const BfFilter *filter)
{
	const char *funnel = bf_funnel_name(filter->plan.header.funnel);
	const char *elements = bf_meaning_name(filter->plan.header.meaning);

	return psprintf("%s%s, %s%s%s, bits: %llu, hashes: %u, layers: %u",
					filter->plan.header.cell_bits == BF_CELL_COUNTER ? "counting " : "",
					filter->plan.strategy->name, funnel ? funnel : "unbound",
					elements ? " of " : "", elements ? elements : "",
					(unsigned long long) filter->plan.first.bits,
					filter->plan.first.hashes, filter->plan.header.layers);
}

const BfMerge bf_merge_union = {bf_bits_or, bf_counters_add, true, true};
const BfMerge bf_merge_intersection = {bf_bits_and, bf_counters_min, false, false};

/*
 * Set the numbers of elements that a merged filter's layers count to upper
 * bounds: the sum of both, or the smaller one.  Counts that are too high only
 * make the filter grow early.
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

/* Raise that two filters are not compatible. */
void
bf_value_refuse(const BfFilter *left, const BfFilter *right)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("bloom filters are not compatible"),
			 errdetail("Left: %s. Right: %s.",
					   describe_shape(left), describe_shape(right)),
			 errhint("Create both filters with the same parameters, so that strategy, funnel, elements, layers, bits and hashes are equal.")));
}

/* Raise if two filters are not compatible. */
static void
check_compatible(const BfValue *into, const BfFilter *from)
{
	if (!bf_value_compatible(&into->filter, from))
		bf_value_refuse(&into->filter, from);
}

/* Whether two filters can be merged only if their bits are equal. */
static bool
must_be_same(const BfValue *into, const BfMerge *merge)
{
	return into->filter.plan.header.layers > 1 && !merge->across_layers;
}

/* Raise if the bits of two filters must be equal, and are not. */
static void
check_layers(const BfValue *into, const BfFilter *from, const BfMerge *merge)
{
	size_t		prefix = BF_PREFIX_SIZE(from->plan.header.layers);

	if (must_be_same(into, merge) &&
		memcmp(into->bytes + prefix, from->bytes + prefix,
			   from->length - prefix) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot intersect bloom filters of several layers"),
				 errdetail("An element that both filters contain may be in different layers, and would be lost."),
				 errhint("Look elements up in both filters, or build them large enough not to grow.")));
}

/*
 * Merge the cells of a compatible filter into a value's.  If only the prefix of
 * the filter was read, its cells are read from the stored datum.
 */
static void
merge_cells(BfValue *into, const BfFilter *from, Datum stored,
			const BfMerge *merge)
{
	size_t		prefix = BF_PREFIX_SIZE(from->plan.header.layers);
	BfArrayLoop loop = from->plan.header.cell_bits == BF_CELL_COUNTER ?
		merge->counters : merge->bits;

	if (from->whole)
		loop(into->bytes + prefix, from->bytes + prefix, from->length - prefix);
	else
		bf_slices_combine(loop, into->bytes + prefix, stored, prefix,
						  from->length);
}

/*
 * Make the filter of fewer blocks that a filter folds to, for the elements that
 * another one is sized for, in the current memory context.
 */
static void
fold_like(const BfFilter *filter, const BfFilter *smaller, BfValue *folded)
{
	BfPlan		plan = filter->plan;

	plan.first = smaller->plan.first;
	plan.header.expected = smaller->plan.header.expected;
	plan.header.fpp = smaller->plan.header.fpp;
	bf_value_make(&plan, folded);
	bf_filter_fold(filter, &folded->filter);
}

/* Replace a value by what it folds to, where its varlena is. */
static void
fold_value(BfValue *value, const BfFilter *smaller)
{
	struct varlena *old = value->varlena;
	BfFilter	larger = value->filter;
	MemoryContext caller = MemoryContextSwitchTo(GetMemoryChunkContext(old));

	/* What has a head before its bytes is merged with its own shape only. */
	Assert(value->bytes == (uint8 *) VARDATA(old));
	fold_like(&larger, smaller, value);
	MemoryContextSwitchTo(caller);
	pfree(old);
}

/* Bind a value to the funnel and meaning of a filter, if that is bound. */
static void
bind_value_like(BfValue *into, const BfFilter *from)
{
	if (!is_unbound(from))
		bf_value_bind(into, from->plan.header.funnel, from->plan.header.meaning);
}

/* Merge a compatible filter into a value, including its meaning. */
static void
merge_compatible(BfValue *into, const BfFilter *from, Datum stored,
				 const BfMerge *merge)
{
	const BfHeader *own = &into->filter.plan.header;

	if (is_unbound(&into->filter) || own->meaning == BF_MEANING_OPEN ||
		from->plan.header.meaning == BF_MEANING_UNKNOWN)
		bind_value_like(into, from);
	merge_cells(into, from, stored, merge);
	if (from->plan.strategy->counts_elements)
		merge_counted(into, from, merge->adds);
	into->newest.known = false;
}

/*
 * Merge a compatible filter into a value; 22023 if it is not.  The value may be
 * replaced by a smaller one, within its memory context: afterwards it is at
 * into->varlena.
 */
void
bf_value_merge(BfValue *into, const BfFilter *from, const BfMerge *merge)
{
	check_compatible(into, from);
	check_layers(into, from, merge);
	if (folds_to(&into->filter, from))
		fold_value(into, from);
	if (folds_to(from, &into->filter))
	{
		BfValue		folded;

		fold_like(from, &into->filter, &folded);
		merge_compatible(into, &folded.filter, (Datum) 0, merge);
		pfree(folded.varlena);
	}
	else
		merge_compatible(into, from, (Datum) 0, merge);
}

/* Check a value that was merged in pieces. */
static void
check_whole(BfValue *value)
{
	BfError		error;

	if (!bf_filter_open(value->bytes, value->filter.length,
						value->filter.length, &value->filter, &error))
		bf_raise_corrupted(&error);
}

/*
 * bf_value_merge() of a filter that may be stored, and is then read in pieces
 * unless it is to be folded.
 */
void
bf_value_merge_datum(BfValue *into, Datum from, const BfMerge *merge)
{
	bool		whole = !bf_slices_are_stored(from) || must_be_same(into, merge);
	BfFilter	filter;
	struct varlena *opened;

	if (!whole)
	{
		opened = bf_slice_read_prefix(from, &filter);
		check_compatible(into, &filter);
		whole = folds_to(&filter, &into->filter);
		if (whole)
			pfree(opened);
		else
		{
			if (folds_to(&into->filter, &filter))
				fold_value(into, &filter);
			merge_compatible(into, &filter, from, merge);
			check_whole(into);
		}
	}
	if (whole)
	{
		opened = bf_value_open(from, &filter);
		bf_value_merge(into, &filter, merge);
	}
	if (opened != (struct varlena *) DatumGetPointer(from))
		pfree(opened);
}
