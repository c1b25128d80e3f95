/*
 * lookup_cache.c
 *	  Cache of the leaves that relations stand for.
 *
 * Resolving a relation (resolve.c) takes longer than many a lookup: a third of
 * a millisecond with four hundred partitions.  A call site lasts for one
 * execution of a statement, so the backend keeps the leaves for later lookups.
 *
 * An entry is valid while its relations are locked and no definition changes
 * (epoch.c).  The next transaction locks them again; if no definition has
 * changed once it has all locks, the entry is valid again.
 *
 * But if another transaction attaches a table, our lock does not stop it, and
 * a snapshot can see its rows before this session receives the invalidation
 * message.  So the list of tables below the named one is read from the
 * catalogs again in each transaction, and for each snapshot that differs from
 * the last one in what it sees as finished.  For a table that has no tables
 * below it, the list is not read again for each snapshot: that the first one
 * was attached is learnt from the invalidation message, as in PostgreSQL's own
 * queries.  If an extension that moves rows is installed, the places of the
 * rows are checked at the same times (rows.c).
 *
 * Privileges depend on transaction and user, and are checked again for each.
 * For users who may read only some columns, each leaf's filter is checked
 * separately, so their lookups are resolved again in each epoch.  So are
 * lookups with a partition that is being detached, as locking it might have to
 * wait.
 */
#include "postgres.h"

#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "catalog/filters.h"

/* The number of entries beyond which those of other epochs are removed. */
#define MOST_ENTRIES	1024

/* What was looked up; without padding, as it is hashed by its bytes */
typedef struct Key
{
	uint64		row;			/* the type of rows; 0: no rows */
	Oid			rel;
	BfMeaning	meaning;		/* of elements; unknown for rows */
	NameData	column;			/* empty: no column named */
} Key;

/* What a snapshot sees as finished: equal for two that see the same. */
typedef struct Seen
{
	TransactionId xmax;
	uint32		xcnt;
	int32		subxcnt;
} Seen;

struct BfCachedLookup
{
	Key			key;
	uint64		definitions;	/* when resolved; 0: not to be used again */
	uint64		epoch;			/* when locked, and permitted */
	Oid			user;			/* who was permitted */
	Seen		seen;			/* when the list of tables was complete */
	Oid			table;			/* rel, or the table of index rel */
	List	   *leaves;
	bool		alone;			/* the table is the only leaf */
	bool		may_move;		/* an extension may put rows elsewhere */
	MemoryContext context;		/* of the leaves */
};

static HTAB *all;
static long most = MOST_ENTRIES;

/* The meaning of the elements of a lookup. */
static BfMeaning
meaning_of(const BfQuestion *question)
{
	return question->element == NULL ? BF_MEANING_UNKNOWN :
		question->element->meaning;
}

/* The type of the rows of a lookup. */
static uint64
row_of(const BfQuestion *question)
{
	return question->row == NULL ? 0 : question->row->identity;
}

/* The key of a lookup. */
static Key
key_of(const BfQuestion *question)
{
	Key			key = {
		.row = row_of(question),
		.rel = question->rel,
		.meaning = meaning_of(question)
	};

	if (question->column != NULL)
		namestrcpy(&key.column, question->column);
	return key;
}

/* Whether an entry is for a lookup. */
static bool
is_for_question(const BfCachedLookup *entry, const BfQuestion *question)
{
	return entry->key.rel == question->rel &&
		entry->key.row == row_of(question) &&
		entry->key.meaning == meaning_of(question) &&
		strcmp(NameStr(entry->key.column),
			   question->column == NULL ? "" : question->column) == 0;
}

/* Lock the relations of an entry. */
static void
lock_again(const BfCachedLookup *entry)
{
	ListCell   *cell;
	ListCell   *inner;

	LockRelationOid(entry->table, AccessShareLock);
	if (entry->key.rel != entry->table)
		LockRelationOid(entry->key.rel, AccessShareLock);
	foreach(cell, entry->leaves)
	{
		const BfLeaf *leaf = lfirst(cell);

		LockRelationOid(leaf->place.table, AccessShareLock);
		foreach(inner, leaf->indexes)
			LockRelationOid(lfirst_oid(inner), AccessShareLock);
	}
}

/* Whether an entry is for an index, which stands for its table only. */
static bool
is_of_index(const BfCachedLookup *entry)
{
	return entry->alone && entry->key.rel != entry->table;
}

/* Whether an entry has all tables with rows that exist now, in their order. */
static bool
has_all_tables(const BfCachedLookup *entry)
{
	List	   *places;
	ListCell   *next = list_head(entry->leaves);
	bool		complete = true;
	ListCell   *cell;

	if (is_of_index(entry))
		return true;
	places = bf_rows_tables(entry->table);
	foreach(cell, places)
	{
		const BfPlace *place = lfirst(cell);

		if (next != NULL &&
			((const BfLeaf *) lfirst(next))->place.table == place->table)
			next = lnext(entry->leaves, next);
		else if (place->leaving ||
				 get_rel_relkind(place->table) != RELKIND_PARTITIONED_TABLE)
			complete = false;
	}
	list_free_deep(places);
	return complete;
}

