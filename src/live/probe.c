/*
 * probe.c
 *	  bf_live_contains: does any row of the table hold an element?
 *
 * The order of asking is that of an element's way into the filter (live.h):
 * this transaction's own elements, then the pending page, then the bits, of
 * which each is read under the share lock of its page, up to the first that is
 * not set.  Two positions are derived first, the others only if both are set.
 *
 * A call site keeps what its first argument names, as finding that out costs
 * more than the question.  It is found out anew in another transaction, after
 * a subtransaction (which may have given locks back), as another user, and
 * when anything in the catalogs changed that might matter.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "live/live.h"

/* Positions derived first. */
#define FIRST_POSITIONS	2

PG_FUNCTION_INFO_V1(bloomext_live_contains);

/* What a call site keeps. */
typedef struct Site
{
	MemoryContext context;
	BfElementType element;

	/* What the target was found out for. */
	bool		resolved;
	Oid			rel;
	Oid			user;
	LocalTransactionId lxid;
	SubTransactionId subxact;
	uint64		generation;
	BfLiveTarget target;
} Site;

/* Whether a bit is set. */
static bool
test_bit(Relation index, BfLive *live, uint64 bit)
{
	BlockNumber page = (BlockNumber) (bit / BF_PAGE_BITS);
	Buffer		buffer = bf_page_for_read(index, live,
										  bf_data_block(live, page),
										  BF_PAGE_DATA);
	const uint8 *bits;
	bool		set;

	if (!BufferIsValid(buffer))
		return false;
	bits = (const uint8 *) BufferGetPage(buffer) + SizeOfPageHeaderData;
	set = bf_bit_get(bits, bit - page * BF_PAGE_BITS);
	UnlockReleaseBuffer(buffer);
	return set;
}

static bool
test_positions(Relation index, BfLive *live, const BfHash *hash,
			   uint32 first, uint32 count)
{
	uint64		positions[BF_MAX_HASHES];

	live->strategy->positions(hash, live->shape.bits, first, count, positions);
	for (uint32 i = 0; i < count; i++)
	{
		if (!test_bit(index, live, positions[i]))
			return false;
	}
	return true;
}

/* Whether a filter holds a hash; its column is one that it can tell about. */
bool
bf_live_probe(Relation index, BfLive *live, const BfHashPair *pair)
{
	BfHash		hash = {.h1 = pair->h1,.h2 = pair->h2};
	uint32		first = Min(live->shape.hashes, FIRST_POSITIONS);

	return bf_deferred_contains(RelationGetRelid(index), pair) ||
		bf_pending_contains(index, live, pair) ||
		(test_positions(index, live, &hash, 0, first) &&
		 test_positions(index, live, &hash, first,
						live->shape.hashes - first));
}

/* Whether a filter may hold an element of a call site. */
static bool
index_contains(Oid oid, const BfElementType *element, Datum value)
{
	Relation	index = relation_open(oid, NoLock);
	bool		found = true;

	if (bf_live_is_usable(index))
	{
		BfLive		live;
		BfHash		hash;
		BfHashPair	pair;

		/* Those who look for unused indexes should not find this one. */
		pgstat_count_index_scan(index);
		/* What is not there yet is read, too, as serializability goes. */
		PredicateLockRelation(index, GetActiveSnapshot());
		bf_live_open(index, &live);
		bf_element_bind(live.strategy, live.funnel, element);
		found = bf_element_hash(live.strategy, live.funnel, element, value,
								&hash);
		pair = (BfHashPair) {hash.h1, hash.h2};
		found = found && bf_live_probe(index, &live, &pair);
	}
	relation_close(index, NoLock);
	return found;
}

/* Find out what a relation names, unless the call site knows. */
static void
resolve(Site *site, Oid rel)
{
	MemoryContext caller;

	AcceptInvalidationMessages();
	if (site->resolved && site->rel == rel && site->user == GetUserId() &&
		site->lxid == compat_my_lxid() &&
		site->subxact == GetCurrentSubTransactionId() &&
		site->generation == bf_resolve_generation())
		return;

	site->resolved = false;
	list_free(site->target.indexes);
	site->target.indexes = NIL;
	/* Before, so that what changes meanwhile is noticed next time. */
	site->generation = bf_resolve_generation();
	caller = MemoryContextSwitchTo(site->context);
	bf_resolve(rel, &site->target);
	MemoryContextSwitchTo(caller);
	site->rel = rel;
	site->user = GetUserId();
	site->lxid = compat_my_lxid();
	site->subxact = GetCurrentSubTransactionId();
	site->resolved = true;
}

/* bf_live_contains(table or index, element) */
Datum
bloomext_live_contains(PG_FUNCTION_ARGS)
{
	Site	   *site = fcinfo->flinfo->fn_extra;
	ListCell   *cell;

	if (site == NULL)
	{
		site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Site));
		site->context = fcinfo->flinfo->fn_mcxt;
		bf_element_type_of_argument(fcinfo, 1, false, &site->element);
		fcinfo->flinfo->fn_extra = site;
	}
	resolve(site, PG_GETARG_OID(0));
	if (site->target.maybe)
		PG_RETURN_BOOL(true);
	foreach(cell, site->target.indexes)
	{
		if (index_contains(lfirst_oid(cell), &site->element,
						   PG_GETARG_DATUM(1)))
			PG_RETURN_BOOL(true);
	}
	PG_RETURN_BOOL(false);
}
