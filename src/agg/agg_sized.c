/*
 * agg_sized.c
 *	  bf_agg(element, expected, fpp, strategy, expansion): a filter of known
 *	  size over rows; and what bf_agg_into(filter, element) shares with it.
 *
 * Plan.  All rows of a group, and the partial states of several processes,
 * must have the same plan, which describes the empty filter that the group
 * starts from: a header and a layer.  It is made from the parameters of
 * bf_agg, or taken from the filter given to bf_agg_into (agg_into.c).
 *
 * State.  A group starts as a short list of hashes, which becomes the filter
 * when the list would be larger than the filter.  So a hundred thousand
 * groups of few elements take memory for those elements, not for the expected
 * number.  Once there is a filter, hashes are collected in a batch, whose
 * cache lines bf_filter_add() prefetches together.  Strategies that hash
 * again for every few positions have no hash to keep, so their elements are
 * added immediately.
 *
 * Parallel.  Each worker, or node, has a state.  It is serialized as the
 * value (or its prefix only, while there is only the list) and the list (see
 * partial.h).  States are combined by OR, counters by adding, so the result
 * does not depend on which process saw a row.  States with different plans
 * are refused, like rows with different parameters.  If a filter will be
 * serialized, it is made with room for the header in front of it, so that it
 * need not be copied.
 *
 * A partial state with few elements is a short message.  It lists hashes of
 * two words, (nearly) each once, up to half the length of the bits, so while
 * the list is turned into a filter the two take one and a half times the
 * filter's memory.  Sparse bits are packed if they are sent to another node
 * (between processes of one node that would cost more than it saves).  So an
 * element takes at most 16 bytes, or 20 in filters with more than 15 hashes.
 * Counters must count each occurrence, so their list keeps repetitions, and
 * is limited to a small size.
 *
 * If another aggregate calls (see agg.c), a state is assumed to be partial.
 * If it turns out not to be, the final function removes the room for the
 * header.
 *
 * Growing.  Filters that grew separately cannot be merged without breaking
 * the promise of p: layers side by side would add up to p for each worker,
 * and merged layers would be over-full.  So the form of bf_agg with an
 * expansion has no combine function.  bf_agg_into refuses filters that grow,
 * as a statement must not fail or succeed depending on whether its table is
 * large enough for workers.
 *
 * Counting elements.  RedisBloom counts the elements that were new when they
 * were added, so the number depends on the order of the rows, by a few false
 * positives.  If two states have bits, the elements in both are not known, so
 * the sum of their counts is limited to the number estimated from the
 * combined bits.
 *
 * Final functions return the state's own filter, if there is one, which was
 * made in the memory context that the executor expects.  They do not change
 * what the state contains: the batch is added to the filter, and a list of
 * hashes is sorted in place and deduplicated, which may happen at any row.
 * So they are READ_ONLY, and may be called again.  The next frame of a window
 * adds to the filter that was returned for its last row.  By then that row
 * has been processed, and the executor keeps a copy for rows of the same
 * frame.
 *
 * No rows.  The plan is made from the call's expressions: see agg.c.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "agg/agg_sized.h"
#include "agg/hashlist.h"
#include "core/estimate.h"
#include "strategy/filter.h"
#include "strategy/partial.h"
#include "type/add.h"
#include "type/arguments.h"
#include "type/merge.h"
#include "type/overfull.h"

PG_FUNCTION_INFO_V1(bloomext_agg_add);
PG_FUNCTION_INFO_V1(bloomext_agg_combine);
PG_FUNCTION_INFO_V1(bloomext_agg_serialize);
PG_FUNCTION_INFO_V1(bloomext_agg_deserialize);
PG_FUNCTION_INFO_V1(bloomext_agg_final);

/* Maximum length of a list before the filter is made. */
#define LIST_LIMIT		1024

/* The default strategy of bf_agg. */
#define DEFAULT_STRATEGY	"guava"

/* Maximum number of hashes in a message between processes. */
#define LISTED_MAXIMUM	((MaxAllocSize - 1024) / BF_SORTED_BYTES)