/* What the active snapshot sees as finished. */
static Seen
seen_now(void)
{
	Snapshot	snapshot = GetActiveSnapshot();

	return (Seen) {
		.xmax = snapshot->xmax,
		.xcnt = snapshot->xcnt,
		.subxcnt = snapshot->subxcnt
	};
}

/* Whether the active snapshot sees no other tables than the entry has. */
static bool
sees_no_more(const BfCachedLookup *entry)
{
	Seen		now = seen_now();

	return (entry->alone && !entry->may_move) ||
		memcmp(&now, &entry->seen, sizeof(now)) == 0;
}

/* Whether an entry is locked, permitted to this user, and complete. */
static bool
is_permitted(const BfCachedLookup *entry)
{
	return entry->epoch == bf_epoch() && entry->user == GetUserId() &&
		sees_no_more(entry);
}

/* Lock an entry's relations again; returns whether it is now valid. */
static bool
is_right_again(BfCachedLookup *entry)
{
	if (entry->definitions != bf_definitions() ||
		!bf_rights_check_table(entry->table))
		return false;
	lock_again(entry);
	if (entry->definitions != bf_definitions() || !has_all_tables(entry) ||
		(entry->may_move && !bf_rows_stayed(entry->leaves, is_of_index(entry))))
		return false;
	entry->epoch = bf_epoch();
	entry->user = GetUserId();
	entry->seen = seen_now();
	return true;
}

/* Remove entries of other epochs, if there are too many. */
static void
forget_others(void)
{
	HASH_SEQ_STATUS scan;
	BfCachedLookup *entry;

	if (hash_get_num_entries(all) < most)
		return;
	hash_seq_init(&scan, all);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (entry->epoch == bf_epoch())
			continue;
		MemoryContextDelete(entry->context);
		hash_search(all, &entry->key, HASH_REMOVE, NULL);
	}
	most = hash_get_num_entries(all) + MOST_ENTRIES;
}

/* Keep an entry, replacing an older one. */
static BfCachedLookup *
keep_entry(BfCachedLookup *found)
{
	BfCachedLookup *entry;
	bool		replaces;

	forget_others();
	entry = hash_search(all, &found->key, HASH_ENTER, &replaces);
	if (replaces)
		MemoryContextDelete(entry->context);
	MemoryContextSetParent(found->context, CacheMemoryContext);
	*entry = *found;
	return entry;
}

/* Whether a leaf is being detached, and may soon be locked exclusively. */
static bool
any_is_leaving(const List *leaves)
{
	ListCell   *cell;

	foreach(cell, leaves)
	{
		if (((const BfLeaf *) lfirst(cell))->place.leaving)
			return true;
	}
	return false;
}

/* Resolve a lookup, and keep the result. */
static BfCachedLookup *
resolve_entry(const BfQuestion *question)
{
	Oid			table = IndexGetRelation(question->rel, true);
	BfCachedLookup found = {
		.key = key_of(question),
		/* Read before resolving, so that a concurrent change is noticed. */
		.definitions = bf_definitions(),
		.epoch = bf_epoch(),
		.user = GetUserId(),
		.seen = seen_now(),
		.table = OidIsValid(table) ? table : question->rel,
		.may_move = bf_rows_may_move(),
		.context = AllocSetContextCreate(CurrentMemoryContext,
										 "live filters asked",
										 ALLOCSET_SMALL_SIZES)
	};
	MemoryContext caller = MemoryContextSwitchTo(found.context);

	found.leaves = bf_resolve(question);
	MemoryContextSwitchTo(caller);
	found.alone = list_length(found.leaves) == 1 &&
		((const BfLeaf *) linitial(found.leaves))->place.table == found.table;
	if (!bf_rights_check_table(found.table) || any_is_leaving(found.leaves))
		found.definitions = 0;
	return keep_entry(&found);
}

/* The entry for a lookup, locked and permitted; resolved if need be. */
static BfCachedLookup *
find_entry(const BfQuestion *question)
{
	Key			key = key_of(question);
	BfCachedLookup *entry;

	if (all == NULL)
		all = hash_create("live filters asked", MOST_ENTRIES,
						  &(HASHCTL) {
							  .keysize = sizeof(Key),
							  .entrysize = sizeof(BfCachedLookup)
						  }, HASH_ELEM | HASH_BLOBS);
	entry = hash_search(all, &key, HASH_FIND, NULL);
	if (entry != NULL && (is_permitted(entry) || is_right_again(entry)))
		return entry;
	return resolve_entry(question);
}

/*
 * The leaves for a lookup, locked; valid until another lookup is resolved.  A
 * call site keeps the entry, as no entry is removed in its own epoch.
 */
const List *
bf_lookup_cache_leaves(const BfQuestion *question, BfLastLookup *last)
{
	AcceptInvalidationMessages();
	if (last->epoch != bf_epoch() || !is_for_question(last->entry, question) ||
		!is_permitted(last->entry))
	{
		last->entry = find_entry(question);
		last->epoch = last->entry->epoch;
	}
	return last->entry->leaves;
}
