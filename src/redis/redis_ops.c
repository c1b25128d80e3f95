/*
 * redis_ops.c
 *	  bf_redis_add and bf_redis_contains: add elements to a filter that lives
 *	  in Redis, and look them up.
 *
 * A session remembers the description of a filter for a second, so that a
 * statement like the previous one takes one round trip.  Every command
 * compares the description with what is there; if that has changed, the filter
 * is described again and what was not done is repeated.  The number of shards
 * is compared after each round.  A few elements may be looked up by a command
 * that compares less; then the first lookup of a statement compares
 * everything, so that its result is about what was there when the statement
 * began.
 *
 * Elements are added by the funnel of the filter, which its first element or
 * bf_redis_create decided.  Integers of different widths are equal in SQL but
 * take 4 or 8 bytes in Guava, and text is in UTF-8 or in UTF-16; if nothing
 * records which of them a filter has, no element is added.  A lookup then
 * tries each form that the element can have, and each type that a text can be
 * read as.  It uses one form only if the filter's own hash records it, and
 * that hash is compared at the same moment as the string.  A note next to a
 * Guava filter may be lost or left over: a "no" rests on it only if its
 * witness proves that it is about the string.
 *
 * Arrays are processed in pieces, so that memory does not grow with them.  A
 * filter that grows cuts a round short, and each round takes at most twice
 * what the previous one has done: otherwise all remaining elements would be
 * hashed and sent again for each layer.
 *
 * A lookup goes on with a filter that has replaced the one described.
 * Elements that are added are not in both: an array that was not added
 * entirely to filters of one shape is an error.
 *
 * A filter that does not exist is an error, never a "no".
 */
#include "postgres.h"

#include <ctype.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "redis/driver.h"
#include "redis/options.h"
#include "type/elements.h"

PG_FUNCTION_INFO_V1(bloomext_redis_add);
PG_FUNCTION_INFO_V1(bloomext_redis_contains);
PG_FUNCTION_INFO_V1(bloomext_redis_add_each);
PG_FUNCTION_INFO_V1(bloomext_redis_contains_each);

/* A description is looked at again after so many ms. */
#define KEEP_FOR	1000

/* Elements that a round takes at least, while there are such. */
#define MIN_BATCH	100

/* Elements of an array at a time: what is made of them takes some MB. */
#define PIECE		65536

/* Filters that a session keeps the descriptions of. */
#define KEPT	16

/* Elements up to which bits of a string with a head are cheaper asked for without guards. */
#define FEW		16

/* What the session knows of a filter, if its key is not NULL. */
typedef struct Known
{
	MemoryContext context;		/* of the key and the shards */
	Oid			server;
	Oid			user;			/* who has asked Redis for it */
	char	   *key;
	TimestampTz described;
	uint64		changes;		/* bf_connection_changes() before that */
	uint64		number;			/* which description it is */
	BfShards	shards;
	uint64		shape;			/* a hash of what makes it another filter */
} Known;

static Known kept[KEPT];

/* What a call site keeps. */
typedef struct Call
{
	BfElementType element;
	bool		ask;			/* or add */
	MemoryContext round;		/* of what one round needs */
	Known	   *known;			/* the filter of the round */
	uint64		compared;		/* the description that all was compared with, */
	TimestampTz statement;		/* in the statement that began then */
} Call;

/* Elements of one call, or a piece of them, and what is known of them. */
typedef struct Elements
{
	Datum	   *values;
	bool	   *answers;
	bool	   *done;
	int			count;
	int			left;			/* that are still to be done */
	bool		added;			/* some, or some of an earlier piece? */
	uint64		shape;			/* of the filter that these were added to */
} Elements;

/* The call site, at its first call made. */
static Call *
get_call(FunctionCallInfo fcinfo, bool array, bool ask)
{
	Call	   *call = bf_call_site(fcinfo, 2, array, sizeof(Call));

	if (call->round == NULL)
	{
		call->ask = ask;
		call->round = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
											"bloomext Redis round",
											ALLOCSET_DEFAULT_SIZES);
	}
	return call;
}

/* Hash what would be another if the filter were: all but its newer layers. */
static uint64
hash_shape(const BfShards *shards)
{
	uint64		hash = hash_combine64((uintptr_t) shards->remote->layout,
									  shards->count);

	for (int i = 0; i < shards->count; i++)
	{
		const BfHeader *header = &shards->remote[i].plan.header;
		const BfLayer *first = &shards->remote[i].plan.first;
		const double shape[] = {
			header->strategy, header->funnel, header->meaning, header->expansion,
			header->expected, header->fpp,
			first->bits, first->hashes
		};

		hash = hash_bytes_extended((const unsigned char *) shape,
								   sizeof(shape), hash);
	}
	return hash;
}

