/*
 * redis_ops.c
 *	  bf_redis_add and bf_redis_contains: add elements to a filter that lives
 *	  in Redis, and look them up.
 *
 * A session remembers the description of a filter for a second, so that a
 * statement like the previous one takes one round trip.  Every command
 * compares the description with what is there; if the filter has changed, it
 * is described again, and what was not done yet is tried again.  The number
 * of shards is compared after each round.  A few elements may be looked up by
 * a command that compares only a part of the description.  In that case the
 * first lookup of a statement compares all of it, so that its result is about
 * what was there when the statement began.
 *
 * Elements are added by the funnel of the filter, which its first element or
 * bf_redis_create decided.  Integers of different widths can be equal in SQL,
 * but take 4 or 8 bytes in Guava; text is in UTF-8 or in UTF-16.  If nothing
 * records which of these forms a filter uses, no element is added, and a
 * lookup tries each form that the element can have, and each type as which a
 * text can be read.  A lookup tries a single form only if the filter's own
 * Redis hash records it, and compares the hash at the moment at which it
 * reads bits.  A note next to a Guava filter may be left over from another
 * one: a "no" rests on the note only if its witness proves that it is about
 * this string.
 *
 * Arrays are processed in pieces, so that memory does not grow with them.
 * When a filter grows, the present round of commands ends early, so a round
 * takes at most twice as many elements as the previous one has processed:
 * otherwise all remaining elements would be hashed and sent again for each
 * layer.
 *
 * If the filter is replaced during a lookup, the lookup goes on with the new
 * one.  But if it is replaced by one of another shape while an array is being
 * added, that is an error, as neither filter has all of the elements.
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

#include "redis/options.h"
#include "redis/shards.h"
#include "type/element_hash.h"

PG_FUNCTION_INFO_V1(bloomext_redis_add);
PG_FUNCTION_INFO_V1(bloomext_redis_contains);
PG_FUNCTION_INFO_V1(bloomext_redis_add_each);
PG_FUNCTION_INFO_V1(bloomext_redis_contains_each);

/* Milliseconds for which a description is used without looking again. */
#define KEEP_FOR	1000

/* Minimum number of elements in a round, if there are that many. */
#define MIN_BATCH	100

/* Elements of an array that are processed at a time: they take some MB. */
#define PIECE		65536

/* Number of filters whose descriptions a session keeps. */
#define KEPT	16

/* The most elements whose bits are cheaper to look up without guards. */
#define FEW		16

/* A remembered filter, if its key is not NULL. */
typedef struct KnownFilter
{
	MemoryContext context;		/* of the key and the shards */
	Oid			server;
	Oid			user;			/* whose account was used */
	char	   *key;
	TimestampTz described;
	uint64		changes;		/* bf_connection_changes() before the
								 * description */
	uint64		number;			/* number of the description */
	BfShards	shards;
	uint64		shape;			/* hash_shape() of shards */
} KnownFilter;

static KnownFilter kept[KEPT];

/* State of a call site. */
typedef struct CallSite
{
	BfElementType element;
	bool		lookup;			/* look up, or add */
	MemoryContext round;		/* for what one round needs */
	KnownFilter *known;			/* the filter of this round */
	uint64		compared;		/* number of the description that was compared
								 * in full */
	TimestampTz statement;		/* in the statement that started at this
								 * time */
} CallSite;

/* Elements of one call, or a piece of them, and their state. */
typedef struct ElementBatch
{
	Datum	   *values;
	bool	   *answers;
	bool	   *done;
	int			count;
	int			left;			/* number of elements not done */
	bool		added;			/* were any added, by this piece or an earlier
								 * one? */
	uint64		shape;			/* of the filter that they were added to */
} ElementBatch;

/* Get the state of the call site; it is made by the first call. */
static CallSite *
get_call(FunctionCallInfo fcinfo, bool array, bool lookup)
{
	CallSite   *call = bf_call_site(fcinfo, 2, array, sizeof(CallSite));

	if (call->round == NULL)
	{
		call->lookup = lookup;
		call->round = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
											"bloomext Redis round",
											ALLOCSET_DEFAULT_SIZES);
	}
	return call;
}

/* Hash what identifies a filter: everything but its newer layers. */
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
 * Bind a filter that is still empty to the type of its first element.  All
 * shards are bound like the first, before elements are added; returns false if
 * that is not what was described.
 */
static bool
bind_filter(CallSite *call)
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

/* Is a description about this filter, for the current user? */
static bool
is_about(const KnownFilter *known, Oid server, const char *key)
{
	return known->key != NULL && known->server == server &&
		known->user == GetUserId() && strcmp(known->key, key) == 0;
}

/* Is a description recent enough to be used? */
static bool
is_recent(const KnownFilter *known)
{
	return known->changes == bf_connection_changes() &&
		!TimestampDifferenceExceeds(known->described, GetCurrentTimestamp(),
									KEEP_FOR);
}

/*
 * Whether a remembered filter surely accepts elements of the call's type, and
 * without limit.  If not, it is described again: an error must be about the
 * filter that is there now.
 */
