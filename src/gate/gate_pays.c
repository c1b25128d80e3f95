/*
 * gate_pays.c
 *	  Decide when a gate pays: what a probe costs, and what it saves.
 *
 * A probe costs Q.  If the value is absent, the probe saves a scan of the
 * child, which costs C.  If values are absent in a share a of the probes,
 * these pay if a * C > Q.  If the owner of the index declared a, the planner
 * decides by it, with its own costs (gate.c).  Otherwise a is measured during
 * execution, over a window, which is a number of probes.  After a window that
 * did not pay there is a pause: many scans are executed without a probe,
 * twice as many in each further pause.  The window after a pause is short, as
 * each statement with some hundred scans tries again and should waste few
 * probes.
 *
 * The unit of cost is a block that a probe examines in memory.  A probe
 * examines about four if the value is absent, or one for each hash function
 * if it is present.  A page of a table that is scanned sequentially costs
 * several of these, and so do the bytes of a long value.  A lookup in an
 * index of 2^n pages costs about n * n / 5: it takes more steps in a larger
 * index, and each is less likely to be in the processor's caches.  This was
 * measured for texts and integers, in 27 to 8,300 pages.
 *
 * Blocks from outside of shared buffers are expensive, for probes and scans.
 * How many a scan reads is known from the scans that were executed, including
 * those without a probe.  If the decision depends on this number, and no scan
 * is executed because all values are absent, one is executed nevertheless now
 * and then: repeated scans of the same few pages read no blocks, however
 * large the table is.
 *
 * When a filter is first read, this benefits all later windows, as it stays
 * in the buffers.  So these reads do not count against a window that would
 * have paid without them.  After many scans without a probe the filter may
 * have been evicted; reading it again is cheap compared to those scans.
 *
 * A statement may have only one scan, so the backend keeps statistics beyond
 * a statement.  They are kept by filter, kind of scan, and index that the
 * scan uses, as one scan may find every value, and another one of the same
 * table none.  A statement with many scans may look for other values than
 * earlier ones.  So it tries again after a number of scans of which the loss
 * of the last window is only a small share.  Statistics are removed when the
 * filter or that index is changed, rebuilt or dropped.
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
BfGateStats *
bf_gate_stats(BfGateLookup *lookup)
{
	bool		found;

	if (lookup->stats != NULL && lookup->forgotten == forgotten)
		return lookup->stats;
	if (all == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(BfGateKind),
			.entrysize = sizeof(BfGateStats),
			.hcxt = CacheMemoryContext
		};

		all = hash_create("statistics of bloomext's gates", 64, &control,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	lookup->stats = hash_search(all, &lookup->kind, HASH_ENTER, &found);
	lookup->forgotten = forgotten;
	if (!found)
	{
		/* The first read of the whole filter does not count. */
		*lookup->stats = (BfGateStats) {
			.kind = lookup->kind,
			.free_reads = HUGE_VAL,
			.asks = true
		};
	}
	return lookup->stats;
}

/* Relcache callback: remove statistics of a relation, or of all. */
static void
forget_changed(Datum arg, Oid rel)
{
	HASH_SEQ_STATUS status;
	BfGateStats *stats;

	if (all == NULL)
		return;
	hash_seq_init(&status, all);
	while ((stats = hash_seq_search(&status)) != NULL)
	{
		if (OidIsValid(rel) && stats->kind.filter != rel &&
			stats->kind.index != rel)
			continue;
		hash_search(all, &stats->kind, HASH_REMOVE, NULL);
		forgotten++;
	}
}

/*
 * Whether to scan without a probe; *skipped counts a statement's such scans.
 */
bool
bf_gate_pauses(BfGateStats *stats, uint32 *skipped)
{
	if (stats->pause == 0)
		return false;
	stats->pause--;
	stats->skipped++;
	stats->scans++;
	if (++*skipped == stats->patience)
		stats->pause = 0;
	return true;
}

