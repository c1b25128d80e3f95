/*
 * gate_pays.c
 *	  When it pays to ask: what a question costs, and what it saves.
 *
 * A question costs Q; where the value is absent, it saves a scan of the child,
 * C.  So it pays where the share a that is absent has a * C > Q.  The planner
 * reckons so, with its own costs, where the index's owner told it a (gate.c).  Where
 * nobody did, it is found out while plans run: a window of questions tells a, and
 * where it did not pay, many scans go to the child without being asked, twice as
 * many each time in turn.  A window after them is a short one, so that in statements
 * of some hundred scans, which try for themselves, few are asked for in vain.
 *
 * The unit is a block that a question looks at in memory: some four where the value
 * is absent, one for each hash where it is there.  A page of a table that is scanned
 * whole costs some of these, and so do the bytes of a long value.  A lookup in an index of 2^n pages costs about
 * n * n / 5: it takes more steps in a larger one, and each is less likely to be in
 * the processor's caches.  So measured for texts and integers, in 27 to 8,300 pages.
 * A block from outside of shared buffers is dear, for both.  What a scan reads of
 * those is known of scans that were made, those that were not asked for among them.
 * Where that decides, and none is made, as all is absent, one is made nonetheless:
 * a table of which the same few pages are scanned reads none, however large it is.
 *
 * To read a filter once that then stays in the buffers is for all windows to come,
 * and does not count against one that had paid without.  It may have left them after
 * many scans that were not asked for; what it takes to read it again is little,
 * then, against what these have cost.
 *
 * A statement may scan but once.  So what was learnt is kept by the backend: of a
 * filter, of the kind of scan it spares, and of the index that this is by, as a
 * mere lookup may find all that it looks for, and a scan of the table nothing.
 * A statement that scans much tries for itself after some scans, as it may look
 * for other values than those before: after as many as make what the last window
 * lost a small part of what is done.  What was learnt is forgotten when the filter
 * or that index is changed, made anew or dropped.
 */
#include "postgres.h"

#include <math.h>

#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "gate/gate.h"

/* Questions after which it is decided whether they paid; the same after a pause. */
#define WINDOW		64
#define TRIAL		8

/* What is more than a block in memory: one that is read, a page that is scanned. */
#define READ		100.0
#define SCANNED		16.0

/* A lookup in an index of 2^n pages is so many times less than (n + 1) squared. */
#define LOOKUP		5.0

/* So many bytes are hashed while a block is looked at. */
#define BYTES		128.0

/* Of so many scans in turn it is known what the latest read. */
#define SAMPLED		32

/* As so many scans count those that are known from before a window. */
#define REMEMBERED	16.0

/* How many scans are not asked for where it did not pay, at first and at most. */
#define FIRST_PAUSE	1024
#define LONGEST_PAUSE	65536

/* After so many of them, or more, a statement tries for itself. */
#define PATIENCE	256

/* The share of what they cost that may be lost by trying, or reading, again. */
#define AGAIN		0.05

/* What was learnt, by kind; NULL: nothing. */
static HTAB *all;

/* How often something of it was forgotten. */
static uint64 forgotten;

