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
 * stored at once.  A module that is loaded by such an insertion is told of
 * pre-commit no more; so in the transaction that loaded it, whatever is
 * inserted while no statement runs is stored at once, too.
 *
 * What was written goes with the table.  The set of hashes for an index knows
 * the table, and the file that the index had.
 *
 * - While the transaction lasts, a set leaves memory only by being stored in
 *	 that very file.  A subtransaction that truncates the table gives its index
 *	 another file, and when it is rolled back, the old one returns: hashes from
 *	 before must not have gone into the file that vanished.
 * - At the end a set goes to its index, whatever file that has by then.  If the
 *	 index is gone, another one may have taken over its file, or a copy of it,
 *	 without being built: a change of the column's type that needs no rewrite
 *	 does that.  So the set goes to every live filter of the table.
 * - A file that was built in this transaction, after the set was last added to,
 *	 has read the rows; it needs no more.
 * - This transaction's own lookups see all sets that the filter may yet need.
 *
 * What a subtransaction added is forgotten when it is rolled back: the first
 * hash that it adds to a set leaves a mark, which says how many came before.
 * Marks are a stack, as subtransactions are.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "common/hashfn.h"
#include "storage/predicate.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "live/live.h"
#include "live/pairset.h"

/* Hashes kept, of all indexes together, before they are stored: 2 MB. */
#define MOST_KEPT		65536

#define FIRST_TABLES	4
#define FIRST_MARKS		16

/* The hashes meant for one index in one file. */
typedef struct Deferred
{
	struct Deferred *next;		/* of the same table */
	Oid			table;
	Oid			index;
	Oid			access_method;
	RelFileLocator file;
	BfPairSet	set;
	uint64		stored;			/* hashes that left the set for the file */
	uint64		added_at;		/* when something was added last */
	uint64		built_at;		/* when the file was built; 0: not by us */
	SubTransactionId marked;	/* the innermost that has added something */
} Deferred;

/* The first time that a subtransaction adds to a set. */
typedef struct Mark
{
	Deferred   *deferred;
	SubTransactionId subxact;
	SubTransactionId outer;		/* the set's mark before; invalid: no set */
	uint64		count;			/* hashes before, those stored included */
} Mark;

typedef struct TableEntry
{
	Oid			table;
	char		status;
	Deferred   *sets;
} TableEntry;

#define SH_PREFIX tables
#define SH_ELEMENT_TYPE TableEntry
#define SH_KEY_TYPE Oid
#define SH_KEY table
#define SH_HASH_KEY(tb, key) murmurhash32(key)
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Of the present transaction, all in TopTransactionContext. */
static tables_hash *tables;
static Deferred *last;			/* used */
static Mark *marks;
static uint32 nmarks;
static uint32 marks_room;
static uint64 now;				/* counts additions */
static uint64 kept;
static uint64 most = MOST_KEPT;
static MemoryContext scratch;

/* Has this transaction's batch been stored already? */
static bool is_ending;

/* Is it the one that loaded the module, so that its end may be under way? */
static bool is_first;

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

/* Whether what is inserted now comes too late to be kept. */
bool
bf_deferred_is_ending(void)
{
	/* A portal gives up its resource owner when a transaction in it ends. */
	return is_ending ||
		(is_first && (ActivePortal == NULL || ActivePortal->resowner == NULL));
}

/* Empty a set whose hashes are in the file, or moot. */
static void
empty_set(Deferred *deferred)
{
	kept -= deferred->set.count;
	deferred->stored += deferred->set.count;
	bf_pairset_clear(&deferred->set);
}

/*
 * Store hashes, and find out who has looked for them in vain: when the core
 * checked that, at the row's insertion, the lookup may have been still to come.
 */
static void
put(Relation index, const BfPairSet *set)
{
	BfHashPair *pairs = palloc_extended(set->count * sizeof(BfHashPair),
										MCXT_ALLOC_HUGE);

	memcpy(pairs, set->pairs, set->count * sizeof(BfHashPair));
	bf_live_store(index, pairs, set->count);
	pfree(pairs);
	CheckForSerializableConflictIn(index, NULL, InvalidBlockNumber);
}

