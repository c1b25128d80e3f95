/*
 * deferred.c
 *	  Keep a transaction's new elements until it commits.
 *
 * Nobody else can see a transaction's rows before it commits, so their bits
 * need not be set before.  Until then the hashes are kept in memory, each once;
 * then, or when many have come, they are stored as one batch, which touches
 * each page once.  A single row's transaction is a batch of one.
 *
 * The batch must be stored before the commit record is written: at pre-commit,
 * or at pre-prepare.  What other extensions insert after us at that moment is
 * stored at once.  An aborted transaction's hashes are forgotten, those of an
 * aborted subtransaction kept: its bits would do no harm.
 *
 * Hashes are kept per index AND file.  A subtransaction that truncates the
 * table gives its index another file, and when it aborts, the old one returns:
 * hashes from before must not have gone into the file that vanished.  So a
 * flush in mid-transaction stores only what is meant for the file that is
 * there; at the end everything goes into the file that has stayed.
 *
 * The index may have been dropped in the meantime, or dropped and its OID
 * taken by another relation; its hashes are moot then.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "utils/memutils.h"

#include "live/live.h"

/* Hashes kept, of all indexes together, before they are stored: 2 MB. */
#define MOST_KEPT		65536

#define FIRST_SLOTS		16

/*
 * The hashes meant for one index in one file: a set with open addressing, at
 * most half full.  An empty slot is two zeros, so the hash that is two zeros,
 * Guava's of the empty string, is kept apart.
 */
typedef struct Deferred
{
	struct Deferred *next;
	Oid			index;
	Oid			access_method;
	RelFileNumber file;
	BfHashPair *slots;
	uint32		nslots;			/* a power of two */
	uint32		count;			/* in slots */
	bool		has_zero;
} Deferred;

/* Of the present transaction, last used first; in TopTransactionContext. */
static Deferred *deferred;
static uint64 kept;
static uint64 most = MOST_KEPT;
static MemoryContext scratch;

/* Has this transaction's batch been stored already? */
static bool is_ending;

/* What insertions may litter; whoever uses it resets it. */
MemoryContext
bf_deferred_scratch(void)
{
	if (scratch == NULL)
		scratch = AllocSetContextCreate(TopTransactionContext,
										"live filter insertion",
										ALLOCSET_SMALL_SIZES);
	return scratch;
}

/* Find where a hash is, or would go, in a set. */
static BfHashPair *
find_slot(BfHashPair *slots, uint32 nslots, const BfHashPair *pair)
{
	uint32		i = (uint32) pair->h1 & (nslots - 1);

	while ((slots[i].h1 != 0 || slots[i].h2 != 0) &&
		   (slots[i].h1 != pair->h1 || slots[i].h2 != pair->h2))
		i = (i + 1) & (nslots - 1);
	return &slots[i];
}

static inline bool
is_zero(const BfHashPair *pair)
{
	return pair->h1 == 0 && pair->h2 == 0;
}

static bool
set_contains(const Deferred *set, const BfHashPair *pair)
{
	if (is_zero(pair))
		return set->has_zero;
	return set->count > 0 &&
		!is_zero(find_slot(set->slots, set->nslots, pair));
}

/* Double a set's room, or give it its first. */
static void
grow(Deferred *set)
{
	uint32		nslots = Max(set->nslots * 2, FIRST_SLOTS);
	BfHashPair *slots = MemoryContextAllocZero(TopTransactionContext,
											   nslots * sizeof(BfHashPair));

	for (uint32 i = 0; i < set->nslots; i++)
	{
		if (!is_zero(&set->slots[i]))
			*find_slot(slots, nslots, &set->slots[i]) = set->slots[i];
	}
	if (set->slots != NULL)
		pfree(set->slots);
	set->slots = slots;
	set->nslots = nslots;
}

static void
set_add(Deferred *set, const BfHashPair *pair)
{
	BfHashPair *slot;

	if (is_zero(pair))
	{
		kept += !set->has_zero;
		set->has_zero = true;
		return;
	}
	if (set->count * 2 >= set->nslots)
		grow(set);
	slot = find_slot(set->slots, set->nslots, pair);
	if (is_zero(slot))
	{
		*slot = *pair;
		set->count++;
		kept++;
	}
}