/*
 * Have a filter that holds nothing yet hold what the element is, from its first
 * elements on.  One that is spread over shards is bound as its first shard is, at
 * once; false where that is not what it was described as.
 */
static bool
bind_filter(Call *call)
{
	BfShards   *shards = &call->known->shards;
	BfRemote   *first = shards->remote;

	if (!bf_remote_is_unbound(first) ||
		first->bind.funnel != BF_FUNNEL_UNBOUND)
		return true;
	bf_shards_bind(shards, (BfBinding) {
		bf_element_bind_to(&first->plan, &call->element), call->element.meaning
	});
	call->known->shape = hash_shape(shards);
	return shards->count == 1 || bf_remote_note(first);
}

/* Is it about this filter, as the current user sees it? */
static bool
is_about(const Known *known, Oid server, const char *key)
{
	return known->key != NULL && known->server == server &&
		known->user == GetUserId() && strcmp(known->key, key) == 0;
}

/* Is it recent? */
static bool
is_recent(const Known *known)
{
	return known->changes == bf_connection_changes() &&
		!TimestampDifferenceExceeds(known->described, GetCurrentTimestamp(),
									KEEP_FOR);
}

/*
 * Whether a filter that is remembered surely takes elements of the call's type, and has
 * no limit to what is added.  What is refused is refused for what is there, and not for
 * what was there.
 */
static bool
takes_elements(const Call *call, const Known *known)
{
	const BfRemote *remote = known->shards.remote;
	const BfPlan *plan = &remote->plan;
	const BfElementType *element = &call->element;
	BfFunnel	funnel = (BfFunnel) plan->header.funnel;

	if (!bf_element_has_meaning(element, &plan->header) ||
		(!call->ask && remote->layout->layer_suffix != NULL))
		return false;
	if (funnel == BF_FUNNEL_UNBOUND)
		return call->ask &&
			plan->strategy->funnels[element->kind] != BF_FUNNEL_UNBOUND;
	return bf_element_fits(plan->strategy, funnel, element) &&
		(call->ask || funnel != BF_FUNNEL_INT);
}

/* Describe a filter, in place of one that was described before. */
static void
describe(Known *known, Oid server, const char *key)
{
	static uint64 descriptions = 0;
	MemoryContext old;

	known->key = NULL;
	known->changes = bf_connection_changes();
	if (known->context == NULL)
		known->context = AllocSetContextCreate(TopMemoryContext,
											   "bloomext Redis filter",
											   ALLOCSET_SMALL_SIZES);
	MemoryContextReset(known->context);
	old = MemoryContextSwitchTo(known->context);
	bf_shards_describe(server, key, &known->shards);
	known->shape = hash_shape(&known->shards);
	known->server = server;
	known->user = GetUserId();
	known->described = GetCurrentTimestamp();
	known->number = ++descriptions;
	known->key = pstrdup(key);
	MemoryContextSwitchTo(old);
}

/*
 * What is known of a filter, which is described if nothing is; all is compared then.
 * It takes the place of what was described longest ago.  A call site may be used by
 * several statements, as one of PL/pgSQL is.
 */
static void
find_known(Call *call, Oid server, const char *key)
{
	Known	   *oldest = kept;

	for (Known *known = kept; known < kept + KEPT; known++)
	{
		if (is_about(known, server, key))
		{
			oldest = known;
			break;
		}
		if (known->key == NULL ||
			(oldest->key != NULL && known->described < oldest->described))
			oldest = known;
	}
	call->known = oldest;
	if (call->statement != GetCurrentStatementStartTimestamp())
		call->compared = 0;
	call->statement = GetCurrentStatementStartTimestamp();
	if (is_about(oldest, server, key) && is_recent(oldest) &&
		(call->compared == oldest->number || takes_elements(call, oldest)))
		return;
	describe(oldest, server, key);
	call->compared = oldest->number;
}

/* Forget all filters: this session changes one. */
void
bf_items_forget(void)
{
	for (int i = 0; i < KEPT; i++)
	{
		kept[i].key = NULL;
		if (kept[i].context != NULL)
			MemoryContextReset(kept[i].context);
	}
}