/* What was learnt of the kind that is looked for: where it was last, if it is there. */
BfGateLearnt *
bf_gate_learnt(BfGateLookup *lookup)
{
	bool		found;

	if (lookup->learnt != NULL && lookup->forgotten == forgotten)
		return lookup->learnt;
	if (all == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(BfGateKind),
			.entrysize = sizeof(BfGateLearnt),
			.hcxt = CacheMemoryContext
		};

		all = hash_create("what bloomext's gates have learnt", 64, &control,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	lookup->learnt = hash_search(all, &lookup->kind, HASH_ENTER, &found);
	lookup->forgotten = forgotten;
	if (!found)
	{
		/* The first reading of the whole filter counts against nothing. */
		*lookup->learnt = (BfGateLearnt) {
			.kind = lookup->kind,
			.free_reads = HUGE_VAL,
			.asks = true
		};
	}
	return lookup->learnt;
}

/* CacheRegisterRelcacheCallback: a relation, or any, is not what it was. */
static void
forget_changed(Datum arg, Oid rel)
{
	HASH_SEQ_STATUS status;
	BfGateLearnt *learnt;

	if (all == NULL)
		return;
	hash_seq_init(&status, all);
	while ((learnt = hash_seq_search(&status)) != NULL)
	{
		if (OidIsValid(rel) && learnt->kind.filter != rel &&
			learnt->kind.index != rel)
			continue;
		hash_search(all, &learnt->kind, HASH_REMOVE, NULL);
		forgotten++;
	}
}

/* Whether a scan is not to be asked for; of those `skipped` counts a statement's. */
bool
bf_gate_pauses(BfGateLearnt *learnt, uint32 *skipped)
{
	if (learnt->pause == 0)
		return false;
	learnt->pause--;
	learnt->skipped++;
	learnt->scans++;
	if (++*skipped == learnt->patience)
		learnt->pause = 0;
	return true;
}

/* What a scan costs in memory: of a table of so many pages, or by such an index. */
static double
scan_cost(const BfGateLearnt *learnt, BlockNumber pages)
{
	double		depth;

	if (!OidIsValid(learnt->kind.index))
		return pages * SCANNED;
	depth = log2(Max(pages, 1)) + 1;
	return depth * depth / LOOKUP;
}

/* What the questions of a window have cost, and read so many blocks for. */
static double
asking_cost(const BfGateLearnt *learnt, double read)
{
	return learnt->looked_at + learnt->hashed / BYTES + read * READ;
}

/* What a scan has cost. */
static double
scanning_cost(const BfGateLearnt *learnt)
{
	return learnt->scans == 0 ? learnt->scan :
		learnt->scan + learnt->by_child / learnt->scans * READ;
}

/* Whether they have paid. */
static bool
has_paid(const BfGateLearnt *learnt, double read)
{
	return learnt->absent * scanning_cost(learnt) > asking_cost(learnt, read);
}

/* A pause begins: the longer the more was lost, and each time in turn. */
static void
start_pause(BfGateLearnt *learnt)
{
	double		scan = scanning_cost(learnt);
	double		lost = asking_cost(learnt, learnt->by_filter) -
		learnt->absent * scan;

	learnt->patience = Min(Max(lost / scan / AGAIN, PATIENCE), LONGEST_PAUSE);
	learnt->pause = Max(learnt->next_pause, Max(FIRST_PAUSE, learnt->patience));
	learnt->next_pause = Min(learnt->pause * 2, LONGEST_PAUSE);
}

/*
 * A window begins, before scans of a table of so many pages, or by an index of
 * these.  Of the filter so many blocks would stay in the buffers, once they are read.
 */
void
bf_gate_start_window(BfGateLearnt *learnt, BlockNumber pages, int64 filter)
{
	learnt->scan = scan_cost(learnt, pages);
	learnt->absent = 0;
	learnt->sampled = 0;
	learnt->looked_at = 0;
	learnt->by_filter = 0;
	learnt->hashed = 0;
	if (learnt->scans > REMEMBERED)
	{
		learnt->by_child *= REMEMBERED / learnt->scans;
		learnt->scans = REMEMBERED;
	}
	learnt->free_reads += learnt->skipped * learnt->scan * AGAIN / READ;
	learnt->free_reads = Min(learnt->free_reads, filter);
	learnt->skipped = 0;
}

/*
 * Decide at the end of a window whether to go on.  Pauses become longer, until a
 * window has paid for all that it read.
 */
static void
end_window(BfGateLearnt *learnt)
{
	double		free_reads = Min(learnt->by_filter, learnt->free_reads);

	learnt->asked = 0;
	learnt->free_reads -= free_reads;
	learnt->asks = has_paid(learnt, learnt->by_filter - free_reads);
	if (has_paid(learnt, learnt->by_filter))
		learnt->next_pause = FIRST_PAUSE;
	else if (!learnt->asks)
		start_pause(learnt);
}

/*
 * Note a question, and what it took.  Returns whether the child is to be
 * scanned: it is for what may be there, and for what is absent where it decides what
 * a scan reads, and no scan has told of late.
 */
bool
bf_gate_note(BfGateLearnt *learnt, bool absent, BfGateCost cost)
{
	bool		scan;

	learnt->absent += absent;
	learnt->looked_at += cost.looked_at;
	learnt->by_filter += cost.read;
	learnt->hashed += cost.hashed;
	scan = !absent ||
		(learnt->sampled <= learnt->asked / SAMPLED &&
		 learnt->absent * learnt->scan <= asking_cost(learnt, learnt->by_filter));
	learnt->sampled += scan;
	learnt->scans += scan;
	if (++learnt->asked >= (learnt->asks ? WINDOW : TRIAL))
		end_window(learnt);
	return scan;
}

/* Called once, when the module is loaded. */
void
bf_gate_pays_init(void)
{
	CacheRegisterRelcacheCallback(forget_changed, (Datum) 0);
}