static bool
takes_elements(const CallSite *call, const KnownFilter *known)
{
	const BfRemote *remote = known->shards.remote;
	const BfPlan *plan = &remote->plan;
	const BfElementType *element = &call->element;
	BfFunnel	funnel = (BfFunnel) plan->header.funnel;

	if (!bf_element_has_meaning(element, plan) ||
		(!call->lookup && remote->layout->layer_suffix != NULL))
		return false;
	if (funnel == BF_FUNNEL_UNBOUND)
		return call->lookup &&
			plan->strategy->funnels[element->kind] != BF_FUNNEL_UNBOUND;
	return bf_element_fits(plan->strategy, funnel, element) &&
		(call->lookup || funnel != BF_FUNNEL_INT);
}

/* Describe a filter, in place of the description that was there. */
static void
describe_filter(KnownFilter *known, Oid server, const char *key)
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
 * Set call->known to the filter, describing and comparing it in full if it is
 * not remembered.  It replaces the oldest description.  A call site may be
 * used by several statements, as in PL/pgSQL.
 */
static void
find_known(CallSite *call, Oid server, const char *key)
{
	KnownFilter *oldest = kept;

	for (KnownFilter *known = kept; known < kept + KEPT; known++)
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
	describe_filter(oldest, server, key);
	call->compared = oldest->number;
}

/* Forget all filters, because this session changes one. */
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

/* Keep the bytes of an element, for a server that hashes by itself. */
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

/* Append an element by a funnel; false if the filter cannot hold it. */
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
	/* Until its bits are asked for, 1 kB would be too much to keep. */
	if (item.hash.digests != NULL)
		pfree(item.hash.digests);
	item.hash.digests = NULL;
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

/* The other funnel that a filter may use for elements of this kind, if any. */
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
 * Raise an error if a filter may use either of two funnels for an element to
 * be added, and nothing records which.
 */
static void
refuse_ambiguous_funnel(const BfRemote *remote, BfFunnel funnel)
{
	BfFunnel	other = other_funnel(remote->plan.strategy, funnel);

	if (other != BF_FUNNEL_UNBOUND)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filter at key \"%s\" does not record whether its elements use funnel \"%s\" or \"%s\"",
						remote->key, bf_funnel_name(funnel),
						bf_funnel_name(other)),
				 errdetail("An element added with one funnel is not found with the other."),
				 errhint("To record the funnel, call bf_redis_create for this key with the filter's own parameters and funnel => '%s' or '%s'; the elements in the filter are kept.",
						 bf_funnel_name(funnel), bf_funnel_name(other))));
}

/* Append an element to be added, by the funnel of the filter. */
static void
append_added_item(BfItems *items, const BfRemote *remote,
				  BfElementType *element, Datum value, int source)
{
	BfFunnel	known = remote->plan.header.funnel;
	BfFunnel	funnel = bf_element_bind_to(&remote->plan, element);

	if (known == BF_FUNNEL_UNBOUND)
		refuse_ambiguous_funnel(remote, funnel);
	if (!append_item(items, remote, funnel, element, value, source))
		bf_element_does_not_fit(element, value);
}

/* Read a text as an integer, like a literal in SQL. */
static bool
reads_as_integer(const char *text, int64 *integer)
{
	char	   *end;

	errno = 0;
	*integer = strtoll(text, &end, 10);
	return end != text && errno == 0 && end[strspn(end, " \f\n\r\t\v")] == '\0';
}

/* Read a text as a uuid: 32 hexadecimal digits, maybe hyphens and braces. */
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
 * Append what else a text may mean: if the kind of a filter's elements is not
 * recorded, an untyped literal or parameter, which is a text here, may have
 * been meant as an integer or a uuid.
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

/* Append an element by every funnel that it may have but one. */
static void
append_by_others(BfItems *items, const BfRemote *remote, BfFunnel but,
				 const BfElementType *element, Datum value, int source)
{
	const BfStrategy *strategy = remote->plan.strategy;

	for (BfFunnel funnel = 1; funnel <= BF_FUNNEL_LAST; funnel++)
	{
		if (funnel != but && bf_strategy_takes_funnel(strategy, funnel) &&
			bf_element_fits(strategy, funnel, element))
			(void) append_item(items, remote, funnel, element, value, source);
	}
}

/*
 * Append an element to be looked up: by the filter's own funnel if that is
 * certain, and compared with the bits, else by every funnel that the element
 * may have, and text both with and without its trailing blanks.  An integer
 * that is too wide for the filter is looked up nevertheless: a filter that has
 * replaced it may hold it.
 */