/* Keep an element's bytes, for a server that hashes by itself. */
static bool
keep_bytes(const BfStrategy *strategy, BfFunnel funnel,
		   const BfElementType *element, Datum value, BfHash *hash)
{
	BfElementBytes bytes;

	if (!bf_element_bytes(strategy, funnel, element, value, &bytes))
		return false;
	hash->data = memcpy(palloc(Max(bytes.length, 1)), bytes.data,
						bytes.length);
	hash->length = bytes.length;
	if (bytes.made != NULL)
		pfree(bytes.made);
	return true;
}

/* Append an element by a funnel; false where the filter cannot hold it. */
static bool
append_item(BfItems *items, const BfRemote *remote, BfFunnel funnel,
			const BfElementType *element, Datum value, int source)
{
	const BfStrategy *strategy = remote->plan.strategy;
	BfItem		item = {.source = source};
	bool		fits = remote->layout->driver->hashes_itself ?
		keep_bytes(strategy, funnel, element, value, &item.hash) :
		bf_element_hash(strategy, funnel, element, value, &item.hash);

	if (!fits)
		return false;
	if (items->count == items->capacity)
	{
		items->capacity = Max(2 * items->capacity, 16);
		items->item = items->item == NULL ?
			palloc(items->capacity * sizeof(BfItem)) :
			repalloc_huge(items->item, items->capacity * sizeof(BfItem));
	}
	items->item[items->count++] = item;
	return true;
}

/* The other funnel by which a filter may have elements of the same kind, if any. */
static BfFunnel
other_funnel(const BfStrategy *strategy, BfFunnel funnel)
{
	BfFunnel	other = funnel == BF_FUNNEL_INT ? BF_FUNNEL_LONG :
		funnel == BF_FUNNEL_LONG ? BF_FUNNEL_INT :
		funnel == BF_FUNNEL_UTF8 ? BF_FUNNEL_UTF16 :
		funnel == BF_FUNNEL_UTF16 ? BF_FUNNEL_UTF8 : BF_FUNNEL_UNBOUND;

	return other != BF_FUNNEL_UNBOUND &&
		bf_strategy_takes_funnel(strategy, other) ? other : BF_FUNNEL_UNBOUND;
}

/*
 * Refuse to add an element to a filter that may have it by one funnel or by another,
 * where nothing says by which.
 */
static void
refuse_guess(const BfRemote *remote, BfFunnel funnel)
{
	BfFunnel	other = other_funnel(remote->plan.strategy, funnel);

	if (other != BF_FUNNEL_UNBOUND)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filter at key \"%s\" does not record whether its elements use funnel \"%s\" or \"%s\"",
						remote->key, bf_funnel_name(funnel),
						bf_funnel_name(other)),
				 errdetail("An element added with one funnel is not found with the other."),
				 errhint("Call bf_redis_create once, with the filter's parameters and funnel => '%s' or '%s'.",
						 bf_funnel_name(funnel), bf_funnel_name(other))));
}

/* Append an element to be added, as the filter has its elements. */
static void
append_addition(BfItems *items, const BfRemote *remote,
				BfElementType *element, Datum value, int source)
{
	BfFunnel	known = remote->plan.header.funnel;
	BfFunnel	funnel = bf_element_bind_to(&remote->plan, element);

	if (known == BF_FUNNEL_UNBOUND)
		refuse_guess(remote, funnel);
	if (!append_item(items, remote, funnel, element, value, source))
		bf_element_does_not_fit(element, value);
}

/* Read a text as an integer, as SQL would read a literal. */
static bool
reads_as_integer(const char *text, int64 *integer)
{
	char	   *end;

	errno = 0;
	*integer = strtoll(text, &end, 10);
	return end != text && errno == 0 && end[strspn(end, " \f\n\r\t\v")] == '\0';
}

/* Read a text as a uuid: 32 hexadecimal digits, with hyphens or braces or not. */
static bool
reads_as_uuid(const char *text, pg_uuid_t *uuid)
{
	char		digits[2 * UUID_LEN];
	int			count = 0;

	for (; *text != '\0'; text++)
	{
		if (strchr("{-}", *text) != NULL)
			continue;
		if (count == lengthof(digits) || !isxdigit((unsigned char) *text))
			return false;
		digits[count++] = *text;
	}
	if (count < lengthof(digits))
		return false;
	(void) hex_decode(digits, count, (char *) uuid->data);
	return true;
}

/*
 * Append a text as what else it may be: where nothing says of what kind a filter's
 * elements are, an untyped literal or parameter, which is a text to us, may have been
 * meant as an integer or a uuid.
 */