/* Append a set's hashes to an array with room for them; returns how many. */
static size_t
set_copy(const Deferred *set, BfHashPair *pairs)
{
	size_t		count = 0;

	if (set->has_zero)
		pairs[count++] = (BfHashPair) {0, 0};
	for (uint32 i = 0; i < set->nslots; i++)
	{
		if (!is_zero(&set->slots[i]))
			pairs[count++] = set->slots[i];
	}
	return count;
}

/* Empty a set, and give up its room. */
static void
set_clear(Deferred *set)
{
	kept -= set->count + set->has_zero;
	if (set->slots != NULL)
		pfree(set->slots);
	set->slots = NULL;
	set->nslots = 0;
	set->count = 0;
	set->has_zero = false;
}

/* The index that a set was meant for, or NULL if that is no more. */
static Relation
open_index(const Deferred *set)
{
	Relation	index = try_relation_open(set->index, RowExclusiveLock);

	if (index == NULL)
		return NULL;
	if (index->rd_rel->relkind == RELKIND_INDEX &&
		index->rd_rel->relam == set->access_method)
		return index;
	relation_close(index, RowExclusiveLock);
	return NULL;
}

/*
 * Store a set's hashes, unless they are meant for a file that is not there at
 * the moment and may yet return.
 */
static void
store(Deferred *set)
{
	Relation	index;

	if (set->count == 0 && !set->has_zero)
		return;
	index = open_index(set);
	if (index == NULL)
		return;
	if (is_ending || compat_file_of(index) == set->file)
	{
		BfHashPair *pairs = palloc((set->count + 1) * sizeof(BfHashPair));

		bf_live_store(index, pairs, set_copy(set, pairs));
		pfree(pairs);
		set_clear(set);
	}
	relation_close(index, NoLock);
}

static void
store_all(void)
{
	for (Deferred *set = deferred; set != NULL; set = set->next)
		store(set);
	/* What has to stay must not make us try again for every row. */
	most = kept + MOST_KEPT;
}

/* The set for an index and the file it has, made if need be, and put first. */
static Deferred *
find_set(Relation index)
{
	Oid			oid = RelationGetRelid(index);
	RelFileNumber file = compat_file_of(index);
	Deferred  **link = &deferred;
	Deferred   *set;

	while (*link != NULL && ((*link)->index != oid || (*link)->file != file))
		link = &(*link)->next;
	set = *link;
	if (set == NULL)
	{
		set = MemoryContextAllocZero(TopTransactionContext, sizeof(Deferred));
		set->index = oid;
		set->access_method = index->rd_rel->relam;
		set->file = file;
	}
	else
		*link = set->next;
	set->next = deferred;
	deferred = set;
	return set;
}

/* Add a hash to an index when the transaction commits, or before. */
void
bf_deferred_add(Relation index, const BfHashPair *pair)
{
	if (is_ending)
	{
		BfHashPair	copy = *pair;

		bf_live_store(index, &copy, 1);
		return;
	}
	set_add(find_set(index), pair);
	if (kept >= most)
		store_all();
}

/* Whether this transaction added a hash that is not stored yet. */
bool
bf_deferred_contains(Oid index, const BfHashPair *pair)
{
	for (const Deferred *set = deferred; set != NULL; set = set->next)
	{
		if (set->index == index && set_contains(set, pair))
			return true;
	}
	return false;
}

/* All hashes of this transaction that are not stored yet. */
BfHashPair *
bf_deferred_copy(Oid index, size_t *count)
{
	size_t		room = 1;
	BfHashPair *pairs;

	for (const Deferred *set = deferred; set != NULL; set = set->next)
		room += set->index == index ? set->count + 1 : 0;
	pairs = palloc(room * sizeof(BfHashPair));
	*count = 0;
	for (const Deferred *set = deferred; set != NULL; set = set->next)
	{
		if (set->index == index)
			*count += set_copy(set, pairs + *count);
	}
	return pairs;
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			is_ending = true;
			store_all();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
		case XACT_EVENT_PREPARE:
			/* The memory goes with the transaction. */
			deferred = NULL;
			kept = 0;
			most = MOST_KEPT;
			scratch = NULL;
			is_ending = false;
			break;
	}
}

/* Called once, when the module is loaded. */
void
bf_deferred_init(void)
{
	RegisterXactCallback(at_transaction_event, NULL);
}
