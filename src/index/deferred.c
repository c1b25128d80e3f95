/*
 * deferred.c
 *	  Keep the new elements of a transaction until it commits.
 *
 * Other transactions do not see the rows of a transaction before it commits,
 * so the bits need not be set earlier.  Until then the hashes of the rows are
 * kept in memory, each once.  At commit, or earlier if there are many, they
 * are stored as one batch, which touches each page once.  A transaction with
 * one row is a batch of one.
 *
 * The batch must be stored before the commit record is written: at pre-commit
 * or pre-prepare.  Hashes that other extensions add later than that, in their
 * own callbacks, are stored at once.
 *
 * An insertion by such a callback may be what loads this module, which then
 * no longer receives the pre-commit event of that transaction.  So in the
 * transaction that loaded the module, hashes that are added while no client's
 * statement runs are stored at the end of their insertion.  Before 17,
 * PostgreSQL does not report that end; there they are stored at once, except
 * for the rows of a subscription's initial copy, whose commit is yet to come.
 *
 * A hash belongs to the file of the index at the time of its insertion, and
 * at commit that file may belong to another relation.  Commands that rewrite
 * a table without blocking its writers (REPACK, pg_repack) insert concurrent
 * changes into a copy of the table, and swap the files of the two in the same
 * transaction.  So the set of hashes for an index records the files that the
 * index and its table had (origin.c determines where these are now).
 *
 * - Before the end of the transaction, a set leaves memory only by being
 *	 stored in the recorded file.  For if a subtransaction truncates the
 *	 table, its index has another file, and if that is rolled back, the old
 *	 file returns: hashes from before must not have been stored in the file
 *	 that vanished.
 * - At the end, a set is stored in its index, whatever file the index has
 *	 by then, and in all other indexes that may have its rows.
 * - An index file that was built in this transaction after the last
 *	 addition to the set includes the set's rows already.
 * - Lookups of this transaction consider all sets that the filter may still
 *	 need.
 *
 * A commit must not wait for locks for which it would not wait with a btree,
 * nor take more locks than are available.  The executor releases the lock on
 * an index when its statement ends, so we keep the locks on the first
 * MOST_LOCKED indexes.  Further indexes are locked while their sets are
 * stored, in the order of OIDs.
 *
 * What a subtransaction added is forgotten when it is rolled back.  To this
 * end, the first hash that it adds to a set creates a mark, which records the
 * number of hashes before it.  Marks form a stack, as subtransactions do.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "common/hashfn.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "index/index.h"
#include "index/origin.h"
#include "pages/pairset.h"
#include COMPAT_WORKER_HEADER

/* Hashes kept, of all indexes together, before they are stored: 2 MB. */
#define MOST_KEPT		65536

/* Indexes that stay locked from their first hash on. */
#define MOST_LOCKED		64

#define FIRST_SETS		4
#define FIRST_MARKS		16

/* The hashes of rows that went into one file. */
typedef struct Deferred
{
	BfOrigin	origin;
	BfPairSet	set;
	uint64		stored;			/* hashes moved from the set to the file */
	uint64		added_at;		/* time of the last addition; 0: none */
	uint64		built_at;		/* time of the build; 0: not by us */
	uint32		locks_seen;		/* see keep_lock() */
	SubTransactionId marked;	/* the innermost that added to the set */
} Deferred;

/* The first addition of a subtransaction to a set */
typedef struct Mark
{
	Deferred   *deferred;
	SubTransactionId subxact;
	SubTransactionId outer;		/* the set's mark before; invalid: no set */
	uint64		count;			/* hashes before, including those stored */
} Mark;

/* An index that stays locked, and the subtransaction that holds the lock */
typedef struct KeptLock
{
	Oid			index;
	SubTransactionId subxact;
} KeptLock;

/* The index, and its file, that the rows of a set went into */
typedef struct SetKey
{
	Oid			index;
	RelFileLocator file;
} SetKey;