/* The index that a set was meant for, or NULL if that is no more. */
static Relation
open_index(const Deferred *deferred)
{
	Relation	index = try_relation_open(deferred->index, RowExclusiveLock);

	if (index == NULL)
		return NULL;
	if (index->rd_rel->relkind == RELKIND_INDEX &&
		index->rd_rel->relam == deferred->access_method &&
		index->rd_index->indrelid == deferred->table)
		return index;
	relation_close(index, RowExclusiveLock);
	return NULL;
}

/* Whether an index still has the file that the hashes are of. */
static bool
has_its_file(const Deferred *deferred, Relation index)
{
	return RelFileLocatorEquals(compat_locator_of(index), deferred->file);
}

/* The sets of a table, last made first. */
static Deferred *
sets_of(Oid table)
{
	TableEntry *entry = tables == NULL ? NULL : tables_lookup(tables, table);

	return entry == NULL ? NULL : entry->sets;
}

/* The set of a table for an index and the file it has, or NULL. */
static Deferred *
search_set(Deferred *sets, Relation index)
{
	while (sets != NULL &&
		   (sets->index != RelationGetRelid(index) ||
			!has_its_file(sets, index)))
		sets = sets->next;
	return sets;
}

/* Whether the file that an index has now may lack what a set has for it. */
static bool
file_needs(Relation index, const Deferred *deferred)
{
	const Deferred *own = search_set(sets_of(deferred->table), index);

	return own == NULL || own == deferred ||
		own->built_at < deferred->added_at;
}

/*
 * Store a set whose index is gone in the other live filters of its table: at
 * the end in all, before that in the one that has its file, if any.  Those
 * that are not ready will read the rows themselves.
 */
static void
store_in_others(Deferred *deferred)
{
	Relation	table = try_relation_open(deferred->table, RowExclusiveLock);
	List	   *indexes;
	ListCell   *cell;

	if (table == NULL)
		return;
	indexes = RelationGetIndexList(table);
	foreach(cell, indexes)
	{
		Relation	index = try_relation_open(lfirst_oid(cell),
											  RowExclusiveLock);

		if (index == NULL)
			continue;
		if (bf_is_live_filter(index) && index->rd_index->indisready &&
			deferred->set.count > 0)
		{
			if (is_ending && file_needs(index, deferred))
				put(index, &deferred->set);
			else if (!is_ending && has_its_file(deferred, index))
			{
				put(index, &deferred->set);
				empty_set(deferred);
			}
		}
		relation_close(index, NoLock);
	}
	list_free(indexes);
	relation_close(table, NoLock);
}

/* Store a set's hashes where they belong, unless that may yet change. */
static void
store_set(Deferred *deferred)
{
	Relation	index = open_index(deferred);

	if (index == NULL)
	{
		store_in_others(deferred);
		return;
	}
	if (is_ending || has_its_file(deferred, index))
	{
		if (file_needs(index, deferred))
			put(index, &deferred->set);
		empty_set(deferred);
	}
	relation_close(index, NoLock);
}

/*
 * The same; then look for conflicts over the table, as what was read of an index
 * that is gone, or was rebuilt, counts as read of its table.
 */
static void
store(Deferred *deferred)
{
	Relation	table;

	if (deferred->set.count == 0)
		return;
	store_set(deferred);
	if (!IsolationIsSerializable())
		return;
	table = try_relation_open(deferred->table, NoLock);
	if (table == NULL)
		return;
	CheckForSerializableConflictIn(table, NULL, InvalidBlockNumber);
	relation_close(table, NoLock);
}

