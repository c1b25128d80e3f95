/*
 * ops.c
 *	  Create filters, add to them, combine and compare them.
 *
 * No function changes an argument in place: it copies the value first.  A
 * function that has nothing to add returns its argument unchanged, so that
 * UPDATE filters SET f = bf_add(f, title) rewrites a stored filter only for a
 * new title.
 *
 * To add, remove or combine with NULL leaves the filter unchanged, whatever
 * kind of elements it has.  If the result were NULL, a stored filter would be
 * lost when array_agg() finds no new rows.  Types that cannot be elements are
 * refused even then.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "fmgr.h"
#include "nodes/primnodes.h"

#include "type/add.h"
#include "type/arguments.h"
#include "type/element_hash.h"
#include "type/merge.h"
#include "type/toast_slices.h"

PG_FUNCTION_INFO_V1(bloomext_create);
PG_FUNCTION_INFO_V1(bloomext_create_buckets);
PG_FUNCTION_INFO_V1(bloomext_create_bits);
PG_FUNCTION_INFO_V1(bloomext_add);
PG_FUNCTION_INFO_V1(bloomext_add_all);
PG_FUNCTION_INFO_V1(bloomext_add_each);
PG_FUNCTION_INFO_V1(bloomext_remove);
PG_FUNCTION_INFO_V1(bloomext_plain);
PG_FUNCTION_INFO_V1(bloomext_union);
PG_FUNCTION_INFO_V1(bloomext_intersection);
PG_FUNCTION_INFO_V1(bloomext_compatible);
PG_FUNCTION_INFO_V1(bloomext_eq);
PG_FUNCTION_INFO_V1(bloomext_ne);
PG_FUNCTION_INFO_V1(bloomext_hash);
PG_FUNCTION_INFO_V1(bloomext_hash_extended);

/* Let the first element decide the meaning of a filter with a named funnel. */
static void
leave_open(BfPlan *plan)
{
	if (plan->header.funnel != BF_FUNNEL_UNBOUND)
		plan->header.meaning = BF_MEANING_OPEN;
}

/* Turn a planned filter into a counting one, if its strategy supports it. */
static void
make_counting(BfPlan *plan)
{
	if (!plan->strategy->has_counters)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("strategy \"%s\" does not support counting filters",
						plan->strategy->name),
				 errhint("Use guava, guava32, spark1 or spark2.")));
	if (plan->header.expansion > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("counting filters cannot grow"),
				 errhint("Use expansion 0, which is the default.")));
	plan->header.cell_bits = BF_CELL_COUNTER;
}

/* Whether all arguments of a call are constants. */
static bool
has_constant_arguments(FunctionCallInfo fcinfo)
{
	Node	   *call = (Node *) fcinfo->flinfo->fn_expr;
	ListCell   *cell;

	if (call == NULL || !IsA(call, FuncExpr))
		return false;
	foreach(cell, ((FuncExpr *) call)->args)
	{
		if (!IsA(lfirst(cell), Const))
			return false;
	}
	return true;
}

/*
 * Make an empty filter; a call with constant arguments caches it.  The
 * functions are STABLE: the planner would replace an IMMUTABLE one by a
 * constant as large as the filter, which is sent to parallel workers as text.
 */
static Datum
make_cached(FunctionCallInfo fcinfo, PGFunction make)
{
	FmgrInfo   *function = fcinfo->flinfo;
	MemoryContext caller;

	if (function->fn_extra != NULL)
		PG_RETURN_POINTER(function->fn_extra);
	if (!has_constant_arguments(fcinfo))
		return make(fcinfo);
	caller = MemoryContextSwitchTo(function->fn_mcxt);
	function->fn_extra = DatumGetPointer(make(fcinfo));
	MemoryContextSwitchTo(caller);
	PG_RETURN_POINTER(function->fn_extra);
}

/*
 * bf_create(expected, fpp, strategy, funnel, expansion, counting): an empty
 * filter for `expected` elements (>= 0) at false positive probability `fpp`
 * (between 0 and 1).  22023 for parameters out of range, 54000 for a filter
 * of no bits, of more than 255 hashes or of more than 1 GB.
 */
