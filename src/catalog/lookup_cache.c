/*
 * lookup_cache.c
 *	  Cache of what relations stand for.
 *
 * To resolve a relation (resolve.c) takes longer than many a lookup: a third
 * of a millisecond with four hundred partitions.  A call site exists no longer
 * than the execution of a statement.  So the backend keeps the leaves of a
 * relation for the next lookups.
 *
 * An entry is valid while no definition changes and the relations are locked
 * (epoch.c).  Locks end with the transaction.  The next one takes them again;
 * if no definition has changed once it has all of them, the entry is valid
 * again.
 *
 * But a change of a definition is only received some time after the rows of
 * its transaction become visible, and attaching a table takes a lock that does
 * not conflict with ours.  So the list of tables below the named one is read
 * from the catalogs again for each transaction, and for each snapshot that
 * sees other transactions as finished than the last one did.  A table that has
 * none below it learns of the first by an invalidation, as in PostgreSQL's own
 * queries.  Where an extension is installed that moves rows, the location of
 * the rows is checked in the same way (rows.c).
 *
 * Privileges depend on transaction and user, and are checked again for each.
 * For users who may read some columns only, the filter of each leaf is checked
 * separately, so their lookups are resolved again in each epoch.  So are those
 * with a partition that is being detached, as its lock might have to be waited
 * for.
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
#define MOST_KNOWN	1024

/* What was looked up */
typedef struct Key
{
	Oid			rel;
	BfMeaning	meaning;		/* of elements */
	NameData	column;			/* empty: no column named */
} Key;

/* What a snapshot sees as finished: equal for two that see the same. */
typedef struct Seen
{
	TransactionId xmax;
	uint32		xcnt;
	int32		subxcnt;
} Seen;

struct BfKnown
{
	Key			key;
	uint64		definitions;	/* when resolved; 0: not to be used again */
	uint64		epoch;			/* when locked, and permitted */
	Oid			user;			/* who was permitted */
	Seen		seen;			/* when the list of tables was complete */
	Oid			table;			/* that rel is, or is an index of */
	List	   *leaves;
	bool		alone;			/* the table is the only leaf */
	bool		may_move;		/* an extension may put rows elsewhere */
	MemoryContext context;		/* of the leaves */
};

static HTAB *all;
static long most = MOST_KNOWN;

/* The key of a lookup. */
static Key
key_of(const BfQuestion *question)
{
	Key			key = {.rel = question->rel,.meaning = question->element->meaning};

	if (question->column != NULL)
		namestrcpy(&key.column, question->column);
	return key;
}

/* Whether an entry is for a lookup. */
static bool
is_asked(const BfKnown *known, const BfQuestion *question)
{
	return known->key.rel == question->rel &&
		known->key.meaning == question->element->meaning &&
		strcmp(NameStr(known->key.column),
			   question->column == NULL ? "" : question->column) == 0;
}

/* Lock the relations of an entry. */
static void
lock_again(const BfKnown *known)
{
	ListCell   *cell;
	ListCell   *inner;

	LockRelationOid(known->table, AccessShareLock);
	if (known->key.rel != known->table)
		LockRelationOid(known->key.rel, AccessShareLock);
	foreach(cell, known->leaves)
	{
		const BfLeaf *leaf = lfirst(cell);

		LockRelationOid(leaf->place.table, AccessShareLock);
		foreach(inner, leaf->indexes)
			LockRelationOid(lfirst_oid(inner), AccessShareLock);
	}
}

/* Whether an entry is for an index, which stands for its table only. */
static bool
is_of_index(const BfKnown *known)
{
	return known->alone && known->key.rel != known->table;
}

