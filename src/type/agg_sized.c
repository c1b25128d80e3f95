/*
 * agg_sized.c
 *	  bf_agg(element, expected, fpp, strategy, expansion): a filter of known
 *	  size over rows.
 *
 * State.  A group starts as a short list of hashes and becomes the filter that
 * it will return when the list would outgrow it: a hundred thousand groups of
 * few elements cost what they hold, not what they expect.  Once the filter is
 * there, the list is the batch whose cache lines bf_filter_add() requests
 * together.  Strategies that hash anew for every position have no hash to
 * list and add at once.
 *
 * Parallel.  Each worker has a state; they are serialized as the value (whole,
 * or its prefix while there is only the list) plus the list, and combined by
 * OR.  The result does not depend on who saw which row.
 *
 * Parallel and growing.  Filters that grew apart cannot be merged within their
 * promise: their layers side by side would add up to p for each worker, and
 * one over the other would be overfull.  So a partial state of a filter that
 * grows (or counts its elements) only lists hashes, each once, 16 bytes a
 * distinct element; the lists are appended to each other, and the final
 * function grows one filter from them, in the order of the hashes.  That
 * filter keeps its promise as any other does, and is the same whoever saw
 * which row; against a serial run, its layers may differ in some bits, as they
 * do between two orders of rows.
 *
 * Final functions only read the state and return a copy, so frames of a window
 * may ask again and again.
 *
 * No rows.  See agg.c: the parameters are taken from the call's expressions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/bytes.h"
#include "strategy/filter.h"
#include "type/agg.h"
#include "type/fill.h"
#include "type/hashlist.h"

PG_FUNCTION_INFO_V1(bloomext_agg_add);
PG_FUNCTION_INFO_V1(bloomext_agg_combine);
PG_FUNCTION_INFO_V1(bloomext_agg_serialize);
PG_FUNCTION_INFO_V1(bloomext_agg_deserialize);
PG_FUNCTION_INFO_V1(bloomext_agg_final);

/* The longest a list gets before the filter is made. */
#define LIST_LIMIT		1024

/* bf_agg's defaults, where an overload does not ask. */
#define DEFAULT_FPP			0.03
#define DEFAULT_STRATEGY	"guava"

/* The most hashes that fit between processes. */
#define LISTED_MAXIMUM	((uint32) ((MaxAllocSize - 1024) / sizeof(BfHashPair)))

typedef struct SizedParameters
{
	int64		expected;
	double		fpp;
	const BfStrategy *strategy;
	int32		expansion;
} SizedParameters;

typedef struct SizedState
{
	SizedParameters parameters;
	BfHeader	header;
	BfLayer		layer;
	bool		listed;			/* partial and growing: only a list */
	BfHashList	list;			/* not in the filter yet */
	uint32		list_limit;		/* at which it goes there */
	BfValue		value;			/* varlena is NULL while there is only a list */
} SizedState;

/* Read the parameters from their datums; the strategy may be absent. */
static void
read_parameters(const Datum *values, int count, SizedParameters *parameters)
{
	parameters->expected = DatumGetInt64(values[0]);
	parameters->fpp = count > 1 ? DatumGetFloat8(values[1]) : DEFAULT_FPP;
	parameters->strategy = count > 2 ?
		bf_strategy_argument(DatumGetTextPP(values[2])) :
		bf_strategy_by_name(DEFAULT_STRATEGY);
	parameters->expansion = count > 3 ? DatumGetInt32(values[3]) : 0;
}

/* Prepare a state whose header and layer are set. */
static void
prepare_state(SizedState *state, bool partial)
{
	const BfStrategy *strategy = bf_strategy_by_id(state->header.strategy);
	uint64		bytes = bf_layer_bytes(state->layer.bits, BF_CELL_BIT);

	state->list_limit = strategy->hash_is_complete ?
		Min(LIST_LIMIT, bytes / sizeof(BfHashPair)) : 0;
	state->listed = partial &&
		(state->header.expansion > 0 || strategy->counts_elements);
	if (state->listed && !strategy->hash_is_complete)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("growing filters of strategy \"%s\" cannot be built in parallel",
						strategy->name),
				 errhint("SET max_parallel_workers_per_gather = 0.")));
}

/* Is this the state of one process among several? */
static bool
is_partial(FunctionCallInfo fcinfo)
{
	return IsA(fcinfo->context, AggState) &&
		DO_AGGSPLIT_SKIPFINAL(((AggState *) fcinfo->context)->aggsplit);
}

static SizedState *
make_state(FunctionCallInfo fcinfo, MemoryContext context,
		   const SizedParameters *parameters, const BfElementType *element)
{
	SizedState *state = MemoryContextAllocZero(context, sizeof(SizedState));

	state->parameters = *parameters;
	bf_value_plan(parameters->strategy, parameters->expected, parameters->fpp,
				  bf_element_bind(parameters->strategy, BF_FUNNEL_UNBOUND, element),
				  parameters->expansion, &state->header, &state->layer);
	prepare_state(state, is_partial(fcinfo));
	return state;
}

