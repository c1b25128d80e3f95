/*
 * gate_pays.c
 *	  Decide when a gate pays: what a probe costs, and what it saves.
 *
 * A probe costs Q; if the value is absent, it saves a scan of the child, C.
 * So it pays if the absent share a satisfies a * C > Q.  If the owner of the
 * index declared a, the planner decides by that, with its own costs (gate.c).
 * Otherwise a is determined during execution: a window of probes measures it,
 * and if the window did not pay, many scans are executed without a probe,
 * twice as many each time.  A window after such a pause is a short one, so
 * that statements with some hundred scans, which try again for themselves,
 * waste few probes.
 *
 * The unit is a block that a probe examines in memory: about four if the value
 * is absent, one per hash if it is present.  A page of a table that is scanned
 * sequentially costs several of these, and so do the bytes of a long value.  A
 * lookup in an index of 2^n pages costs about n * n / 5: it takes more steps
 * in a larger one, and each is less likely to be in the processor's caches.
 * This was measured for texts and integers, in 27 to 8,300 pages.
 *
 * Blocks from outside of shared buffers are expensive, for probes and scans.
 * How many a scan reads is known from the scans that were executed, including
 * those without a probe.  If that is decisive, and no scan is executed because
 * all values are absent, one is executed nevertheless: repeated scans of the
 * same few pages read none, however large the table is.
 *
 * Reading a filter once, after which it stays in the buffers, benefits all
 * later windows, and does not count against a window that would have paid
 * without it.  After many scans without a probe the filter may have been
 * evicted; reading it again is cheap compared to those scans.
 *
 * A statement may have only one scan.  So the backend keeps the statistics by
 * filter, kind of scan that it saves, and index used by that scan, as one
 * lookup may find every value in an index and another scan none in the table.
 * A statement with many scans may look for other values than earlier ones, so
 * it tries again after as many scans as make the loss of the last window a
 * small share of the total.  Statistics are removed when the filter or that
 * index is changed, rebuilt or dropped.
 */
#include "postgres.h"

#include <math.h>

#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "gate/gate.h"

/* Probes per window; and per window after a pause. */
#define WINDOW		64
#define TRIAL		8

/* Costs in blocks examined in memory: of a read, and of a scanned page. */
#define READ		100.0
#define SCANNED		16.0

/* A lookup in an index of 2^n pages costs (n + 1) squared divided by this. */
#define LOOKUP		5.0

/* Bytes that are hashed at the cost of a block. */
#define BYTES		128.0

/* Probes per scan that is executed for knowing its reads. */
#define SAMPLED		32

/* The weight, in scans, of what is known from before a window. */
#define REMEMBERED	16.0

/* Scans in a pause after a window that did not pay, at first and at most. */
#define FIRST_PAUSE	1024
#define LONGEST_PAUSE	65536

/* The minimum number of scans after which a statement tries again. */
#define PATIENCE	256

/* The share of the scans' cost that trying, or reading, again may lose. */
#define AGAIN		0.05

/* Statistics by kind; NULL: none */
static HTAB *all;

/* The number of removals */
static uint64 forgotten;

/* The statistics of a kind, by their last address if that is valid. */
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
		/* The first read of the whole filter does not count. */
		*lookup->learnt = (BfGateLearnt) {
			.kind = lookup->kind,
			.free_reads = HUGE_VAL,
			.asks = true
		};
	}
	return lookup->learnt;
}

/* Relcache callback: remove statistics of a relation, or of all. */
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

/*
 * Whether to scan without a probe; *skipped counts a statement's such scans.
 */
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

/* The cost of a scan in memory: of a table, or by an index, of that size. */
static double
scan_cost(const BfGateLearnt *learnt, BlockNumber pages)
{
	double		depth;

	if (!OidIsValid(learnt->kind.index))
		return pages * SCANNED;
	depth = log2(Max(pages, 1)) + 1;
	return depth * depth / LOOKUP;
}

/* The cost of the probes of a window, with a number of blocks read. */
static double
asking_cost(const BfGateLearnt *learnt, double read)
{
	return learnt->looked_at + learnt->hashed / BYTES + read * READ;
}

/* The cost of a scan. */
static double
scanning_cost(const BfGateLearnt *learnt)
{
	return learnt->scans == 0 ? learnt->scan :
		learnt->scan + learnt->by_child / learnt->scans * READ;
}

/* Whether the probes of a window have paid, with a number of blocks read. */
static bool
has_paid(const BfGateLearnt *learnt, double read)
{
	return learnt->absent * scanning_cost(learnt) > asking_cost(learnt, read);
}

/* Begin a pause: longer if more was lost, and each time. */
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
 * Begin a window, for scans of a table, or by an index, of that many pages.
 * `filter` is the number of blocks of the filter that would stay in the
 * buffers.
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
 * Decide at the end of a window whether to go on.  Pauses become longer until
 * a window has paid for all that it read.
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
 * Record a probe and its cost.  Returns whether to scan the child: if the
 * value may be present, and also if it is absent, but no scan was executed
 * lately and the decision depends on what scans read.
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