struct BfSizedState
{
	BfAggState	agg;
	BfPlan		plan;
	bool		saw_rows;		/* or is the plan from the call? */
	bool		distinct;		/* does the list keep each hash once? */
	uint64		added;			/* elements, repetitions included */
	MemoryContext context;		/* of everything except the filter */
	MemoryContext filter_context;
	Size		head;			/* bytes before the filter, for its message */
	BfHashList	list;			/* not in the filter yet */
	uint32		list_limit;		/* its maximum length before it goes there */
	BfValue		value;			/* varlena is NULL while there is only a list */
	const uint8 *packed;		/* bits of a state that was read, or NULL */
	Size		packed_length;
	BfHash	   *batch;			/* elements still to be added there, or NULL */
	uint32		batched;
};

/* Is this the state of one process among several? */
static bool
is_partial(FunctionCallInfo fcinfo)
{
	return !bf_agg_has_expression(fcinfo) ||
		(IsA(fcinfo->context, AggState) &&
		 DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit));
}

/* Maximum number of hashes that a state lists before it makes its filter. */
static uint32
limit_of_list(const BfSizedState *state)
{
	uint64		bytes = bf_layer_bytes(state->plan.first.bits,
									   state->plan.header.cell_bits);

	if (state->distinct)
		return Min(LISTED_MAXIMUM, bytes / 2 / BF_SORTED_BYTES);
	if (state->list.width > 0)
		return Min(LIST_LIMIT, bytes / (state->list.width * sizeof(uint64)));
	return 0;
}

/* Make a state that starts from a plan. */
static BfSizedState *
make_sized_state(MemoryContext context, const BfPlan *plan, bool partial)
{
	BfSizedState *state = MemoryContextAllocZero(context, sizeof(BfSizedState));
	const BfStrategy *strategy = plan->strategy;

	state->plan = *plan;
	state->context = context;
	state->list.width = strategy->words;
	state->distinct = partial && strategy->words == BF_SORTED_WORDS &&
		plan->header.cell_bits == BF_CELL_BIT;
	state->list_limit = limit_of_list(state);
	return state;
}

/* Make a state in a context, and later its filter in another. */
static BfSizedState *
make_state_in(FunctionCallInfo fcinfo, const BfPlan *plan, bool partial,
			  MemoryContext context, MemoryContext filter_context)
{
	BfSizedState *state;

	state = make_sized_state(context, plan, partial);
	state->filter_context = filter_context;
	state->head = is_partial(fcinfo) ? BF_PARTIAL_HEAD : 0;
	return state;
}

/* Make the state of a group, in the memory of the group. */
static BfSizedState *
make_group_state(FunctionCallInfo fcinfo, const BfPlan *plan, bool partial)
{
	return make_state_in(fcinfo, plan, partial, bf_agg_context(fcinfo),
						 bf_agg_result_context(fcinfo));
}

/* Make the state of a group at its first row. */
BfSizedState *
bf_sized_state(FunctionCallInfo fcinfo, const BfPlan *plan,
			   BfElementType *site)
{
	BfSizedState *state = make_group_state(fcinfo, plan, is_partial(fcinfo));

	state->agg.site = site;
	state->saw_rows = true;
	return state;
}

/* Whether two plans are of equal filters, made from equal parameters. */
static bool
same_plan(const BfPlan *a, const BfPlan *b)
{
	return a->header.expected == b->header.expected &&
		a->header.fpp == b->header.fpp &&
		a->header.expansion == b->header.expansion &&
		a->header.strategy == b->header.strategy &&
		a->header.funnel == b->header.funnel &&
		a->header.meaning == b->header.meaning &&
		a->header.cell_bits == b->header.cell_bits &&
		a->first.bits == b->first.bits &&
		a->first.hashes == b->first.hashes &&
		a->first.expected == b->first.expected &&
		a->first.fpp == b->first.fpp;
}

/* Raise if a row has another plan than the first one. */
void
bf_sized_check(const BfSizedState *state, const BfPlan *plan,
			   const char *aggregate)
{
	if (!same_plan(&state->plan, plan))
		bf_agg_refuse_row(aggregate);
}

/* Move the batch into the filter. */
static void
flush_batch(BfSizedState *state)
{
	bf_value_add(&state->value, state->batch, state->batched);
	state->batched = 0;
}

/*
 * Start the filter, empty or with the bits of another one of the plan, and
 * move the list there.  From then on elements are added by the batch, unless
 * they have digests.
 */