static void
append_readings(BfItems *items, const BfRemote *remote, Datum value,
				int source)
{
	const BfStrategy *strategy = remote->plan.strategy;
	char	   *string = TextDatumGetCString(value);
	BfElementType as;
	int64		integer;
	pg_uuid_t	uuid;

	if (reads_as_integer(string, &integer))
	{
		bf_element_type(INT8OID, InvalidOid, &as);
		for (BfFunnel funnel = 1; funnel <= BF_FUNNEL_LAST; funnel++)
		{
			if (bf_strategy_takes_funnel(strategy, funnel) &&
				bf_element_fits(strategy, funnel, &as))
				(void) append_item(items, remote, funnel, &as,
								   Int64GetDatum(integer), source);
		}
	}
	else if (reads_as_uuid(string, &uuid))
	{
		bf_element_type(UUIDOID, InvalidOid, &as);
		(void) append_item(items, remote, strategy->funnels[BF_KIND_UUID], &as,
						   UUIDPGetDatum(&uuid), source);
	}
	pfree(string);
}

/*
 * Append an element to be asked for: by the filter's own funnel if that is surely the
 * one, and compared with the bits, else by every one that the element may have.  An
 * integer that is too wide for the filter is asked for all the same: the one
 * that has taken its place by now may hold it.  So may text with its blanks.
 */
static void
append_question(BfItems *items, const BfRemote *remote,
				BfElementType *element, Datum value, int source)
{
	const BfStrategy *strategy = remote->plan.strategy;
	BfFunnel	known = remote->plan.header.funnel;
	BfFunnel	funnel = bf_element_bind_to(&remote->plan, element);
	bool		sure = known != BF_FUNNEL_UNBOUND && bf_remote_is_proven(remote);

	if (append_item(items, remote, funnel, element, value, source) && sure)
		return;
	for (int other = 1; other <= BF_FUNNEL_LAST; other++)
	{
		if (other != (int) funnel && bf_strategy_takes_funnel(strategy, other) &&
			bf_element_fits(strategy, other, element))
			(void) append_item(items, remote, other, element, value, source);
	}
	if (known == BF_FUNNEL_UNBOUND && element->meaning == BF_MEANING_TEXT)
		append_readings(items, remote, value, source);
	if (!element->ignores_blanks)
		return;
	bf_element_go_into(element, BF_MEANING_UNKNOWN);
	if (!element->ignores_blanks)
		(void) append_item(items, remote, funnel, element, value, source);
}

/*
 * Hash elements that are not done, a batch at most, each for its shard.  They
 * are done unless one of their items turns out not to be.
 */
static BfItems *
hash_elements(Call *call, Elements *elements, int batch)
{
	const Known *known = call->known;
	BfItems    *items = palloc0(sizeof(BfItems) * known->shards.count);
	void		(*append) (BfItems *items, const BfRemote *remote,
						   BfElementType *element, Datum value,
						   int source) =
		call->ask ? append_question : append_addition;

	for (int i = 0; i < known->shards.count; i++)
	{
		const BfRemote *remote = &known->shards.remote[i];

		items[i].guarded = bf_layout_head(remote->layout) == 0 || remote->is_shard ||
			call->compared != known->number || batch > FEW;
	}
	for (int i = 0; i < elements->count && batch > 0; i++)
	{
		int			shard;

		CHECK_FOR_INTERRUPTS();
		if (elements->done[i])
			continue;
		batch--;
		shard = bf_shards_find(&known->shards, &call->element,
							   elements->values[i]);
		append(&items[shard], &known->shards.remote[shard], &call->element,
			   elements->values[i], i);
		elements->done[i] = true;
		elements->left--;
	}
	return items;
}

/* Note the answers of a shard's items, and what has none yet. */
static void
note_answers(Elements *elements, const BfItems *items)
{
	for (int i = 0; i < items->count; i++)
	{
		const BfItem *item = &items->item[i];

		elements->answers[item->source] |= item->done && item->answer;
		if (item->done || !elements->done[item->source])
			continue;
		elements->done[item->source] = false;
		elements->left++;
	}
}

/* Forget the answers of a round: they are about shards that are others now. */
static void
forget_round(Elements *elements, const BfItems *items, int shards)
{
	for (int i = 0; i < shards; i++)
	{
		for (int j = 0; j < items[i].count; j++)
		{
			int			source = items[i].item[j].source;

			elements->answers[source] = false;
			elements->left += elements->done[source];
			elements->done[source] = false;
		}
	}
}

