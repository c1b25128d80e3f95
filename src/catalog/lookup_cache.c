/*
 * lookup_cache.c
 *	  What relations stand for, as this backend found out before.
 *
 * To find that out (resolve.c) takes longer than many a question: a third of a
 * millisecond where there are four hundred partitions.  A call site lives no
 * longer than the execution of a statement.  So it is the backend that keeps
 * the leaves of a relation, for what may ask next.
 *
 * What is kept is right while no definition changes and the relations are
 * locked (epoch.c).  Locks go with the transaction.  The next one takes them
 * anew; if no definition has changed when it has them all, what was found out
 * before is found to be right.
 *
 * But that a definition changed is told a while after its transaction's rows can
 * be seen, and to attach a table takes a lock that does not keep us out.  So
 * which tables there are below the one named is asked of the catalogs again for
 * each transaction, and for each snapshot that sees others as finished than the
 * last did.  A table that has none below it learns of the first by an
 * invalidation, as in PostgreSQL's own queries.  So is where the rows are, where
 * an extension is installed that moves them (rows.c).
 *
 * Whether the caller may ask is a matter of transaction and user, and asked
 * again for each.  To users who may read some columns only, each leaf's filter
 * is permitted by itself; so what they asked is found out anew for each.  So is
 * what has a partition that is being detached: the lock on that may be waited for.
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

/* Questions that are kept before those of other times are forgotten. */
#define MOST_KNOWN	1024

/* What was asked. */
typedef struct Key
{
	Oid			rel;
	BfMeaning	meaning;		/* of elements */
	NameData	column;			/* empty: none was named */
} Key;

/* What a snapshot sees as finished: two that have this in common, the same. */
typedef struct Seen
{
	TransactionId xmax;
	uint32		xcnt;
	int32		subxcnt;
} Seen;

struct BfKnown
{
	Key			key;
	uint64		definitions;	/* when it was found out; 0: it is for now only */
	uint64		epoch;			/* when it was locked, and permitted */
	Oid			user;			/* who was permitted */
	Seen		seen;			/* when the tables were all */
	Oid			table;			/* that rel is, or is an index of */
	List	   *leaves;
	bool		alone;			/* the table is the only leaf */
	bool		may_move;		/* an extension may put rows elsewhere */
	MemoryContext context;		/* theirs */
};

static HTAB *all;
static long most = MOST_KNOWN;

/* What a question is kept by. */
static Key
key_of(const BfQuestion *question)
{
	Key			key = {.rel = question->rel,.meaning = question->element->meaning};

	if (question->column != NULL)
		namestrcpy(&key.column, question->column);
	return key;
}

/* Whether this is what a question is about. */
static bool
is_asked(const BfKnown *known, const BfQuestion *question)
{
	return known->key.rel == question->rel &&
		known->key.meaning == question->element->meaning &&
		strcmp(NameStr(known->key.column),
			   question->column == NULL ? "" : question->column) == 0;
}

/* Lock what a relation stands for, as far as it was found out. */
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

/* Whether it is of an index, which stands for its table alone. */
static bool
is_of_index(const BfKnown *known)
{
	return known->alone && known->key.rel != known->table;
}

/* Whether all tables with rows that there are now are known, in their order. */
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

/* What the asking snapshot sees as finished. */
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

/* Whether the asking snapshot sees no table, and no move, more than the last. */
static bool
sees_no_more(const BfKnown *known)
{
	Seen		now = seen_now();

	return (known->alone && !known->may_move) ||
		memcmp(&now, &known->seen, sizeof(now)) == 0;
}

/* Whether it is locked in this epoch, permitted to this user, and all there is. */
static bool
is_permitted(const BfKnown *known)
{
	return known->epoch == bf_epoch() && known->user == GetUserId() &&
		sees_no_more(known);
}

/* Whether what was found out before is right now, for this user. */
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

/* Forget what was not asked in this epoch, if too much is kept. */
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

/* Keep something in place of what was kept before. */
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

/* Whether a leaf is being detached, so that it may soon be kept from us. */
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

/* Find the leaves, and keep them. */
static BfKnown *
find_out(const BfQuestion *question)
{
	Oid			table = IndexGetRelation(question->rel, true);
	BfKnown		found = {
		.key = key_of(question),
		/* Before, so that what changes meanwhile is noticed next time. */
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

/* What is known of a question, locked and permitted; found out if need be. */
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
 * The leaves that a question is to be put to, locked; good until something is
 * resolved next.  A call site keeps where they were found: nothing is forgotten
 * in the epoch that it was asked in.
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
