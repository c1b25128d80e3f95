/*
 * gate_pays.c
 *	  When it pays to ask: what a question costs, and what it saves.
 *
 * A question costs Q; where the value is absent, it saves a scan of the child,
 * C.  So it pays where the share a that is absent has a * C > Q.  The planner
 * reckons so, with its own costs, where the index's owner told it a (gate.c).  Where
 * nobody did, it is found out while plans run: a window of questions tells a, and
 * where it did not pay, many scans go to the child without being asked, twice as
 * many each time in turn.
 *
 * The unit is a block that a question looks at in memory: some four where the value
 * is absent, one for each hash where it is there.  A page of a table that is scanned
 * whole costs some of these.  A lookup in an index of 2^n pages costs about
 * n * n / 5: it takes more steps in a larger one, and each is less likely to be in
 * the processor's caches.  So measured for texts and integers, in 27 to 8,300 pages.
 * A block from outside of shared buffers is dear, for both.  But to read the filter
 * once is for all windows to come, and does not count against one that had paid
 * without.
 *
 * A statement may scan but once.  So what was learnt is kept by the backend: of a
 * filter, of the kind of scan it spares, and of the index that this is by, as a
 * mere lookup may find all that it looks for, and a scan of the table nothing.
 * A statement that scans much tries for itself after some scans, as it may look
 * for other values than those before.  What was learnt is forgotten when the filter
 * or that index is changed, or made anew, and when others need the room.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "utils/inval.h"

#include "live/gate.h"

/* Questions after which it is decided whether they paid. */
#define WINDOW		64

/* What is more than a block in memory: one that is read, a page that is scanned. */
#define READ		32.0
#define SCANNED		16.0

/* A lookup in an index of 2^n pages is so many times less than (n + 1) squared. */
#define LOOKUP		5.0

/* How much more a scan may cost, as it may read, if none was made. */
#define UNKNOWN		3

/* How many scans are not asked for where it did not pay, at first and at most. */
#define FIRST_PAUSE	1024
#define LONGEST_PAUSE	65536

/* After so many of them a statement tries for itself. */
#define PATIENCE	256

/* How much is kept: what is of one hash has a few places. */
#define SETS		256
#define PLACES		4

static BfGateLearnt all[SETS][PLACES];

/* Whether something was learnt of a kind. */
static bool
is_of_kind(const BfGateLearnt *learnt, const BfGateKind *kind)
{
	return learnt->kind.filter == kind->filter &&
		learnt->kind.index == kind->index && learnt->kind.scan == kind->scan;
}

/* What was learnt of a kind, where it was last, or NULL, if it is there yet. */
BfGateLearnt *
bf_gate_learnt(BfGateLearnt *last, const BfGateKind *kind)
{
	static uint32 now;
	BfGateLearnt *set = all[hash_combine(murmurhash32(kind->filter),
										 murmurhash32(kind->index)) % SETS];
	BfGateLearnt *place = &set[0];

	if (last != NULL && is_of_kind(last, kind))
		return last;
	for (int i = 0; i < PLACES && !is_of_kind(place, kind); i++)
	{
		if (is_of_kind(&set[i], kind) || set[i].used < place->used)
			place = &set[i];
	}
	if (!is_of_kind(place, kind))
		*place = (BfGateLearnt) {.kind = *kind};
	place->used = ++now;
	return place;
}

/* CacheRegisterRelcacheCallback: a relation, or any, is not what it was. */
static void
forget_changed(Datum arg, Oid rel)
{
	BfGateLearnt *learnt = &all[0][0];

	for (int i = 0; i < SETS * PLACES; i++, learnt++)
	{
		if (!OidIsValid(rel) || learnt->kind.filter == rel ||
			learnt->kind.index == rel)
			*learnt = (BfGateLearnt) {0};
	}
}

/* Whether a scan is not to be asked for; of those `skipped` counts a statement's. */
bool
bf_gate_pauses(BfGateLearnt *learnt, uint32 *skipped)
{
	if (learnt->pause == 0)
		return false;
	learnt->pause--;
	if (++*skipped == PATIENCE)
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

/* Whether questions have paid that have read so many blocks of the filter. */
static bool
has_paid(const BfGateLearnt *learnt, BlockNumber pages, int64 by_filter)
{
	uint32		scans = WINDOW - learnt->absent;
	double		scan = scan_cost(learnt, pages);

	if (scans > 0)
		scan += learnt->by_child * READ / scans;
	else
		scan *= UNKNOWN;
	return learnt->absent * scan > learnt->looked_at + by_filter * READ;
}

/* A window begins, of questions to a filter of so many blocks. */
void
bf_gate_start_window(BfGateLearnt *learnt, int64 blocks)
{
	learnt->absent = 0;
	learnt->looked_at = 0;
	learnt->by_filter = 0;
	learnt->by_child = 0;
	if (!learnt->asks)
		learnt->unread = blocks;
	learnt->asks = true;
}

/* Note a question, and the blocks that it took; true for a window's last. */
bool
bf_gate_note(BfGateLearnt *learnt, bool absent, BfGateBlocks blocks)
{
	learnt->absent += absent;
	learnt->looked_at += blocks.looked_at;
	learnt->by_filter += blocks.read;
	return ++learnt->asked >= WINDOW;
}

/*
 * Decide at the end of a window whether to go on.  The child's index has so many
 * pages, or else its table.  Pauses become longer, until a window has paid for all
 * that it read.
 */
void
bf_gate_end_window(BfGateLearnt *learnt, BlockNumber pages)
{
	int64		once = Min(learnt->by_filter, learnt->unread);

	learnt->asked = 0;
	learnt->unread -= once;
	if (has_paid(learnt, pages, learnt->by_filter))
		learnt->next_pause = FIRST_PAUSE;
	else if (!has_paid(learnt, pages, learnt->by_filter - once))
	{
		learnt->pause = Max(learnt->next_pause, FIRST_PAUSE);
		learnt->next_pause = Min(learnt->pause * 2, LONGEST_PAUSE);
		learnt->asks = false;
	}
}

/* Called once, when the module is loaded. */
void
bf_gate_pays_init(void)
{
	CacheRegisterRelcacheCallback(forget_changed, (Datum) 0);
}