typedef struct SetEntry
{
	SetKey		key;
	char		status;
	Deferred   *deferred;
} SetEntry;

#define SH_PREFIX sets
#define SH_ELEMENT_TYPE SetEntry
#define SH_KEY_TYPE SetKey
#define SH_KEY key
#define SH_HASH_KEY(tb, key) \
	hash_combine(murmurhash32((key).index), murmurhash32((key).file.compat_number))
#define SH_EQUAL(tb, a, b) \
	((a).index == (b).index && RelFileLocatorEquals((a).file, (b).file))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The sets of this transaction, all in TopTransactionContext. */
static sets_hash *sets;
static Deferred *last;			/* the set used last */
static Mark *marks;
static uint32 nmarks;
static uint32 marks_room;
static uint64 ticks;				/* time: counts additions and builds */
static uint64 kept;
static uint64 most = MOST_KEPT;
static KeptLock locks[MOST_LOCKED];	/* as a stack */
static uint32 nlocks;
static uint32 locks_lost = 1;	/* counts locks lost by rollbacks */
static MemoryContext scratch;

/* Sets whose index does not have their file, as of `strays_definitions` */
static List *strays;
static uint64 strays_definitions;

/* Has the batch of this transaction been stored already? */
static bool is_ending;

/* Is this the transaction that loaded the module, so that it may be ending? */
static bool is_first;

/* A context for insertions, to be reset by its user. */
MemoryContext
bf_deferred_scratch(void)
{
	if (scratch == NULL)
		scratch = AllocSetContextCreate(TopTransactionContext,
										"live filter insertion",
										ALLOCSET_SMALL_SIZES);
	return scratch;
}

/* Whether the transaction may end without our callback. */
static bool
may_end_untold(void)
{
	/* A portal loses its resource owner when a transaction in it ends. */
	return is_first && (ActivePortal == NULL || ActivePortal->resowner == NULL);
}

/* Whether elements inserted now may be too late to be kept. */
bool
bf_deferred_is_ending(void)
{
	return is_ending || may_end_untold();
}

/* The key of a set. */
static SetKey
set_key_of(const Deferred *deferred)
{
	return (SetKey) {
		.index = deferred->origin.index,
		.file = deferred->origin.index_file
	};
}

/* Whether a set is for an index and its current file. */
static bool
is_set_of(const Deferred *deferred, Relation index)
{
	return deferred->origin.index == RelationGetRelid(index) &&
		RelFileLocatorEquals(deferred->origin.index_file,
							 compat_locator_of(index));
}

/* The set for an index and its current file, or NULL. */
static Deferred *
search_set(Relation index)
{
	SetKey		key = {
		.index = RelationGetRelid(index),
		.file = compat_locator_of(index)
	};
	SetEntry   *entry = sets == NULL ? NULL : sets_lookup(sets, key);

	return entry == NULL ? NULL : entry->deferred;
}

/* Empty a set whose hashes are stored, or not needed. */
static void
empty_set(Deferred *deferred)
{
	kept -= deferred->set.count;
	deferred->stored += deferred->set.count;
	bf_pairset_clear(&deferred->set);
}

/*
 * Store hashes, and check for serialization conflicts: PostgreSQL checked when
 * the row was inserted, which may have been before the lookup.
 */
static void
store_set(Relation index, const BfPairSet *set)
{
	BfHashPair *pairs = palloc_extended(set->count * sizeof(BfHashPair),
										MCXT_ALLOC_HUGE);

	memcpy(pairs, set->pairs, set->count * sizeof(BfHashPair));
	bf_live_store(index, pairs, set->count);
	pfree(pairs);
	CheckForSerializableConflictIn(index, NULL, InvalidBlockNumber);
}

/*
 * Whether a live filter needs a set: it may have to cover the rows, and did
 * not read them when it was built.
 */