static void
start_filter(BfSizedState *state, const BfFilter *other)
{
	MemoryContext old = MemoryContextSwitchTo(state->filter_context);

	if (other == NULL)
		bf_value_make_behind(state->head, &state->plan, &state->value);
	else
		bf_value_copy_behind(state->head, other, &state->value);
	MemoryContextSwitchTo(old);
	if (state->list.width > 0)
		state->batch = MemoryContextAlloc(state->context,
										  BF_BATCH * sizeof(BfHash));
	bf_hashlist_add_to(&state->list, &state->value);
	bf_hashlist_free(&state->list);
}

/* Whether the list has room for a hash, perhaps after deduplication. */
static bool
has_room(BfSizedState *state)
{
	if (state->distinct)
		return bf_hashlist_make_room(&state->list, state->list_limit);
	return state->list.count < state->list_limit;
}

/* List a hash; a list that is full becomes the filter. */
static void
list_hash(BfSizedState *state, BfHash *hash)
{
	if (has_room(state))
		bf_hashlist_add(&state->list, state->context, hash);
	else
	{
		start_filter(state, NULL);
		bf_value_add(&state->value, hash, 1);
	}
}

/* Add a hash if there is no batch. */
static void
add_hash(BfSizedState *state, BfHash *hash)
{
	if (state->list.width > 0)
		list_hash(state, hash);
	else
	{
		if (state->value.varlena == NULL)
			start_filter(state, NULL);
		bf_value_add(&state->value, hash, 1);
	}
}

/* bf_sized_add(), inlined in both callers. */
static pg_attribute_always_inline void
take_element(BfSizedState *state, const BfElementType *element, Datum value)
{
	BfHash		alone;
	BfHash	   *hash = state->batch != NULL ?
		&state->batch[state->batched] : &alone;

	if (!bf_element_hash(state->plan.strategy, state->plan.header.funnel,
						 element, value, hash))
		bf_element_does_not_fit(element, value);
	state->added++;
	if (state->batch == NULL)
		add_hash(state, hash);
	else if (++state->batched == BF_BATCH)
		flush_batch(state);
}

/* Add an element to a state. */
void
bf_sized_add(BfSizedState *state, BfElementType *element, Datum value)
{
	bf_element_go_into(element, (BfMeaning) state->plan.header.meaning);
	take_element(state, element, value);
}

/*
 * The state of a call that saw no row: its plan is made from the call's
 * expressions.  NULL if those depend on rows.
 */
static BfSizedState *
state_of_no_rows(FunctionCallInfo fcinfo, BfSizedPlanner planner)
{
	List	   *arguments;
	BfPlan		plan;

	if (!bf_agg_arguments(fcinfo, &arguments) ||
		!planner(fcinfo, arguments, &plan))
		return NULL;
	return make_sized_state(CurrentMemoryContext, &plan, is_partial(fcinfo));
}

/* The state that a final or serialization function is called with. */
static BfSizedState *
state_argument(FunctionCallInfo fcinfo, BfSizedPlanner planner)
{
	BfSizedState *state;

	bf_agg_context(fcinfo);
	if (PG_ARGISNULL(0))
		return state_of_no_rows(fcinfo, planner);
	state = (BfSizedState *) PG_GETARG_POINTER(0);
	if (state->batched > 0)
		flush_batch(state);
	return state;
}

/* Limit the elements counted to the estimate by the bits of the only layer. */
static void
count_by_bits(BfFilter *filter)
{
	uint64		estimate = bf_estimate_count(bf_layer_count(filter, &filter->plan.first),
											 filter->plan.first.bits,
											 filter->plan.first.hashes);

	bf_filter_set_counted(filter, 0, Min(filter->plan.first.counted, estimate));
}

/* Add the filter of another state of the plan. */
static void
add_filter(BfSizedState *into, const BfFilter *other)
{
	if (into->value.varlena == NULL)
	{
		start_filter(into, other);
		return;
	}
	bf_value_merge(&into->value, other, &bf_merge_union);
	if (other->plan.strategy->counts_elements)
		count_by_bits(&into->value.filter);
}

/*
 * Add the list of another state of the plan: to the list if that has room for
 * all of it, else to the filter.
 */