/* Move the list into the filter, which is made if it is not there yet. */
static void
flush_list(SizedState *state, MemoryContext context)
{
	if (state->value.varlena == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		bf_value_make(&state->header, &state->layer, &state->value);
		MemoryContextSwitchTo(old);
		state->list_limit = BF_BATCH;
	}
	bf_value_add_pairs(&state->value, state->list.pairs, state->list.count);
	state->list.count = 0;
}

static inline void
add_pair(SizedState *state, MemoryContext context, BfHashPair pair)
{
	if (state->listed && !bf_hashlist_make_room(&state->list, LISTED_MAXIMUM))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many elements for a growing filter in parallel"),
				 errhint("SET max_parallel_workers_per_gather = 0.")));
	bf_hashlist_add(&state->list, context, pair);
	if (!state->listed && state->list.count >= state->list_limit)
		flush_list(state, context);
}

/* Add an element, by way of the list where its hash says it all. */
static void
add_hash(SizedState *state, MemoryContext context, BfHash *hash)
{
	if (state->parameters.strategy->hash_is_complete)
		add_pair(state, context, (BfHashPair) {hash->h1, hash->h2});
	else
	{
		if (state->value.varlena == NULL)
			flush_list(state, context);
		bf_value_add(&state->value, hash, 1);
	}
}

/* Raise where a row comes with other parameters than the first one did. */
static void
check_parameters(FunctionCallInfo fcinfo, const SizedParameters *parameters)
{
	if (PG_GETARG_INT64(2) == parameters->expected &&
		(PG_NARGS() <= 3 || PG_GETARG_FLOAT8(3) == parameters->fpp))
	{
		text	   *strategy;

		if (PG_NARGS() <= 4)
			return;
		strategy = PG_GETARG_TEXT_PP(4);
		if ((PG_NARGS() <= 5 || PG_GETARG_INT32(5) == parameters->expansion) &&
			VARSIZE_ANY_EXHDR(strategy) == strlen(parameters->strategy->name) &&
			memcmp(VARDATA_ANY(strategy), parameters->strategy->name,
				   VARSIZE_ANY_EXHDR(strategy)) == 0)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("parameters of bf_agg must be the same for all rows of a group")));
}

/* The transition function of all forms: 2 to 5 arguments after the state. */
Datum
bloomext_agg_add(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"expected", "fpp", "strategy", "expansion"};
	MemoryContext context = bf_agg_context(fcinfo);
	const BfElementType *element = bf_agg_element(fcinfo);
	SizedState *state = PG_ARGISNULL(0) ? NULL : (SizedState *) PG_GETARG_POINTER(0);
	BfHash		hash;

	for (int i = 2; i < PG_NARGS(); i++)
	{
		if (unlikely(PG_ARGISNULL(i)))
			bf_refuse_null(fcinfo, i, names[i - 2]);
	}
	if (state == NULL)
	{
		SizedParameters parameters;
		Datum		values[4] = {0};

		for (int i = 2; i < PG_NARGS(); i++)
			values[i - 2] = PG_GETARG_DATUM(i);
		read_parameters(values, PG_NARGS() - 2, &parameters);
		state = make_state(fcinfo, context, &parameters, element);
	}
	else
		check_parameters(fcinfo, &state->parameters);

	if (!PG_ARGISNULL(1))
	{
		/* The funnel is the kind's own here, so that any value fits it. */
		bf_element_hash(state->parameters.strategy, state->header.funnel,
						element, PG_GETARG_DATUM(1), &hash);
		add_hash(state, context, &hash);
	}
	PG_RETURN_POINTER(state);
}

/*
 * The state of a call that saw no row: parameters by the call's expressions.
 * NULL where they would have come with the rows.
 */
static SizedState *
state_of_no_rows(FunctionCallInfo fcinfo)
{
	List	   *arguments;
	Oid			collation;
	SizedParameters parameters;
	BfElementType element;
	Datum		values[4];
	int			count;

	if (!bf_agg_arguments(fcinfo, &arguments, &collation))
		return NULL;
	count = list_length(arguments) - 1;
	for (int i = 0; i < count; i++)
	{
		if (!bf_agg_evaluate(fcinfo, list_nth(arguments, i + 1), &values[i]))
			return NULL;
	}
	read_parameters(values, count, &parameters);
	bf_element_type_of(exprType(linitial(arguments)), linitial(arguments),
					   collation, &element);
	return make_state(fcinfo, CurrentMemoryContext, &parameters, &element);
}