static bool
needs_set(Relation index, Deferred *deferred)
{
	const Deferred *own;

	if (deferred->set.count == 0 ||
		!bf_origin_concerns(&deferred->origin, index))
		return false;
	own = search_set(index);
	if (own == NULL || own == deferred || own->built_at == 0)
		return true;
	/* The file that was built is not a copy of the set's file. */
	if (own->origin.index != deferred->origin.index &&
		own->origin.index != bf_origin_owner(&deferred->origin))
		return false;
	return own->built_at < deferred->added_at;
}

/*
 * Check for serialization conflicts on a table, as reading an index that was
 * dropped or rebuilt counts as reading its table.
 */
static void
check_table(Oid oid)
{
	Relation	table;

	if (!IsolationIsSerializable())
		return;
	table = try_relation_open(oid, AccessShareLock);
	if (table == NULL)
		return;
	CheckForSerializableConflictIn(table, NULL, InvalidBlockNumber);
	relation_close(table, AccessShareLock);
}

/*
 * Store a set in an index that exists and needs it.  Its table is already
 * locked, by insertions or because this transaction gave it its file.
 */
static void
store_in(Oid oid, Deferred *deferred)
{
	Relation	index = try_relation_open(oid, RowExclusiveLock);

	if (index == NULL)
		return;
	if (index->rd_rel->relkind == RELKIND_INDEX && bf_is_live_filter(index) &&
		needs_set(index, deferred))
	{
		store_set(index, &deferred->set);
		/* The table of the rows is checked once, whatever is stored. */
		if (index->rd_index->indrelid != deferred->origin.table)
			check_table(index->rd_index->indrelid);
	}
	relation_close(index, RowExclusiveLock);
}

/* At the end: store a set wherever its rows may be. */
static void
store_everywhere(Deferred *deferred)
{
	ListCell   *cell;

	if (bf_origin_is_home(&deferred->origin))
		store_in(deferred->origin.index, deferred);
	else
	{
		List	   *candidates = bf_origin_candidates(&deferred->origin);

		foreach(cell, candidates)
			store_in(lfirst_oid(cell), deferred);
		list_free(candidates);
	}
	check_table(deferred->origin.table);
	empty_set(deferred);
}

/*
 * Before the end: store a set in its file, if a relation has that file and its
 * lock is available.
 */
static void
store_in_file(Deferred *deferred)
{
	Oid			owner = bf_origin_owner(&deferred->origin);
	Relation	index;

	if (!OidIsValid(owner) ||
		!ConditionalLockRelationOid(owner, RowExclusiveLock))
		return;
	index = try_relation_open(owner, NoLock);
	if (index != NULL)
	{
		if (bf_is_live_filter(index) &&
			RelFileLocatorEquals(compat_locator_of(index),
								 deferred->origin.index_file))
		{
			store_set(index, &deferred->set);
			check_table(deferred->origin.table);
			empty_set(deferred);
		}
		relation_close(index, NoLock);
	}
	UnlockRelationOid(owner, RowExclusiveLock);
}

/* Order sets by the OIDs of their indexes. */
static int
compare_by_index(const ListCell *left, const ListCell *right)
{
	return oid_cmp(&((const Deferred *) lfirst(left))->origin.index,
				   &((const Deferred *) lfirst(right))->origin.index);
}

/* All sets that have hashes. */
static List *
all_sets(void)
{
	List	   *all = NIL;
	sets_iterator iterator;
	SetEntry   *entry;

	if (kept == 0)
		return NIL;
	sets_start_iterate(sets, &iterator);
	while ((entry = sets_iterate(sets, &iterator)) != NULL)
	{
		if (entry->deferred->set.count > 0)
			all = lappend(all, entry->deferred);
	}
	return all;
}

/* Store all sets. */
static void
store_all(void)
{
	List	   *all = all_sets();
	ListCell   *cell;

	list_sort(all, compare_by_index);
	foreach(cell, all)
	{
		if (is_ending)
			store_everywhere(lfirst(cell));
		else
			store_in_file(lfirst(cell));
	}
	list_free(all);
	/* Sets that have to stay are not tried again for every row. */
	most = kept + MOST_KEPT;
}