static Datum
create_sized(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"expected", "fpp", "strategy", NULL, "expansion", "counting"
	};
	const BfStrategy *strategy;
	BfPlan		plan;
	BfValue		value;

	bf_refuse_nulls(fcinfo, 0, names, lengthof(names));
	strategy = bf_strategy_argument(fcinfo, 2);
	bf_value_plan(strategy, PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1),
				  bf_funnel_argument(fcinfo, 3, strategy), PG_GETARG_INT32(4),
				  &plan);
	leave_open(&plan);
	if (PG_GETARG_BOOL(5))
		make_counting(&plan);
	bf_value_make(&plan, &value);
	PG_RETURN_POINTER(value.varlena);
}

Datum
bloomext_create(PG_FUNCTION_ARGS)
{
	return make_cached(fcinfo, create_sized);
}

/* bf_create_buckets(expected, buckets): bits per element, as in Cassandra */
static Datum
create_buckets(PG_FUNCTION_ARGS)
{
	BfLayer		sized;
	BfError		error;
	BfPlan		plan;
	BfValue		value;

	bf_refuse_null(fcinfo, 0, "expected");
	bf_refuse_null(fcinfo, 1, "buckets");
	if (!bf_cassandra.size_by_buckets(PG_GETARG_INT64(0), PG_GETARG_INT32(1),
									  &sized, &error))
		bf_raise(&error);
	bf_value_plan_bits(&bf_cassandra, sized.bits, sized.hashes,
					   BF_FUNNEL_UNBOUND, &plan);
	bf_value_make(&plan, &value);
	PG_RETURN_POINTER(value.varlena);
}

Datum
bloomext_create_buckets(PG_FUNCTION_ARGS)
{
	return make_cached(fcinfo, create_buckets);
}

/*
 * bf_create_bits(bits, hashes, strategy, funnel): an empty filter of a known
 * shape; strategies whose bits come in words round up.
 */
static Datum
create_bits(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"bits", "hashes", "strategy"};
	const BfStrategy *strategy;
	BfPlan		plan;
	BfValue		value;

	bf_refuse_nulls(fcinfo, 0, names, lengthof(names));
	strategy = bf_strategy_argument(fcinfo, 2);
	bf_value_plan_bits(strategy, PG_GETARG_INT64(0), PG_GETARG_INT32(1),
					   bf_funnel_argument(fcinfo, 3, strategy), &plan);
	leave_open(&plan);
	bf_value_make(&plan, &value);
	PG_RETURN_POINTER(value.varlena);
}

Datum
bloomext_create_bits(PG_FUNCTION_ARGS)
{
	return make_cached(fcinfo, create_bits);
}

/*
 * Change a filter by an element, or an array of them.  Raises 0A000 if the
 * type cannot be an element, even for NULL, which leaves the filter unchanged.
 */
static Datum
change_filter(FunctionCallInfo fcinfo, PGFunction how, bool array)
{
	BfElementType element;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
		return how(fcinfo);
	bf_element_type_of_argument(fcinfo, 1, array, &element);
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Add an element; the filter is unchanged if it is there already. */
static Datum
add_element(PG_FUNCTION_ARGS)
{
	BfCall	   *call = bf_call(fcinfo, 0, 1, false);
	const BfFilter *filter = call->probe.filter;
	BfMeaning	meaning;
	BfHash		hash;
	BfValue		value;

	if (!bf_call_hash(call, PG_GETARG_DATUM(1), &hash))
		bf_element_does_not_fit(&call->element, PG_GETARG_DATUM(1));
	meaning = bf_element_meaning_in(&call->element, &filter->plan.header);
	/* Only counters change if the element is there already. */
	if (call->funnel == filter->plan.header.funnel &&
		meaning == (BfMeaning) filter->plan.header.meaning &&
		filter->plan.header.cell_bits == BF_CELL_BIT &&
		bf_probe_contains(&call->probe, &hash))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	bf_value_copy(PG_GETARG_DATUM(0), &value);
	bf_value_bind(&value, call->funnel, meaning);
	bf_value_add(&value, &hash, 1);
	PG_RETURN_POINTER(value.varlena);
}

/* bf_add(bloomfilter, element), bloomfilter + element */
Datum
bloomext_add(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, add_element, false);
}

