/*
 * ops.c
 *	  bf_redis_add and bf_redis_contains: filters that live in Redis, shared with
 *	  services.
 *
 * A call site keeps what it knows of the filter, so that a query asks for it
 * once.  Every command compares it with what is there; when that has changed,
 * the filter is described anew and what was not done is done again.  What no
 * command can see, the hash of a Guava filter that had none, is looked for once
 * a second.
 *
 * A filter that is not there is an error and never a "no".
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "redis/arguments.h"
#include "redis/items.h"

PG_FUNCTION_INFO_V1(bloomext_redis_add);
PG_FUNCTION_INFO_V1(bloomext_redis_contains);
PG_FUNCTION_INFO_V1(bloomext_redis_add_all);
PG_FUNCTION_INFO_V1(bloomext_redis_contains_each);

/* A description is looked at again after so many ms. */
#define KEEP_FOR	1000

/* Changes of a filter within one call that are put up with. */
#define MAX_CHANGES	20

/* What a call site keeps. */
typedef struct Call
{
	BfElementType element;
	MemoryContext context;		/* of what follows */
	Oid			server;
	char	   *key;			/* NULL: nothing is known */
	TimestampTz described;
	uint64		changes;		/* bf_connection_changes() before that */
	int			shards;			/* 0: the filter is one */
	int			parts;			/* remotes: the filter, or its shards */
	BfRemote   *remotes;
} Call;

/* Elements of one call, and what is known of them. */
typedef struct Elements
{
	Datum	   *values;
	bool	   *nulls;
	bool	   *answers;
	bool	   *done;
	int			count;
} Elements;

typedef bool (*Operation) (const BfRemote *remote, BfItems *items);

static Call *
get_call(FunctionCallInfo fcinfo, bool array)
{
	Call	   *call = fcinfo->flinfo->fn_extra;

	if (call == NULL)
	{
		call = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Call));
		bf_element_type_of_argument(fcinfo, 2, array, &call->element);
		call->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
											  "bloomext Redis filter",
											  ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = call;
	}
	return call;
}

/* Describe a filter, and each of its shards, which must all be there. */
static void
describe(Call *call, Oid server, const char *key)
{
	MemoryContext old;
	BfRemote	whole;

	call->key = NULL;
	call->changes = bf_connection_changes();
	MemoryContextReset(call->context);
	old = MemoryContextSwitchTo(call->context);
	bf_remote_describe(server, key, &whole);
	if (whole.layout == NULL)
		bf_remote_missing(&whole);
	call->shards = whole.shards;
	call->parts = Max(whole.shards, 1);
	call->remotes = palloc(sizeof(BfRemote) * call->parts);
	if (whole.shards == 0)
		call->remotes[0] = whole;
	for (int i = 0; i < whole.shards; i++)
		bf_remote_describe_shard(&whole, i, &call->remotes[i]);
	call->server = server;
	call->described = GetCurrentTimestamp();
	call->key = pstrdup(key);
	MemoryContextSwitchTo(old);
}

/* Is what the call site knows about this filter, and recent? */
static bool
is_known(const Call *call, Oid server, const char *key)
{
	return call->key != NULL && call->server == server &&
		strcmp(call->key, key) == 0 &&
		call->changes == bf_connection_changes() &&
		!TimestampDifferenceExceeds(call->described, GetCurrentTimestamp(),
									KEEP_FOR);
}

/* Hash the elements that are not done, each for its part of the filter. */
static BfItems *
hash_elements(const Call *call, const Elements *elements, bool ask)
{
	BfItems    *items = palloc0(sizeof(BfItems) * call->parts);

	for (int i = 0; i < elements->count; i++)
	{
		Datum		value = elements->values[i];
		int			part = 0;

		CHECK_FOR_INTERRUPTS();
		if (elements->nulls[i] || elements->done[i])
			continue;
		if (call->shards > 0)
			part = bf_items_shard(&call->remotes[0], call->shards,
								  &call->element, value);
		bf_items_add(&items[part], &call->remotes[part], &call->element,
					 value, i, ask);
	}
	return items;
}

/* Note the answers of a part's items: what is done for all items is done. */
static void
note_answers(Elements *elements, const BfItems *items)
{
	for (int i = 0; i < items->count; i++)
	{
		elements->answers[items->item[i].source] |= items->item[i].answer;
		elements->done[items->item[i].source] = true;
	}
	for (int i = 0; i < items->count; i++)
	{
		if (!items->item[i].done)
			elements->done[items->item[i].source] = false;
	}
}

/* Do something with elements; again with those that a change left undone. */
static void
process(Call *call, Oid server, const char *key, Elements *elements,
		Operation operation, bool ask)
{
	for (int changes = 0;; changes++)
	{
		bool		finished = true;
		BfItems    *items;

		if (!is_known(call, server, key))
			describe(call, server, key);
		items = hash_elements(call, elements, ask);
		for (int i = 0; i < call->parts; i++)
		{
			finished &= operation(&call->remotes[i], &items[i]);
			note_answers(elements, &items[i]);
		}
		if (finished)
			return;
		call->key = NULL;
		if (changes >= MAX_CHANGES + elements->count)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("filter at key \"%s\" keeps changing", key)));
	}
}

/* One element. */
static bool
process_one(FunctionCallInfo fcinfo, Operation operation, bool ask)
{
	Call	   *call = get_call(fcinfo, false);
	Oid			server = bf_server_argument(fcinfo, 0);
	char	   *key = bf_key_argument(fcinfo, 1);
	Datum		value = PG_GETARG_DATUM(2);
	bool		null = false;
	bool		answer = false;
	bool		done = false;
	Elements	elements = {&value, &null, &answer, &done, 1};

	process(call, server, key, &elements, operation, ask);
	return answer;
}

/* An array of elements: an answer for each, NULL for NULL. */
static Datum
process_array(FunctionCallInfo fcinfo, Operation operation, bool ask)
{
	Call	   *call = get_call(fcinfo, true);
	Oid			server = bf_server_argument(fcinfo, 0);
	char	   *key = bf_key_argument(fcinfo, 1);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(2);
	const BfElementType *type = &call->element;
	Elements	elements;
	Datum	   *answers;
	int			lower = 1;

	deconstruct_array(array, type->type, type->typlen, type->typbyval,
					  type->typalign, &elements.values, &elements.nulls,
					  &elements.count);
	elements.answers = palloc0(Max(elements.count, 1));
	elements.done = palloc0(Max(elements.count, 1));
	process(call, server, key, &elements, operation, ask);

	answers = palloc(sizeof(Datum) * Max(elements.count, 1));
	for (int i = 0; i < elements.count; i++)
		answers[i] = BoolGetDatum(elements.answers[i]);
	if (elements.count == 0)
		return PointerGetDatum(construct_empty_array(BOOLOID));
	return PointerGetDatum(construct_md_array(answers, elements.nulls, 1,
											  &elements.count, &lower, BOOLOID,
											  1, true, TYPALIGN_CHAR));
}

/* bf_redis_add(server, key, element): true: it was surely new */
Datum
bloomext_redis_add(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(process_one(fcinfo, bf_remote_add, false));
}

/* bf_redis_contains(server, key, element): false: surely not there */
Datum
bloomext_redis_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(process_one(fcinfo, bf_remote_contains, true));
}

/* bf_redis_add(server, key, elements) */
Datum
bloomext_redis_add_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(process_array(fcinfo, bf_remote_add, false));
}

/* bf_redis_contains(server, key, elements) */
Datum
bloomext_redis_contains_each(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(process_array(fcinfo, bf_remote_contains, true));
}
