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
 * Arrays are worked on in pieces, so that memory does not grow with them.  A
 * filter that grows cuts a round short, and the next one takes no more than
 * twice what that has done: else all that is left would be hashed and sent
 * again for each layer.
 *
 * A lookup goes on with the filter that has taken another's place.  Elements that
 * are added are not in both: an array of them that was not all added to filters
 * of one shape is an error.
 *
 * A filter that is not there is an error and never a "no".
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "redis/options.h"
#include "redis/items.h"

PG_FUNCTION_INFO_V1(bloomext_redis_add);
PG_FUNCTION_INFO_V1(bloomext_redis_contains);
PG_FUNCTION_INFO_V1(bloomext_redis_add_all);
PG_FUNCTION_INFO_V1(bloomext_redis_contains_each);

/* A description is looked at again after so many ms. */
#define KEEP_FOR	1000

/* Changes of a filter that are put up with while nothing is done. */
#define MAX_CHANGES	20

/* Elements of an array at a time: what is made of them takes some MB. */
#define PIECE		65536

/* Elements that a round takes at least, while there are such. */
#define MIN_BATCH	100

/* What makes a filter, or a shard of one, another one; all its bytes count. */
typedef struct Shape
{
	uint64		bits;			/* of the first layer, which others follow */
	uint64		expected;
	double		fpp;
	uint32		hashes;
	uint32		strategy;
	uint32		funnel;
	uint32		expansion;
} Shape;

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
	uint64		shape;			/* a hash of the layout and all shapes */
	MemoryContext round;		/* of what one round needs */
} Call;

/* Elements of one call, or a piece of them, and what is known of them. */
typedef struct Elements
{
	Datum	   *values;
	bool	   *answers;
	bool	   *done;
	int			count;
	bool		added;			/* some, or some of an earlier piece? */
	uint64		shape;			/* of the filter that these were added to */
} Elements;

typedef bool (*Operation) (const BfRemote *remote, BfItems *items);

static Call *
get_call(FunctionCallInfo fcinfo, bool array)
{
	Call	   *call = bf_call_site(fcinfo, 2, array, sizeof(Call));

	if (call->context == NULL)
	{
		call->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
											  "bloomext Redis filter",
											  ALLOCSET_SMALL_SIZES);
		call->round = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
											"bloomext Redis round",
											ALLOCSET_DEFAULT_SIZES);
	}
	return call;
}

/* Hash what would be another if the filter were. */
static uint64
hash_shape(const Call *call)
{
	const char *layout = call->remotes[0].layout->name;
	uint64		hash = hash_bytes_extended((const unsigned char *) layout,
										   strlen(layout), call->shards);

	for (int i = 0; i < call->parts; i++)
	{
		const BfRemote *remote = &call->remotes[i];
		Shape		shape;

		memset(&shape, 0, sizeof(shape));
		if (remote->layers != NULL)
		{
			shape.bits = remote->layers[0].bits;
			shape.hashes = remote->layers[0].hashes;
		}
		shape.expected = remote->header.expected;
		shape.fpp = remote->header.fpp;
		shape.strategy = remote->header.strategy;
		shape.funnel = remote->header.funnel;
		shape.expansion = remote->header.expansion;
		hash = hash_bytes_extended((const unsigned char *) &shape,
								   sizeof(shape), hash);
	}
	return hash;
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
	call->shape = hash_shape(call);
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

/*
 * Hash elements that are not done, a batch at most, each for its part of the
 * filter.
 */
static BfItems *
hash_elements(const Call *call, const Elements *elements, int batch, bool ask)
{
	BfItems    *items = palloc0(sizeof(BfItems) * call->parts);

	for (int i = 0; i < elements->count && batch > 0; i++)
	{
		Datum		value = elements->values[i];
		int			part = 0;

		CHECK_FOR_INTERRUPTS();
		if (elements->done[i])
			continue;
		batch--;
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

/* How many elements are still to be done. */
static int
count_left(const Elements *elements)
{
	int			left = 0;

	for (int i = 0; i < elements->count; i++)
		left += !elements->done[i];
	return left;
}

/* Do something with a batch of elements; false where the filter has changed. */
static bool
run_round(Call *call, Elements *elements, int batch, Operation operation,
		  bool ask)
{
	BfItems    *items = hash_elements(call, elements, batch, ask);
	bool		same = true;

	for (int i = 0; i < call->parts; i++)
	{
		same &= operation(&call->remotes[i], &items[i]);
		note_answers(elements, &items[i]);
	}
	return same;
}

/*
 * Raise that a filter is not the one that this call has added elements to: in
 * what has taken its place they are not.
 */
static void
check_shape(const Call *call, const Elements *elements)
{
	if (elements->added && call->shape != elements->shape)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("filter at key \"%s\" was replaced while elements were added",
						call->key),
				 errdetail("Some of them were added to the filter that was replaced."),
				 errhint("Add all of them again.")));
}

/* Do something with elements; again with those that a change left undone. */
static void
process(Call *call, Oid server, const char *key, Elements *elements,
		Operation operation, bool ask)
{
	MemoryContext old = MemoryContextSwitchTo(call->round);
	int			left = count_left(elements);
	int			batch = left;
	int			changes = 0;

	do
	{
		int			before = left;
		bool		same;

		if (!is_known(call, server, key))
			describe(call, server, key);
		check_shape(call, elements);
		same = run_round(call, elements, batch, operation, ask);
		MemoryContextReset(call->round);
		left = count_left(elements);
		batch = same ? left : Max(2 * (before - left), MIN_BATCH);
		if (!same)
			call->key = NULL;
		changes = left < before ? 0 : changes + 1;
		if (!ask && left < before)
		{
			elements->added = true;
			elements->shape = call->shape;
		}
		if (left > 0 && changes > MAX_CHANGES)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("filter at key \"%s\" keeps changing", key)));
	} while (left > 0);
	MemoryContextSwitchTo(old);
}

/* One element. */
static bool
process_one(FunctionCallInfo fcinfo, Operation operation, bool ask)
{
	Call	   *call = get_call(fcinfo, false);
	Oid			server = bf_server_argument(fcinfo, 0);
	char	   *key = bf_key_argument(fcinfo, 1);
	Datum		value = PG_GETARG_DATUM(2);
	bool		answer = false;
	bool		done = false;
	Elements	elements = {&value, &answer, &done, 1};

	process(call, server, key, &elements, operation, ask);
	return answer;
}

/* An array of elements: an answer for each, in its shape, NULL for NULL. */
static Datum
process_array(FunctionCallInfo fcinfo, Operation operation, bool ask)
{
	Call	   *call = get_call(fcinfo, true);
	Oid			server = bf_server_argument(fcinfo, 0);
	char	   *key = bf_key_argument(fcinfo, 1);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(2);
	ArrayType  *answers = bf_answers_make(array);
	ArrayIterator iterator = array_create_iterator(array, 0, NULL);
	int			room = Min(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)),
						   PIECE);
	Elements	elements = {
		.values = palloc(sizeof(Datum) * room),
		.answers = (bool *) ARR_DATA_PTR(answers),
		.done = palloc(room)
	};

	/* Nothing to ask for is asked for, too: the filter must be there. */
	do
	{
		elements.answers += elements.count;
		elements.count = bf_elements_take(iterator, elements.values, room);
		memset(elements.done, false, elements.count);
		process(call, server, key, &elements, operation, ask);
	} while (elements.count == PIECE);
	return PointerGetDatum(answers);
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