/*
 * Hash the next piece of an array to be added; for the first one, copy the
 * filter.  False after the last.  Raises if an element cannot be added.
 */
static bool
take_piece(FunctionCallInfo fcinfo, BfElements *elements, BfValue *value)
{
	BfCall	   *call = elements->call;

	if (!bf_elements_hash(elements))
		return false;
	if (elements->hashed < elements->count)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("array contains elements that are out of range for a filter of integer elements"),
				 errhint("Build the filter from bigint elements.")));
	if (value->varlena == NULL)
	{
		bf_value_copy(PG_GETARG_DATUM(0), value);
		bf_value_bind(value, call->funnel,
					  bf_element_meaning_in(&call->element,
											&call->probe.filter->plan.header));
	}
	return true;
}

/* Add the elements of an array that are not NULL. */
static Datum
add_elements(PG_FUNCTION_ARGS)
{
	BfElements	elements;
	BfValue		value = {0};

	bf_elements_start(&elements, bf_call(fcinfo, 0, 1, true),
					  PG_GETARG_ARRAYTYPE_P(1));
	while (take_piece(fcinfo, &elements, &value))
		bf_value_add(&value, elements.hashes, elements.hashed);
	if (value.varlena == NULL)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(value.varlena);
}

/* bf_add_all(bloomfilter, elements): NULL elements are ignored */
Datum
bloomext_add_all(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, add_elements, true);
}

/*
 * Add a piece of an array, and set for each element whether it was surely new.
 * Elements that the filter had before are not looked up again.
 */
static void
put_piece(const BfElements *elements, BfValue *value, char *answers)
{
	bool		counting = value->filter.plan.header.cell_bits == BF_CELL_COUNTER;
	bool		held[BF_PIECE_ELEMENTS];

	bf_filter_contains_batch(&value->filter, elements->hashes,
							 elements->hashed, held);
	for (uint32 i = 0; i < elements->hashed; i++)
	{
		if (!held[i] || counting)
			answers[i] = bf_value_put(value, &elements->hashes[i]);
	}
}

/* Add an array's elements to a filter, which is replaced by the result. */
static ArrayType *
put_elements(FunctionCallInfo fcinfo, Datum *filter)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	ArrayType  *answers = bf_answers_make(array);
	char	   *answer = ARR_DATA_PTR(answers);
	BfElements	elements;
	BfValue		value = {0};

	bf_elements_start(&elements, bf_call(fcinfo, 0, 1, true), array);
	while (take_piece(fcinfo, &elements, &value))
	{
		put_piece(&elements, &value, answer);
		answer += elements.count;
	}
	if (value.varlena != NULL)
		*filter = PointerGetDatum(value.varlena);
	return answers;
}

/*
 * bf_add_each(bloomfilter, elements): the filter that bf_add_all returns, and a
 * boolean[] with the array's dimensions: true for elements that were surely
 * neither in the filter nor earlier in the array.
 */
Datum
bloomext_add_each(PG_FUNCTION_ARGS)
{
	Datum		values[2] = {PG_GETARG_DATUM(0), (Datum) 0};
	bool		nulls[2] = {PG_ARGISNULL(0), PG_ARGISNULL(0) || PG_ARGISNULL(1)};
	BfElementType element;

	if (!nulls[1])
		values[1] = PointerGetDatum(put_elements(fcinfo, &values[0]));
	else if (!nulls[0])
		bf_element_type_of_argument(fcinfo, 1, true, &element);
	return bf_row(fcinfo, values, nulls, lengthof(values));
}

/* Remove an element, if it is there. */
static Datum
remove_element(PG_FUNCTION_ARGS)
{
	BfCall	   *call = bf_call(fcinfo, 0, 1, false);
	const BfFilter *filter = call->probe.filter;
	BfHash		hash;
	bool		fits = bf_call_hash(call, PG_GETARG_DATUM(1), &hash);
	BfValue		value;

	if (filter->plan.header.cell_bits != BF_CELL_COUNTER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot remove an element from a plain bloom filter"),
				 errdetail("The element's bits may be shared with other elements, which would be lost as well."),
				 errhint("Build a new filter from the remaining rows with bf_agg, and replace this one; or create it with counting => true.")));
	if (!fits || !bf_probe_contains(&call->probe, &hash))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	bf_value_copy(PG_GETARG_DATUM(0), &value);
	bf_hash_reach(filter->plan.strategy, &hash, filter->plan.first.hashes);
	bf_filter_count(&value.filter, &hash, -1);
	PG_RETURN_POINTER(value.varlena);
}