/* Store what is kept for all tables. */
static void
store_all(void)
{
	tables_iterator iterator;
	TableEntry *entry;

	if (kept == 0)
		return;
	tables_start_iterate(tables, &iterator);
	while ((entry = tables_iterate(tables, &iterator)) != NULL)
	{
		for (Deferred *deferred = entry->sets; deferred != NULL;
			 deferred = deferred->next)
			store(deferred);
	}
	/* What has to stay must not make us try again for every row. */
	most = kept + MOST_KEPT;
}

/* Make the set for an index and the file it has. */
static Deferred *
make_set(Relation index, TableEntry *entry)
{
	Deferred   *deferred = MemoryContextAllocZero(TopTransactionContext,
												  sizeof(Deferred));

	deferred->table = index->rd_index->indrelid;
	deferred->index = RelationGetRelid(index);
	deferred->access_method = index->rd_rel->relam;
	deferred->file = compat_locator_of(index);
	deferred->marked = GetCurrentTransactionNestLevel() == 1 ?
		TopSubTransactionId : InvalidSubTransactionId;
	deferred->next = entry->sets;
	entry->sets = deferred;
	return deferred;
}

/* Note how much is in a set before a subtransaction adds to it. */
static void
mark(Deferred *deferred, SubTransactionId subxact)
{
	if (nmarks == marks_room)
	{
		uint32		room = Max(marks_room * 2, FIRST_MARKS);

		if (marks == NULL)
			marks = MemoryContextAlloc(TopTransactionContext,
									   room * sizeof(Mark));
		else
			marks = repalloc_huge(marks, (Size) room * sizeof(Mark));
		marks_room = room;
	}
	marks[nmarks++] = (Mark) {
		.deferred = deferred,
		.subxact = subxact,
		.outer = deferred->marked,
		.count = deferred->stored + deferred->set.count
	};
	deferred->marked = subxact;
}

/* The set for an index and the file it has, made if need be. */
static Deferred *
find_set(Relation index)
{
	TableEntry *entry;
	bool		found;

	if (last != NULL && last->index == RelationGetRelid(index) &&
		has_its_file(last, index))
		return last;
	if (tables == NULL)
		tables = tables_create(TopTransactionContext, FIRST_TABLES, NULL);
	entry = tables_insert(tables, index->rd_index->indrelid, &found);
	if (!found)
		entry->sets = NULL;
	last = search_set(entry->sets, index);
	if (last == NULL)
		last = make_set(index, entry);
	return last;
}

/* The same, if this subtransaction is about to change it. */
static Deferred *
find_set_to_change(Relation index)
{
	Deferred   *deferred = find_set(index);
	SubTransactionId subxact = GetCurrentSubTransactionId();

	if (deferred->marked != subxact)
		mark(deferred, subxact);
	return deferred;
}

/* Add a hash to an index when the transaction commits, or before. */
void
bf_deferred_add(Relation index, const BfHashPair *pair)
{
	Deferred   *deferred;

	if (bf_deferred_is_ending())
	{
		BfHashPair	copy = *pair;
		BfPairSet	one = {.pairs = &copy,.count = 1};

		put(index, &one);
		return;
	}
	deferred = find_set_to_change(index);
	deferred->added_at = ++now;
	kept += bf_pairset_add(&deferred->set, TopTransactionContext, pair);
	if (kept >= most)
		store_all();
}

/* Note that an index's file was built, from all rows that there are by now. */
void
bf_deferred_note_build(Relation index)
{
	if (kept > 0)
		find_set_to_change(index)->built_at = now;
}

/* Whether an index of its table needs a set that goes, or may go, to it. */
static bool
is_meant_for(const Deferred *deferred, Relation index)
{
	return (deferred->index == RelationGetRelid(index) ||
			!SearchSysCacheExists1(INDEXRELID,
								   ObjectIdGetDatum(deferred->index))) &&
		file_needs(index, deferred);
}

/* Whether this transaction added a hash that is not stored yet. */
bool
bf_deferred_contains(Relation index, const BfHashPair *pair)
{
	if (kept == 0)
		return false;
	for (const Deferred *deferred = sets_of(index->rd_index->indrelid);
		 deferred != NULL; deferred = deferred->next)
	{
		if (bf_pairset_contains(&deferred->set, pair) &&
			is_meant_for(deferred, index))
			return true;
	}
	return false;
}