static void
add_list(BfSizedState *into, const BfHashList *list)
{
	bool		fits = list->count <= into->list_limit - into->list.count;

	if (into->value.varlena == NULL && !fits)
		start_filter(into, NULL);
	if (into->value.varlena != NULL)
	{
		bf_hashlist_add_to(list, &into->value);
		return;
	}
	for (uint32 i = 0; i < list->count; i++)
	{
		BfHash		hash;

		CHECK_FOR_INTERRUPTS();
		bf_hashlist_get(list, i, &hash);
		if (fits)
			bf_hashlist_add(&into->list, into->context, &hash);
		else
			list_hash(into, &hash);
	}
}

/* Add the packed bits of another state of the plan. */
static void
add_packed(BfSizedState *into, const uint8 *packed, Size length)
{
	const BfLayer *layer = &into->plan.first;
	uint8	   *bits;

	if (into->value.varlena == NULL)
		start_filter(into, NULL);
	bits = into->value.bytes + layer->offset;
	if (!bf_bits_or_packed(bits, layer->bytes, packed, length) ||
		!bf_bits_tail_is_zero(bits, layer->bytes, layer->bits))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("malformed bloom filter: invalid packed bits")));
}

/* Add another state of the plan. */
static void
add_state(BfSizedState *into, const BfSizedState *from)
{
	if (from->value.filter.whole)
		add_filter(into, &from->value.filter);
	if (from->packed != NULL)
		add_packed(into, from->packed, from->packed_length);
	add_list(into, &from->list);
	into->added += from->added;
	into->saw_rows |= from->saw_rows;
}

/*
 * Combine two partial states into the first.  A state that saw no row is
 * ignored, with its plan, whose expressions may be volatile.
 */