/*
 * bf_remove(bloomfilter, element): remove one occurrence of an element from a
 * counting filter.  One that is surely absent changes nothing; a false positive
 * decrements counters of other elements.
 */
Datum
bloomext_remove(PG_FUNCTION_ARGS)
{
	return change_filter(fcinfo, remove_element, false);
}

/* bf_plain(bloomfilter): without counters, which only bf_remove needs */
Datum
bloomext_plain(PG_FUNCTION_ARGS)
{
	BfFilter	filter;
	BfValue		plain;

	bf_value_open(PG_GETARG_DATUM(0), &filter);
	if (filter.plan.header.cell_bits == BF_CELL_BIT)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	bf_value_plain(&filter, &plain);
	PG_RETURN_POINTER(plain.varlena);
}

/* Copy one filter and merge the other, if there is one, into the copy. */
static Datum
merge_filters(FunctionCallInfo fcinfo, const BfMerge *merge)
{
	BfValue		into;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	bf_value_copy(PG_GETARG_DATUM(0), &into);
	bf_value_merge_datum(&into, PG_GETARG_DATUM(1), merge);
	PG_RETURN_POINTER(into.varlena);
}

/* bf_union(bloomfilter, bloomfilter), bloomfilter | bloomfilter */
Datum
bloomext_union(PG_FUNCTION_ARGS)
{
	return merge_filters(fcinfo, &bf_merge_union);
}

/* bf_intersection(bloomfilter, bloomfilter), bloomfilter & bloomfilter */
Datum
bloomext_intersection(PG_FUNCTION_ARGS)
{
	return merge_filters(fcinfo, &bf_merge_intersection);
}

/* bf_compatible(bloomfilter, bloomfilter): would bf_union work? */
Datum
bloomext_compatible(PG_FUNCTION_ARGS)
{
	BfFilter	left;
	BfFilter	right;

	bf_value_open(PG_GETARG_DATUM(0), &left);
	bf_value_open(PG_GETARG_DATUM(1), &right);
	PG_RETURN_BOOL(bf_value_compatible(&left, &right));
}

/* Whether filters are equal, whatever n and p they were sized for. */
static bool
same_filter(FunctionCallInfo fcinfo)
{
	BfFilter	left;
	BfFilter	right;
	size_t		prefix;

	bf_value_open(PG_GETARG_DATUM(0), &left);
	bf_value_open(PG_GETARG_DATUM(1), &right);
	if (left.length != right.length ||
		left.plan.header.funnel != right.plan.header.funnel ||
		!bf_value_same_shape(&left, &right))
		return false;
	prefix = BF_PREFIX_SIZE(left.plan.header.layers);
	return memcmp(left.bytes + prefix, right.bytes + prefix,
				  left.length - prefix) == 0;
}

/* bloomfilter = bloomfilter */
Datum
bloomext_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(same_filter(fcinfo));
}

/* bloomfilter <> bloomfilter */
Datum
bloomext_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!same_filter(fcinfo));
}

/* The bits of a filter, which are equal for equal filters. */
static const unsigned char *
hashed_bytes(Datum datum, int *length)
{
	BfFilter	filter;
	size_t		prefix;

	bf_value_open(datum, &filter);
	prefix = BF_PREFIX_SIZE(filter.plan.header.layers);
	*length = filter.length - prefix;
	return filter.bytes + prefix;
}

/* Support function 1 of the hash operator class. */
Datum
bloomext_hash(PG_FUNCTION_ARGS)
{
	int			length;
	const unsigned char *bytes = hashed_bytes(PG_GETARG_DATUM(0), &length);

	return hash_any(bytes, length);
}

/* Support function 2, with a seed. */
Datum
bloomext_hash_extended(PG_FUNCTION_ARGS)
{
	int			length;
	const unsigned char *bytes = hashed_bytes(PG_GETARG_DATUM(0), &length);

	return hash_any_extended(bytes, length, PG_GETARG_INT64(1));
}