static void
append_lookup_item(BfItems *items, const BfRemote *remote,
				   BfElementType *element, Datum value, int source)
{
	BfFunnel	known = remote->plan.header.funnel;
	BfFunnel	funnel = bf_element_bind_to(&remote->plan, element);
	bool		sure = known != BF_FUNNEL_UNBOUND && bf_remote_is_proven(remote);

	if (append_item(items, remote, funnel, element, value, source) && sure)
		return;
	append_by_others(items, remote, funnel, element, value, source);
	if (known == BF_FUNNEL_UNBOUND && element->meaning == BF_MEANING_TEXT)
		append_readings(items, remote, value, source);
	if (element->meaning != BF_MEANING_TEXT ||
		!bf_element_ends_in_blank(element, value))
		return;
	bf_element_go_into(element, element->ignores_blanks ? BF_MEANING_TEXT :
					   BF_MEANING_BPCHAR);
	(void) append_item(items, remote, funnel, element, value, source);
	append_by_others(items, remote, funnel, element, value, source);
}

/*
 * Hash up to a batch of elements that are not done, each for its shard.  An
 * element counts as done unless one of its items turns out not to be.
 */
static BfItems *
hash_elements(CallSite *call, ElementBatch *elements, int batch)
{
	const KnownFilter *known = call->known;
	BfItems    *items = palloc0(sizeof(BfItems) * known->shards.count);
	void		(*append) (BfItems *items, const BfRemote *remote,
						   BfElementType *element, Datum value,
						   int source) =
		call->lookup ? append_lookup_item : append_added_item;

	for (int i = 0; i < known->shards.count; i++)
	{
		const BfRemote *remote = &known->shards.remote[i];

		items[i].guarded = bf_layout_head(remote->layout) == 0 || remote->shard_of != NULL ||
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

/* Store the answers for a shard's items, and reset elements without one. */
static void
note_answers(ElementBatch *elements, const BfItems *items)
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

/* Discard the answers of a round, because the shards have been replaced. */
static void
forget_round(ElementBatch *elements, const BfItems *items, int shards)
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

/* Process a batch of elements; false if the filter has changed. */
static bool
run_round(CallSite *call, ElementBatch *elements, int batch)
{
	BfShards   *shards = &call->known->shards;
	BfItems    *items;
	bool		same = true;

	if (!call->lookup && !bind_filter(call))
		return false;
	items = hash_elements(call, elements, batch);
	for (int i = 0; i < shards->count; i++)
	{
		BfRemote   *remote = &shards->remote[i];
		const BfDriver *driver = remote->layout->driver;

		if (items[i].count == 0)
			continue;
		if (call->lookup)
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
 * Raise an error if a filter is not the one that this call has added elements
 * to: its replacement does not have them.
 */
static void
check_shape(const KnownFilter *known, const ElementBatch *elements)
{
	if (elements->added && known->shape != elements->shape)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("filter at key \"%s\" was replaced while elements were being added",
						known->key),
				 errdetail("Some of the elements were added to the earlier filter only, and are not in the one that replaced it."),
				 errhint("Add all of the elements again.")));
}

/* Look up or add elements, and repeat those that a change left undone. */
static void
process_elements(CallSite *call, Oid server, const char *key,
				 ElementBatch *elements)
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
		KnownFilter *known;
		char	   *known_key;

		find_known(call, server, key);
		known = call->known;
		check_shape(known, elements);
		/* An error must not leave a half-processed description behind. */
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
			elements->added = !call->lookup;
			elements->shape = known->shape;
		}
		if (elements->left > 0 && changes > BF_MAX_CHANGES)
			bf_remote_keeps_changing(key);
	} while (elements->left > 0);
	MemoryContextSwitchTo(old);
}

/* Process a single element. */
static bool
process_one(FunctionCallInfo fcinfo, bool lookup)
{
	CallSite   *call = get_call(fcinfo, false, lookup);
	Datum		value = PG_GETARG_DATUM(2);
	bool		answer = false;
	bool		done;
	ElementBatch elements = {&value, &answer, &done, 1};

	process_elements(call, bf_server_argument(fcinfo, 0),
					 bf_key_argument(fcinfo, 1), &elements);
	return answer;
}

/* Process an array of elements; a NULL element has a NULL answer. */
static ArrayType *
process_array(FunctionCallInfo fcinfo, bool lookup)
{
	CallSite   *call = get_call(fcinfo, true, lookup);
	Oid			server = bf_server_argument(fcinfo, 0);
	char	   *key = bf_key_argument(fcinfo, 1);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(2);
	int			length = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	int			room = Min(length, PIECE) + 1;
	ArrayIterator iterator = array_create_iterator(array, 0, NULL);
	ArrayType  *answers = bf_answers_make(array);
	ElementBatch elements = {
		.values = palloc(room * sizeof(Datum)),
		.answers = (bool *) ARR_DATA_PTR(answers),
		.done = palloc(room)
	};

	/* Even without elements, the filter must exist. */
	do
	{
		elements.count = bf_elements_take(iterator, elements.values, room);
		process_elements(call, server, key, &elements);
		elements.answers += elements.count;
	} while (elements.count == room);
	return answers;
}

/* bf_redis_add(server, key, element): true if it was certainly new */
Datum
bloomext_redis_add(PG_FUNCTION_ARGS)
{
	bf_refuse_read_only("bf_redis_add()");
	PG_RETURN_BOOL(process_one(fcinfo, false));
}

/* bf_redis_contains(server, key, element): false if certainly not there */
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