/* The cost of a scan in memory: of a table, or by an index, of that size. */
static double
scan_cost(const BfGateStats *stats, BlockNumber pages)
{
	double		depth;

	if (!OidIsValid(stats->kind.index))
		return pages * SCANNED;
	depth = log2(Max(pages, 1)) + 1;
	return depth * depth / LOOKUP;
}

/* The cost of the probes of a window, with a number of blocks read. */
static double
asking_cost(const BfGateStats *stats, double read)
{
	return stats->looked_at + stats->hashed / BYTES + read * READ;
}

/* The cost of a scan. */
static double
scanning_cost(const BfGateStats *stats)
{
	return stats->scans == 0 ? stats->scan :
		stats->scan + stats->by_child / stats->scans * READ;
}

/* Whether the probes of a window have paid, with a number of blocks read. */
static bool
has_paid(const BfGateStats *stats, double read)
{
	return stats->absent * scanning_cost(stats) > asking_cost(stats, read);
}

/* Begin a pause: longer if more was lost, and each time. */
static void
start_pause(BfGateStats *stats)
{
	double		scan = scanning_cost(stats);
	double		lost = asking_cost(stats, stats->by_filter) -
		stats->absent * scan;

	stats->patience = Min(Max(lost / scan / AGAIN, PATIENCE), LONGEST_PAUSE);
	stats->pause = Max(stats->next_pause, Max(FIRST_PAUSE, stats->patience));
	stats->next_pause = Min(stats->pause * 2, LONGEST_PAUSE);
}

/*
 * Begin a window, for scans of a table, or by an index, of that many pages.
 * `filter` is the number of blocks of the filter that would stay in the
 * buffers.
 */
void
bf_gate_start_window(BfGateStats *stats, BlockNumber pages, int64 filter)
{
	stats->scan = scan_cost(stats, pages);
	stats->absent = 0;
	stats->sampled = 0;
	stats->looked_at = 0;
	stats->by_filter = 0;
	stats->hashed = 0;
	if (stats->scans > REMEMBERED)
	{
		stats->by_child *= REMEMBERED / stats->scans;
		stats->scans = REMEMBERED;
	}
	stats->free_reads += stats->skipped * stats->scan * AGAIN / READ;
	stats->free_reads = Min(stats->free_reads, filter);
	stats->skipped = 0;
}

/*
 * Decide at the end of a window whether to go on.  Pauses become longer until
 * a window has paid for all that it read.
 */
static void
end_window(BfGateStats *stats)
{
	double		free_reads = Min(stats->by_filter, stats->free_reads);

	stats->asked = 0;
	stats->free_reads -= free_reads;
	stats->asks = has_paid(stats, stats->by_filter - free_reads);
	if (has_paid(stats, stats->by_filter))
		stats->next_pause = FIRST_PAUSE;
	else if (!stats->asks)
		start_pause(stats);
}

/*
 * Record a probe and its cost.  Returns whether to scan the child: if the
 * value may be present, and also if it is absent, but no scan was executed
 * lately and the decision depends on what scans read.
 */
bool
bf_gate_note(BfGateStats *stats, bool absent, BfGateCost cost)
{
	bool		scan;

	stats->absent += absent;
	stats->looked_at += cost.looked_at;
	stats->by_filter += cost.read;
	stats->hashed += cost.hashed;
	scan = !absent ||
		(stats->sampled <= stats->asked / SAMPLED &&
		 stats->absent * stats->scan <= asking_cost(stats, stats->by_filter));
	stats->sampled += scan;
	stats->scans += scan;
	if (++stats->asked >= (stats->asks ? WINDOW : TRIAL))
		end_window(stats);
	return scan;
}

/* Called once, when the module is loaded. */
void
bf_gate_pays_init(void)
{
	CacheRegisterRelcacheCallback(forget_changed, (Datum) 0);
}