/* Make the set for an index and its current file. */
static Deferred *
make_set(Relation table, Relation index)
{
	Deferred   *deferred = MemoryContextAllocZero(TopTransactionContext,
												  sizeof(Deferred));

	bf_origin_of(table, index, &deferred->origin);
	deferred->marked = GetCurrentTransactionNestLevel() == 1 ?
		TopSubTransactionId : InvalidSubTransactionId;
	return deferred;
}

/* Save the size of a set before a subtransaction adds to it. */
static void
mark_set(Deferred *deferred, SubTransactionId subxact)
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

/* The set for an index and its current file, created if need be. */
static Deferred *
find_set(Relation table, Relation index)
{
	SetEntry   *entry;
	bool		found;

	if (last != NULL && is_set_of(last, index))
		return last;
	last = search_set(index);
	if (last != NULL)
		return last;
	last = make_set(table, index);
	if (sets == NULL)
		sets = sets_create(TopTransactionContext, FIRST_SETS, NULL);
	entry = sets_insert(sets, set_key_of(last), &found);
	entry->deferred = last;
	return last;
}

/* The set for an index, to be changed by this subtransaction. */
static Deferred *
find_set_to_change(Relation table, Relation index)
{
	Deferred   *deferred = find_set(table, index);
	SubTransactionId subxact = GetCurrentSubTransactionId();

	if (deferred->marked != subxact)
		mark_set(deferred, subxact);
	return deferred;
}

/*
 * Keep the index of a set locked after the inserting statement, which has it
 * locked now.  This is done once for each of the first MOST_LOCKED indexes,
 * and again if the lock was lost with a subtransaction.
 */
static void
keep_lock(Deferred *deferred)
{
	if (deferred->locks_seen == locks_lost)
		return;
	deferred->locks_seen = locks_lost;
	for (uint32 i = 0; i < nlocks; i++)
	{
		if (locks[i].index == deferred->origin.index)
			return;
	}
	if (nlocks == MOST_LOCKED)
		return;
	LockRelationOid(deferred->origin.index, RowExclusiveLock);
	locks[nlocks++] = (KeptLock) {
		.index = deferred->origin.index,
		.subxact = GetCurrentSubTransactionId()
	};
}

/* Add a hash to an index at commit, or earlier. */
void
bf_deferred_add(Relation table, Relation index, const BfHashPair *pair)
{
	Deferred   *deferred;

	if (is_ending || (may_end_untold() && !compat_insertion_ends(table)))
	{
		BfHashPair	copy = *pair;
		BfPairSet	one = {.pairs = &copy,.count = 1};

		store_set(index, &one);
		return;
	}
	deferred = find_set_to_change(table, index);
	keep_lock(deferred);
	deferred->added_at = ++ticks;
	kept += bf_pairset_add(&deferred->set, TopTransactionContext, pair);
	if (kept >= most)
		store_all();
}

/* An insertion is complete: aminsertcleanup, from 17 on. */
void
bf_deferred_end_insertion(Relation index)
{
	Deferred   *deferred;

	if (!may_end_untold())
		return;
	deferred = search_set(index);
	if (deferred != NULL && deferred->set.count > 0)
		store_in_file(deferred);
}

/* Note that the file of an index was built from all rows so far. */
void
bf_deferred_note_build(Relation table, Relation index)
{
	find_set_to_change(table, index)->built_at = ++ticks;
}