/* Do a batch of elements; false where the filter has changed. */
static bool
run_round(Call *call, Elements *elements, int batch)
{
	BfShards   *shards = &call->known->shards;
	BfItems    *items;
	bool		same = true;

	if (!call->ask && !bind_filter(call))
		return false;
	items = hash_elements(call, elements, batch);
	for (int i = 0; i < shards->count; i++)
	{
		BfRemote   *remote = &shards->remote[i];
		const BfDriver *driver = remote->layout->driver;

		if (items[i].count == 0)
			continue;
		if (call->ask)
			same &= driver->contains(remote, &items[i]);
		else if (driver->add(remote, &items[i]))
			bf_remote_noted(remote);
		else
			same = false;
		note_answers(elements, &items[i]);
	}
	if (bf_shards_are_same(&shards->whole))
		return same;
	forget_round(elements, items, shards->count);
	return false;
}

/*
 * Raise that a filter is not the one that this call has added elements to: in
 * what has taken its place they are not.
 */
static void
check_shape(const Known *known, const Elements *elements)
{
	if (elements->added && known->shape != elements->shape)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("filter at key \"%s\" was replaced while elements were being added",
						known->key),
				 errdetail("Some of the elements were added to the replaced filter."),
				 errhint("Add all of the elements again.")));
}

/* Ask for, or add, elements; again those that a change left undone. */
static void
process(Call *call, Oid server, const char *key, Elements *elements)
{
	MemoryContext old = MemoryContextSwitchTo(call->round);
	int			batch = elements->count;
	int			changes = 0;

	elements->left = elements->count;
	memset(elements->done, false, elements->count);
	do
	{
		int			before = elements->left;
		bool		same;
		Known	   *known;
		char	   *known_key;

		find_known(call, server, key);
		known = call->known;
		check_shape(known, elements);
		/* An error leaves nobody with what was half done. */
		known_key = known->key;
		known->key = NULL;
		same = run_round(call, elements, batch);
		MemoryContextReset(call->round);
		batch = Max(2 * (before - elements->left), MIN_BATCH);
		if (same)
		{
			known->key = known_key;
			call->compared = known->number;
		}
		changes = elements->left < before ? 0 : changes + 1;
		if (elements->left < before)
		{
			elements->added = !call->ask;
			elements->shape = known->shape;
		}
		if (elements->left > 0 && changes > BF_MAX_CHANGES)
			bf_remote_keeps_changing(key);
	} while (elements->left > 0);
	MemoryContextSwitchTo(old);
}

/* One element. */
static bool
process_one(FunctionCallInfo fcinfo, bool ask)
{
	Call	   *call = get_call(fcinfo, false, ask);
	Datum		value = PG_GETARG_DATUM(2);
	bool		answer = false;
	bool		done;
	Elements	elements = {&value, &answer, &done, 1};

	process(call, bf_server_argument(fcinfo, 0), bf_key_argument(fcinfo, 1),
			&elements);
	return answer;
}

/* An array of elements: an answer for each, NULL for NULL. */
static ArrayType *
process_array(FunctionCallInfo fcinfo, bool ask)
{
	Call	   *call = get_call(fcinfo, true, ask);
	Oid			server = bf_server_argument(fcinfo, 0);
	char	   *key = bf_key_argument(fcinfo, 1);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(2);
	int			length = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	int			room = Min(length, PIECE) + 1;
	ArrayIterator iterator = array_create_iterator(array, 0, NULL);
	ArrayType  *answers = bf_answers_make(array);
	Elements	elements = {
		.values = palloc(room * sizeof(Datum)),
		.answers = (bool *) ARR_DATA_PTR(answers),
		.done = palloc(room)
	};

	/* Nothing to ask for is asked for, too: the filter must be there. */
	do
	{
		elements.count = bf_elements_take(iterator, elements.values, room);
		process(call, server, key, &elements);
		elements.answers += elements.count;
	} while (elements.count == room);
	return answers;
}

/* bf_redis_add(server, key, element): true: it was surely new */
Datum
bloomext_redis_add(PG_FUNCTION_ARGS)
{
	bf_refuse_read_only("bf_redis_add()");
	PG_RETURN_BOOL(process_one(fcinfo, false));
}

/* bf_redis_contains(server, key, element): false: surely not there */
Datum
bloomext_redis_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(process_one(fcinfo, true));
}

/* bf_redis_add_each(server, key, elements) */
Datum
bloomext_redis_add_each(PG_FUNCTION_ARGS)
{
	bf_refuse_read_only("bf_redis_add_each()");
	PG_RETURN_ARRAYTYPE_P(process_array(fcinfo, false));
}

/* bf_redis_contains_each(server, key, elements) */
Datum
bloomext_redis_contains_each(PG_FUNCTION_ARGS)
{
	PG_RETURN_ARRAYTYPE_P(process_array(fcinfo, true));
}