/* Whether an entry has all tables with rows that exist now, in their order. */
static bool
knows_all_tables(const BfKnown *known)
{
	List	   *places;
	ListCell   *next = list_head(known->leaves);
	bool		all_known = true;
	ListCell   *cell;

	if (is_of_index(known))
		return true;
	places = bf_rows_tables(known->table);
	foreach(cell, places)
	{
		const BfPlace *place = lfirst(cell);

		if (next != NULL &&
			((const BfLeaf *) lfirst(next))->place.table == place->table)
			next = lnext(known->leaves, next);
		else if (place->leaving ||
				 get_rel_relkind(place->table) != RELKIND_PARTITIONED_TABLE)
			all_known = false;
	}
	list_free_deep(places);
	return all_known;
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

/* Whether the active snapshot cannot see another table, or a move of rows. */
static bool
sees_no_more(const BfKnown *known)
{
	Seen		now = seen_now();

	return (known->alone && !known->may_move) ||
		memcmp(&now, &known->seen, sizeof(now)) == 0;
}

/*
 * Whether an entry is locked in this epoch, permitted to this user, and
 * complete.
 */
static bool
is_permitted(const BfKnown *known)
{
	return known->epoch == bf_epoch() && known->user == GetUserId() &&
		sees_no_more(known);
}

/* Lock an entry again; whether it is valid now, for this user. */
static bool
is_right_again(BfKnown *known)
{
	if (known->definitions != bf_definitions() ||
		!bf_rights_check_table(known->table))
		return false;
	lock_again(known);
	if (known->definitions != bf_definitions() || !knows_all_tables(known) ||
		(known->may_move && !bf_rows_stayed(known->leaves, is_of_index(known))))
		return false;
	known->epoch = bf_epoch();
	known->user = GetUserId();
	known->seen = seen_now();
	return true;
}

/* Remove entries of other epochs, if there are too many. */
static void
forget_others(void)
{
	HASH_SEQ_STATUS scan;
	BfKnown    *known;

	if (hash_get_num_entries(all) < most)
		return;
	hash_seq_init(&scan, all);
	while ((known = hash_seq_search(&scan)) != NULL)
	{
		if (known->epoch == bf_epoch())
			continue;
		MemoryContextDelete(known->context);
		hash_search(all, &known->key, HASH_REMOVE, NULL);
	}
	most = hash_get_num_entries(all) + MOST_KNOWN;
}

/* Keep an entry, replacing an older one. */
static BfKnown *
keep_known(BfKnown *found)
{
	BfKnown    *known;
	bool		replaces;

	forget_others();
	known = hash_search(all, &found->key, HASH_ENTER, &replaces);
	if (replaces)
		MemoryContextDelete(known->context);
	MemoryContextSetParent(found->context, CacheMemoryContext);
	*known = *found;
	return known;
}

/*
 * Whether a leaf is being detached, so that it may soon be locked exclusively.
 */
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
static BfKnown *
find_out(const BfQuestion *question)
{
	Oid			table = IndexGetRelation(question->rel, true);
	BfKnown		found = {
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
	return keep_known(&found);
}

/* The entry for a lookup, locked and permitted; resolved if need be. */
static BfKnown *
know(const BfQuestion *question)
{
	Key			key = key_of(question);
	BfKnown    *known;

	if (all == NULL)
		all = hash_create("live filters asked", MOST_KNOWN,
						  &(HASHCTL) {
							  .keysize = sizeof(Key),
							  .entrysize = sizeof(BfKnown)
						  }, HASH_ELEM | HASH_BLOBS);
	known = hash_search(all, &key, HASH_FIND, NULL);
	if (known != NULL && (is_permitted(known) || is_right_again(known)))
		return known;
	return find_out(question);
}

/*
 * The leaves for a lookup, locked; valid until another lookup is resolved.  A
 * call site keeps the entry: none is removed in its own epoch.
 */
const List *
bf_known_leaves(const BfQuestion *question, BfLastKnown *last)
{
	AcceptInvalidationMessages();
	if (last->epoch != bf_epoch() || !is_asked(last->known, question) ||
		!is_permitted(last->known))
	{
		last->known = know(question);
		last->epoch = last->known->epoch;
	}
	return last->known->leaves;
}