/* All hashes of this transaction that are not stored yet. */
BfHashPair *
bf_deferred_copy(Relation index, size_t *count)
{
	const Deferred *first = sets_of(index->rd_index->indrelid);
	Size		room = 1;
	BfHashPair *pairs;

	for (const Deferred *deferred = first; deferred != NULL;
		 deferred = deferred->next)
		room += deferred->set.count;
	pairs = palloc_extended(room * sizeof(BfHashPair), MCXT_ALLOC_HUGE);
	*count = 0;
	for (const Deferred *deferred = first; deferred != NULL;
		 deferred = deferred->next)
	{
		if (deferred->set.count == 0 || !is_meant_for(deferred, index))
			continue;
		memcpy(pairs + *count, deferred->set.pairs,
			   deferred->set.count * sizeof(BfHashPair));
		*count += deferred->set.count;
	}
	return pairs;
}

/* Take a set out of its table's, and free it. */
static void
drop_set(Deferred *deferred)
{
	TableEntry *entry = tables_lookup(tables, deferred->table);
	Deferred  **link = &entry->sets;

	while (*link != deferred)
		link = &(*link)->next;
	*link = deferred->next;
	if (last == deferred)
		last = NULL;
	bf_pairset_clear(&deferred->set);
	pfree(deferred);
}

/* Forget what a subtransaction added, as far as it is not stored. */
static void
undo(SubTransactionId subxact)
{
	while (nmarks > 0 && marks[nmarks - 1].subxact == subxact)
	{
		Mark		last_mark = marks[--nmarks];
		Deferred   *deferred = last_mark.deferred;
		uint64		before = Max(last_mark.count, deferred->stored);
		uint32		count = (uint32) (before - deferred->stored);

		kept -= deferred->set.count - count;
		bf_pairset_cut(&deferred->set, count);
		deferred->marked = last_mark.outer;
		if (deferred->marked == InvalidSubTransactionId)
			drop_set(deferred);
	}
	most = Min(most, kept + MOST_KEPT);
}

/* Make what a subtransaction added its parent's. */
static void
hand_over(SubTransactionId subxact, SubTransactionId parent)
{
	uint32		first = nmarks;
	uint32		stay;

	while (first > 0 && marks[first - 1].subxact == subxact)
		first--;
	stay = first;
	for (uint32 i = first; i < nmarks; i++)
	{
		Mark		moved = marks[i];

		moved.deferred->marked = parent;
		/* The parent has a mark, or needs none as it is the outermost. */
		if (moved.outer == parent || parent == TopSubTransactionId)
			continue;
		moved.subxact = parent;
		marks[stay++] = moved;
	}
	nmarks = stay;
}

/* What a subtransaction kept goes with it, or to its parent. */
static void
undo_or_hand_over(SubXactEvent event, SubTransactionId subxact,
				  SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		undo(subxact);
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		hand_over(subxact, parent);
}

/* Say that rows were inserted too late for anything to be done about it. */
static void
warn_missed(void)
{
	ereport(WARNING,
			(errmsg("live filters miss %llu elements that were inserted while the transaction ended",
					(unsigned long long) kept),
			 errhint("Rebuild them with REINDEX, and load bloomext by session_preload_libraries.")));
}

/* Store what is kept before a commit; afterwards there is nothing to keep. */
static void
store_or_drop(XactEvent event, void *arg)
{
	is_first = false;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			is_ending = true;
			store_all();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			if (!is_ending && kept > 0)
				warn_missed();
			/* FALLTHROUGH */
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			/* The memory goes with the transaction. */
			tables = NULL;
			last = NULL;
			marks = NULL;
			nmarks = marks_room = 0;
			now = 0;
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
	is_first = IsTransactionState();
	RegisterXactCallback(store_or_drop, NULL);
	RegisterSubXactCallback(undo_or_hand_over, NULL);
}