/* Combine two partial states into the first. */
Datum
bloomext_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bf_agg_context(fcinfo);
	SizedState *into = PG_ARGISNULL(0) ? NULL : (SizedState *) PG_GETARG_POINTER(0);
	SizedState *from = PG_ARGISNULL(1) ? NULL : (SizedState *) PG_GETARG_POINTER(1);

	if (from == NULL)
	{
		if (into == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(into);
	}
	if (into == NULL)
	{
		into = MemoryContextAllocZero(context, sizeof(SizedState));
		into->parameters = from->parameters;
		into->header = from->header;
		into->layer = from->layer;
		prepare_state(into, true);
	}
	if (from->value.varlena != NULL)
	{
		flush_list(into, context);
		bf_value_merge(&into->value, &from->value.filter, &bf_merge_union);
	}
	for (uint32 i = 0; i < from->list.count; i++)
		add_pair(into, context, from->list.pairs[i]);
	PG_RETURN_POINTER(into);
}

/*
 * State -> bytea: the number of listed hashes and the length of the value,
 * the hashes, then the value or its prefix.
 */
Datum
bloomext_agg_serialize(PG_FUNCTION_ARGS)
{
	SizedState *state;
	uint64		length;
	Size		prefix = BF_PREFIX_SIZE(1);
	Size		written;
	Size		size;
	bytea	   *result;
	uint8	   *out;
	BfError		error;

	bf_agg_context(fcinfo);
	state = PG_ARGISNULL(0) ? state_of_no_rows(fcinfo) : (SizedState *) PG_GETARG_POINTER(0);
	if (state == NULL)
		PG_RETURN_NULL();

	if (!bf_format_size(&state->header, &state->layer, &length, &error))
		bf_raise(&error, ERRCODE_INTERNAL_ERROR);
	written = state->value.varlena != NULL ? length : prefix;
	size = 12 + state->list.count * sizeof(BfHashPair) + written;
	result = palloc(bf_fit_length(size));
	SET_VARSIZE(result, size + VARHDRSZ);
	out = (uint8 *) VARDATA(result);
	bf_store_le32(out, state->list.count);
	bf_store_le64(out + 4, length);
	if (state->list.count > 0)
		memcpy(out + 12, state->list.pairs,
			   state->list.count * sizeof(BfHashPair));
	out += 12 + state->list.count * sizeof(BfHashPair);
	if (state->value.varlena != NULL)
		memcpy(out, state->value.bytes, written);
	else
		bf_format_encode(&state->header, &state->layer, out);
	PG_RETURN_BYTEA_P(result);
}

/*
 * bytea -> state, in the current, short-lived context: bloomext_agg_combine()
 * takes from it what is to stay, so the bits are not copied.
 */
Datum
bloomext_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *data = PG_GETARG_BYTEA_PP(0);
	uint8	   *bytes = DatumGetBfBytes(data);
	Size		available = VARSIZE_ANY_EXHDR(data);
	SizedState *state = palloc0(sizeof(SizedState));
	BfFilter   *filter = &state->value.filter;
	Size		listed;
	BfError		error;

	bf_agg_context(fcinfo);
	if (available < 12 ||
		bf_load_le32(bytes) > (available - 12) / sizeof(BfHashPair))
		elog(ERROR, "malformed partial state of bf_agg");
	state->list.count = bf_load_le32(bytes);
	listed = state->list.count * sizeof(BfHashPair);
	state->list.pairs = palloc(listed + 1);
	memcpy(state->list.pairs, bytes + 12, listed);
	if (!bf_filter_open(bytes + 12 + listed, available - 12 - listed,
						bf_load_le64(bytes + 4), filter, &error))
		bf_raise(&error, ERRCODE_INVALID_BINARY_REPRESENTATION);

	state->header = filter->header;
	state->layer = filter->first;
	state->parameters.strategy = filter->strategy;
	state->parameters.expected = filter->header.expected;
	state->parameters.fpp = filter->header.fpp;
	if (filter->whole)
	{
		state->value.bytes = bytes + 12 + listed;
		state->value.varlena = data;
	}
	PG_RETURN_POINTER(state);
}

/* State -> bloomfilter; the state stays as it is. */
Datum
bloomext_agg_final(PG_FUNCTION_ARGS)
{
	SizedState *state;
	BfValue		result;

	bf_agg_context(fcinfo);
	state = PG_ARGISNULL(0) ? state_of_no_rows(fcinfo) : (SizedState *) PG_GETARG_POINTER(0);
	if (state == NULL)
		PG_RETURN_NULL();

	if (state->listed)
		bf_hashlist_deduplicate(&state->list);
	if (state->value.varlena != NULL)
		bf_value_copy(PointerGetDatum(state->value.varlena), &result);
	else
		bf_value_make(&state->header, &state->layer, &result);
	bf_value_add_pairs(&result, state->list.pairs, state->list.count);
	PG_RETURN_POINTER(result.varlena);
}