Datum
bloomext_agg_combine(PG_FUNCTION_ARGS)
{
	BfSizedState *into = PG_ARGISNULL(0) ? NULL : (BfSizedState *) PG_GETARG_POINTER(0);
	BfSizedState *from = PG_ARGISNULL(1) ? NULL : (BfSizedState *) PG_GETARG_POINTER(1);

	bf_agg_context(fcinfo);
	if (from == NULL || (into != NULL && !from->saw_rows))
	{
		if (into == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(into);
	}
	if (into == NULL || !into->saw_rows)
		into = make_group_state(fcinfo, &from->plan, true);
	else if (!same_plan(&into->plan, &from->plan))
		bf_agg_refuse_row(bf_agg_name(fcinfo));
	add_state(into, from);
	PG_RETURN_POINTER(into);
}

/*
 * The length of a state's bits when packed for another node; 0 if it has none,
 * or packing would not save a quarter of them.
 */
static Size
length_packed(FunctionCallInfo fcinfo, const BfSizedState *state)
{
	const BfLayer *layer = &state->plan.first;
	uint64		length;

	if (bf_agg_has_expression(fcinfo) || state->value.varlena == NULL ||
		state->plan.header.cell_bits != BF_CELL_BIT)
		return 0;
	length = bf_bits_packed(state->value.bytes + layer->offset, layer->bytes);
	return length <= layer->bytes / 4 * 3 ? length : 0;
}

/* Describe a state for its message. */
static void
describe_state(FunctionCallInfo fcinfo, BfSizedState *state,
			   BfPartial *partial)
{
	BfError		error;

	partial->saw_rows = state->saw_rows;
	partial->words = state->list.width;
	partial->listed = state->list.count;
	partial->added = state->added;
	partial->filter = state->value.filter;
	partial->packed_length = length_packed(fcinfo, state);
	if (partial->packed_length > 0)
		partial->filter.whole = false;
	if (state->value.varlena == NULL &&
		!bf_plan_measure(&state->plan, &partial->filter.length, &error))
		bf_raise(&error);
}

/*
 * Copy a state to its message, after room for the header: the filter, or its
 * prefix and perhaps its packed bits, then the list.
 */
static bytea *
copy_state(const BfSizedState *state, const BfPartial *partial)
{
	const BfFilter *filter = &partial->filter;
	Size		value = filter->whole ? filter->length :
		BF_PREFIX_SIZE(1) + partial->packed_length;
	bytea	   *result = bf_value_allocate(CurrentMemoryContext,
										   BF_PARTIAL_HEAD + value +
										   bf_hashlist_bytes(&state->list));
	uint8	   *out = (uint8 *) VARDATA(result) + BF_PARTIAL_HEAD;

	if (filter->whole)
		memcpy(out, filter->bytes, value);
	else
		bf_plan_encode(&state->plan, out);
	if (partial->packed_length > 0)
		bf_bits_pack(state->value.bytes + state->plan.first.offset,
					 state->plan.first.bytes, out + BF_PREFIX_SIZE(1));
	bf_hashlist_write(&state->list, out + value);
	return result;
}

/* State -> bytea, as in partial.h. */
Datum
bf_sized_serialize(FunctionCallInfo fcinfo, BfSizedPlanner planner)
{
	BfSizedState *state = state_argument(fcinfo, planner);
	BfPartial	partial;
	bytea	   *result;

	if (state == NULL)
		PG_RETURN_NULL();
	if (state->distinct)
		bf_hashlist_shorten(&state->list);
	describe_state(fcinfo, state, &partial);
	result = partial.filter.whole && state->head > 0 ?
		state->value.varlena : copy_state(state, &partial);
	bf_partial_write_head(&partial, (uint8 *) VARDATA(result));
	PG_RETURN_BYTEA_P(result);
}

/* Open a partial state without copying its bytes. */
static void
open_state(bytea *data, BfSizedState *state)
{
	BfPartial	partial;
	BfError		error;

	if (!bf_partial_open(DatumGetBfBytes(data), VARSIZE_ANY_EXHDR(data),
						 &partial, &error))
		bf_raise(&error);
	state->plan = partial.filter.plan;
	state->saw_rows = partial.saw_rows;
	state->added = partial.added;
	bf_hashlist_read(&state->list, partial.words, partial.listed,
					 partial.hashes);
	state->value.filter = partial.filter;
	state->packed = partial.packed;
	state->packed_length = partial.packed_length;
}

/*
 * bytea -> state, in the current, short-lived context: bloomext_agg_combine()
 * copies what it needs, so the bits are not copied here.  Callers other than
 * the executor may use the result as a group's state, and get a complete one.
 */
Datum
bloomext_agg_deserialize(PG_FUNCTION_ARGS)
{
	BfSizedState *opened = palloc0(sizeof(BfSizedState));
	BfSizedState *state;

	bf_agg_context(fcinfo);
	open_state(PG_GETARG_BYTEA_PP(0), opened);
	if (bf_agg_has_expression(fcinfo))
		PG_RETURN_POINTER(opened);
	state = make_state_in(fcinfo, &opened->plan, true, CurrentMemoryContext,
						  CurrentMemoryContext);
	add_state(state, opened);
	PG_RETURN_POINTER(state);
}

/*
 * State -> bloomfilter: its own, or one made of its list, which is kept.  `advice`
 * says what to do if that is over-full.
 */
Datum
bf_sized_final(FunctionCallInfo fcinfo, BfSizedPlanner planner, const char *advice)
{
	BfSizedState *state = state_argument(fcinfo, planner);
	BfValue		result;

	if (state == NULL)
		PG_RETURN_NULL();
	if (state->distinct)
		bf_hashlist_deduplicate(&state->list);
	if (state->value.varlena == NULL)
	{
		bf_value_make(&state->plan, &result);
		bf_hashlist_add_to(&state->list, &result);
	}
	else
	{
		if (state->head > 0)
			bf_value_take_off_head(&state->value);
		state->head = 0;
		result = state->value;
	}
	/* Most results hold no more than expected, and need not be measured. */
	if (state->added > state->plan.header.expected)
		bf_overfull_notice(&result.filter, advice);
	PG_RETURN_POINTER(result.varlena);
}

/* Make the plan from one to four parameters. */
void
bf_sized_plan(const Datum *values, int count, const BfElementType *element,
			  BfPlan *plan)
{
	const BfStrategy *strategy = count > 2 ?
		bf_strategy_named(TextDatumGetCString(values[2])) :
		bf_strategy_by_name(DEFAULT_STRATEGY);

	bf_value_plan(strategy, DatumGetInt64(values[0]),
				  count > 1 ? DatumGetFloat8(values[1]) : BF_AGG_FPP,
				  bf_element_bind(strategy, BF_FUNNEL_UNBOUND, element),
				  count > 3 ? DatumGetInt32(values[3]) : 0,
				  plan);
	plan->header.meaning = element->meaning;
}

/* The plan of a call of bf_agg that saw no row. */
static bool
plan_sized(FunctionCallInfo fcinfo, List *arguments, BfPlan *plan)
{
	BfElementType element;
	Datum		values[4];
	int			count = list_length(arguments) - 1;

	Assert(count > 0 && count <= (int) lengthof(values));
	for (int i = 0; i < count; i++)
	{
		if (!bf_agg_evaluate(fcinfo, arguments, i + 1, &values[i]))
			return false;
	}
	bf_element_type_of(exprType(linitial(arguments)), linitial(arguments),
					   InvalidOid, &element);
	bf_sized_plan(values, count, &element, plan);
	return true;
}

/* Whether a strategy has a name. */
static inline bool
is_named(const BfStrategy *strategy, const text *name)
{
	return VARSIZE_ANY_EXHDR(name) == strlen(strategy->name) &&
		memcmp(VARDATA_ANY(name), strategy->name,
			   VARSIZE_ANY_EXHDR(name)) == 0;
}

/* Raise if a parameter is NULL. */
static void
check_nulls(FunctionCallInfo fcinfo)
{
	static const char *const names[] = {"expected", "fpp", "strategy", "expansion"};

	for (int i = 2; i < PG_NARGS(); i++)
		bf_refuse_null(fcinfo, i, names[i - 2]);
}

/* Raise if a row has other parameters than the first one. */
static void
check_parameters(FunctionCallInfo fcinfo, const BfPlan *plan)
{
	const BfHeader *header = &plan->header;

	if (PG_GETARG_INT64(2) != (int64) header->expected ||
		(PG_NARGS() > 3 && PG_GETARG_FLOAT8(3) != header->fpp) ||
		(PG_NARGS() > 4 && !is_named(plan->strategy, PG_GETARG_TEXT_PP(4))) ||
		(PG_NARGS() > 5 && PG_GETARG_INT32(5) != (int32) header->expansion))
		bf_agg_refuse_row("bf_agg");
}

/* The cache of a call site of bf_agg. */
typedef struct SizedSite
{
	BfElementType element;
	bool		varies;			/* may parameters differ from row to row? */
} SizedSite;

/* The call site's cache, filled in at its first row. */
static inline SizedSite *
sized_site(FunctionCallInfo fcinfo)
{
	SizedSite  *site = fcinfo->flinfo->fn_extra;

	if (unlikely(site == NULL))
	{
		site = (SizedSite *) bf_agg_site(fcinfo, 1, sizeof(SizedSite));
		for (int i = 2; i < PG_NARGS(); i++)
			site->varies |= bf_agg_span(fcinfo, i) != BF_AGG_SPAN_CALL;
	}
	return site;
}

/* The transition function of bf_agg: 2 to 5 arguments after the state. */
Datum
bloomext_agg_add(PG_FUNCTION_ARGS)
{
	const SizedSite *site = sized_site(fcinfo);
	BfSizedState *state = PG_ARGISNULL(0) ? NULL : (BfSizedState *) PG_GETARG_POINTER(0);

	if (state == NULL || site->varies)
		check_nulls(fcinfo);
	if (state == NULL)
	{
		BfPlan		plan;
		Datum		values[4] = {0};

		for (int i = 2; i < PG_NARGS(); i++)
			values[i - 2] = PG_GETARG_DATUM(i);
		bf_sized_plan(values, PG_NARGS() - 2, &site->element, &plan);
		state = bf_sized_state(fcinfo, &plan, (BfElementType *) site);
	}
	else if (site->varies)
		check_parameters(fcinfo, &state->plan);

	if (!PG_ARGISNULL(1))
		take_element(state, &site->element, PG_GETARG_DATUM(1));
	PG_RETURN_POINTER(state);
}

/* State -> bytea */
Datum
bloomext_agg_serialize(PG_FUNCTION_ARGS)
{
	return bf_sized_serialize(fcinfo, plan_sized);
}

/* State -> bloomfilter */
Datum
bloomext_agg_final(PG_FUNCTION_ARGS)
{
	return bf_sized_final(fcinfo, plan_sized,
						  "Expect more elements, use a filter that grows: bf_agg(..., expected, fpp, strategy, 2)");
}