/* The sets of this transaction whose index no longer has their file. */
static List *
find_strays(void)
{
	uint64		definitions = bf_definitions();
	MemoryContext caller;
	List	   *all;
	ListCell   *cell;

	if (strays_definitions == definitions)
		return strays;
	caller = MemoryContextSwitchTo(TopTransactionContext);
	all = all_sets();
	list_free(strays);
	strays = NIL;
	foreach(cell, all)
	{
		Deferred   *deferred = lfirst(cell);

		if (!bf_origin_is_home(&deferred->origin))
			strays = lappend(strays, deferred);
	}
	list_free(all);
	MemoryContextSwitchTo(caller);
	strays_definitions = definitions;
	return strays;
}

/* Whether this transaction added a hash that is not stored yet. */
bool
bf_deferred_contains(Relation index, const BfHashPair *pair)
{
	const Deferred *own;
	ListCell   *cell;

	if (kept == 0)
		return false;
	own = search_set(index);
	if (own != NULL && bf_pairset_contains(&own->set, pair))
		return true;
	foreach(cell, find_strays())
	{
		Deferred   *stray = lfirst(cell);

		if (bf_pairset_contains(&stray->set, pair) && needs_set(index, stray))
			return true;
	}
	return false;
}

/* All hashes of this transaction that an index needs and has not stored. */
BfHashPair *
bf_deferred_copy(Relation index, size_t *count)
{
	BfHashPair *pairs = palloc_extended((kept + 1) * sizeof(BfHashPair),
										MCXT_ALLOC_HUGE);
	List	   *all = all_sets();
	ListCell   *cell;

	*count = 0;
	foreach(cell, all)
	{
		Deferred   *deferred = lfirst(cell);

		if (!needs_set(index, deferred))
			continue;
		memcpy(pairs + *count, deferred->set.pairs,
			   deferred->set.count * sizeof(BfHashPair));
		*count += deferred->set.count;
	}
	list_free(all);
	return pairs;
}

/* Remove a set from the table of sets, and free it. */
static void
drop_set(Deferred *deferred)
{
	sets_delete(sets, set_key_of(deferred));
	if (last == deferred)
		last = NULL;
	strays = list_delete_ptr(strays, deferred);
	bf_pairset_clear(&deferred->set);
	pfree(deferred);
}

/* Forget what a subtransaction added, unless it is stored already. */
static void
undo_subxact(SubTransactionId subxact)
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
	while (nlocks > 0 && locks[nlocks - 1].subxact == subxact)
	{
		nlocks--;
		locks_lost++;
	}
}

/* Assign what a subtransaction added to its parent. */
static void
hand_over_subxact(SubTransactionId subxact, SubTransactionId parent)
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
		/* The parent has a mark, or needs none because it is the outermost. */
		if (moved.outer == parent || parent == TopSubTransactionId)
			continue;
		moved.subxact = parent;
		marks[stay++] = moved;
	}
	nmarks = stay;
	for (uint32 i = nlocks; i > 0 && locks[i - 1].subxact == subxact; i--)
		locks[i - 1].subxact = parent;
}

/* SubXactCallback: forget or hand over what a subtransaction added. */
static void
undo_or_hand_over(SubXactEvent event, SubTransactionId subxact,
				  SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		undo_subxact(subxact);
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		hand_over_subxact(subxact, parent);
}

/* Warn of rows that were inserted too late. */
static void
warn_missed(void)
{
	ereport(WARNING,
			(errmsg("live filters lack %llu elements that were inserted while the transaction was ending",
					(unsigned long long) kept),
			 errhint("Rebuild the live filters with REINDEX, and load bloomext with session_preload_libraries.")));
}

/* XactCallback: store all sets before a commit. */
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
			/* The last command may have changed where files are. */
			if (kept > 0)
				CommandCounterIncrement();
			store_all();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			if (!is_ending && kept > 0)
				warn_missed();
			pg_fallthrough;
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			/* The memory goes with the transaction. */
			sets = NULL;
			last = NULL;
			strays = NIL;
			strays_definitions = 0;
			marks = NULL;
			nmarks = marks_room = 0;
			ticks = 0;
			kept = 0;
			most = MOST_KEPT;
			nlocks = 0;
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
