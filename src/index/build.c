/*
 * build.c
 *	  Build a live filter from its table.
 *
 * The bits are set in memory and then written, without pages that have no
 * bits.  That takes m/8 bytes.  If maintenance_work_mem is smaller, or if the
 * table has to be read before the filter can be sized, the hashes go to a
 * temporary file, which is then read once for each range of pages that fits
 * into memory.  If there are more ranges than an element has bits, the file is
 * read only once, and the positions of the bits go to a file for each range
 * (spool.c).
 *
 * Elements are added in batches whose cache lines are prefetched together, as
 * the filter is larger than the caches.
 *
 * A build hashes every row version that any snapshot of this server may see.
 * Of a HOT chain, PostgreSQL's scan takes only the last version, not recently
 * dead ones, which older snapshots see; as those may differ in the indexed
 * column, it makes users of the index wait until they are gone.  As we need
 * values, not row pointers, we scan the table once more for them instead.
 * Rows that no snapshot here can see may still be visible on a standby: the
 * metapage has the transaction from which on the filter is complete
 * (visibility.c).
 *
 * An in-place build, of a file from before the current subtransaction, is the
 * part of TRUNCATE that cannot be undone.  It writes its metapage first, with
 * our transaction ID, on which the answers depend, so that an error does not
 * leave an empty file.
 *
 * The bits, not the number of rows, tell whether the filter is over-full from
 * the beginning, as many rows may have few distinct elements; then there is a
 * WARNING.
 *
 * Pages are written through shared buffers, with a ring, as this is the same
 * in all releases; WAL has full images of them.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/buffile.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "utils/memutils.h"

#include "index/index.h"
#include "index/origin.h"
#include "type/subtransaction.h"
#include "type/value.h"

/*
 * The minimum number of elements to size a filter for without the option
 * expected: a table without rows is going to get some.  It takes 14 pages.
 */
#define LEAST_EXPECTED	100000

/* Positions prefetched together: about 40 elements. */
#define RING			512

/* Hashes, or positions, read from a temporary file at once. */
#define PAIRS_AT_ONCE	1024

/* The maximum number of ranges: a file of each has a buffer of 8 kB. */
#define MOST_RANGES		256

/* The bits of a range of data pages, in memory. */
typedef struct Range
{
	BlockNumber first;
	BlockNumber pages;
	uint8	   *bits;
	uint64		ring[RING];		/* bits to be set, prefetched */
	uint32		filled;
} Range;

typedef struct Build
{
	Relation	index;
	const BfStrategy *strategy;
	BfFunnel	funnel;
	BfElementType element;
	BfParts		columns;		/* the parts of an element */
	BfLive		live;
	Range		range;			/* all pages, unless hashes are spooled */
	BufFile    *spool;			/* NULL: bits are set as rows come */
	BfSpool    *parts;			/* positions by range, or NULL */
	uint64		elements;		/* spooled */
	uint32		passes;			/* over the spooled elements */
	uint32		passed;			/* passes that are done */
	uint64		set;			/* bits that were written */
	FullTransactionId horizon;	/* see BfLive */
	bool		pruned_early;
	MemoryContext scratch;		/* reset for each row */
} Build;

/* Set the bits that were prefetched. */
static void
drain_range(Range *range)
{
	for (uint32 i = 0; i < range->filled; i++)
		bf_bit_set(range->bits, range->ring[i]);
	range->filled = 0;
}

/* Set a bit of the range later; call drain_range() in the end. */
static inline void
range_set(Range *range, uint64 bit)
{
	__builtin_prefetch(range->bits + bf_bit_byte(bit), 1);
	range->ring[range->filled++] = bit;
}

/* Set those bits of an element that are in the range. */
static void
range_add(const BfLive *live, Range *range, const BfHash *hash)
{
	uint64		first = range->first * BF_PAGE_BITS;
	uint64		bits = range->pages * BF_PAGE_BITS;
	uint64		positions[BF_MAX_HASHES];
	uint32		hashes = live->plan.first.hashes;

	live->plan.strategy->positions(hash, live->plan.first.bits, 0, hashes,
								   positions);
	if (range->filled + hashes > RING)
		drain_range(range);
	for (uint32 i = 0; i < hashes; i++)
	{
		uint64		bit = positions[i] - first;

		/* Bits before the range have wrapped around. */
		if (bit < bits)
			range_set(range, bit);
	}
}

/* Size a filter for an in-place build; options, if refused, are ignored. */
static void
plan_default(BfLive *live, Relation index)
{
	const BfStrategy *strategy = bf_strategy_by_name(BF_LIVE_STRATEGY);
	BfElementType element;
	BfParts		parts;
	BfPlan		plan;

	bf_live_elements(index, &element, &parts);
	bf_value_plan(strategy, LEAST_EXPECTED, BF_LIVE_FPP,
				  strategy->funnels[element.kind], 0, &plan);
	bf_live_plan(live, &plan, &parts);
}

/* The expansion of an index; 0 if it does not grow. */
static int32
expansion_of(const BfLiveOptions *options)
{
	if (options == NULL)
		return BF_LIVE_EXPANSION;
	if (options->expansion >= 0)
		return options->expansion;
	return options->expected > 0 ? 0 : BF_LIVE_EXPANSION;
}

/* A hint for a filter with more bits than its strategy can address. */
static const char *
hint_for_large(const Build *build, uint64 expected, double fpp, uint64 parts)
{
	const BfStrategy *wide = build->strategy->wide;
	char	   *divided = bf_live_divided(build->index, expected, fpp, parts);

	return wide == NULL ? divided :
		psprintf("Use strategy %s, or divide the filter. %s", wide->name, divided);
}

/* Plan a filter for a number of elements; false if that would be too large. */
static bool
plan_for(const Build *build, uint64 expected, double fpp, int32 expansion,
		 BfPlan *sized, BfError *error)
{
	uint64		most = bf_live_most_bits(build->strategy);

	if (!bf_plan_sized(build->strategy, (int64) expected, fpp, build->funnel,
					   expansion, sized, error))
		return false;
	if (bf_live_takes_layer(build->strategy, &sized->first, BF_FIRST_BLOCK))
		return true;
	return bf_fail_hint(error, BF_ERROR_LIMIT,
						hint_for_large(build, expected, fpp,
									   bf_live_parts(sized->first.bits, most)),
						"live filter of %llu bits exceeds the maximum of %llu for strategy \"%s\"",
						(unsigned long long) sized->first.bits,
						(unsigned long long) most, build->strategy->name);
}

/*
 * Size the filter by the option expected, or for the number of elements.  For
 * a filter that grows, the option counts only if the existing elements do not
 * fill it; otherwise it is sized for twice the elements or, if that would be
 * too large, for the elements without growth.
 */
static void
plan_build(Build *build, uint64 elements)
{
	BfLiveOptions *options = (BfLiveOptions *) build->index->rd_options;
	int32		expansion = expansion_of(options);
	double		fpp = options != NULL ? options->fpp : BF_LIVE_FPP;
	uint64		expected = options != NULL ? (uint64) options->expected : 0;
	BfPlan		sized;
	BfError		error;

	if (expected > 0)
	{
		if (!plan_for(build, expected, fpp, expansion, &sized, &error))
			bf_raise(&error);
		bf_live_plan(&build->live, &sized, &build->columns);
		if (expansion == 0 ||
			(double) elements < bf_live_capacity(&build->live))
			return;
	}
	if (!(expansion > 0 &&
		  plan_for(build, Max(elements * 2, LEAST_EXPECTED), fpp, expansion,
				   &sized, &error)) &&
		!plan_for(build, Max(elements, LEAST_EXPECTED), fpp, 0, &sized, &error))
		bf_raise(&error);
	bf_live_plan(&build->live, &sized, &build->columns);
}

/* Allocate the bits of the filter, or of a range if memory is short. */
static void
range_allocate(const BfLive *live, Range *range)
{
	BlockNumber pages = live->layers[0].pages;
	Size		room = (Size) maintenance_work_mem * 1024 / BF_PAGE_BYTES;

	if (room < pages)
		pages = Max(Min(room, BF_PART_BITS / BF_PAGE_BITS),
					pages / MOST_RANGES + 1);
	range->pages = pages;
	range->bits = bf_allocate_scattered(CurrentMemoryContext,
										(Size) pages * BF_PAGE_BYTES);
}

/* Begin a range at a block, with no bits set. */
static void
range_start(Range *range, BlockNumber first)
{
	range->first = first;
	range->filled = 0;
	memset(range->bits, 0, (Size) range->pages * BF_PAGE_BYTES);
}

/* Add an element, in a context that is reset. */
static void
build_add(Build *build, Datum value)
{
	BfHash		hash;

	if (!bf_element_hash(build->strategy, build->funnel, &build->element,
						 value, &hash))
		bf_element_does_not_fit(&build->element, value);
	if (build->spool == NULL)
		range_add(&build->live, &build->range, &hash);
	else
	{
		BfHashPair	pair = bf_pair_of(&hash);

		BufFileWrite(build->spool, &pair, sizeof(pair));
	}
	build->elements++;
}

/* Add the element of a row, if it has one. */
static void
build_element(Build *build, const Datum *values, const bool *isnull)
{
	MemoryContext caller = MemoryContextSwitchTo(build->scratch);
	BfPartsRoom room;
	Datum		value;

	if (bf_parts_element(&build->columns, values, isnull, &room, &value))
		build_add(build, value);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(build->scratch);
}

/* Add a row of PostgreSQL's scan. */
static void
build_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		  bool alive, void *state)
{
	build_element(state, values, isnull);
}

/* Add a row that PostgreSQL's scan left out. */
static void
build_left_out(TupleTableSlot *slot, const Datum *values, const bool *isnull,
			   void *state)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);

	if (HeapTupleIsHotUpdated(tuple))
		build_element(state, values, isnull);
}

/* Report progress over all passes, including a part of the current one. */
static void
report_pass(const Build *build, double part)
{
	double		done = (build->passed + part) / build->passes;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
								 (int64) ((double) build->elements * done));
}

/* Process a spooled element. */
typedef void (*TakeHash) (Build *build, const BfHash *hash);

/* Process all spooled elements. */
static void
read_spool(Build *build, TakeHash take)
{
	BfHashPair	pairs[PAIRS_AT_ONCE];

	if (BufFileSeek(build->spool, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file")));
	for (uint64 start = 0; start < build->elements; start += PAIRS_AT_ONCE)
	{
		size_t		n = Min(PAIRS_AT_ONCE, build->elements - start);

		CHECK_FOR_INTERRUPTS();
		report_pass(build, (double) start / (double) build->elements);
		BufFileReadExact(build->spool, pairs, n * sizeof(BfHashPair));
		for (size_t i = 0; i < n; i++)
		{
			BfHash		hash = bf_hash_of(&pairs[i]);

			take(build, &hash);
		}
	}
	build->passed++;
}

/* Set those bits of a spooled element that are in the range. */
static void
take_into_range(Build *build, const BfHash *hash)
{
	range_add(&build->live, &build->range, hash);
}

/* Write the positions of a spooled element to their parts. */
static void
take_into_parts(Build *build, const BfHash *hash)
{
	const BfLayer *shape = &build->live.plan.first;
	uint64		positions[BF_MAX_HASHES];

	build->strategy->positions(hash, shape->bits, 0, shape->hashes, positions);
	bf_spool_add(build->parts, positions, shape->hashes);
}

/* Replace spooled hashes by positions, if that is less to read. */
static void
divide_spool(Build *build)
{
	const BfLiveLayer *layer = &build->live.layers[0];

	if (build->elements == 0 ||
		layer->pages <= (uint64) build->range.pages * layer->shape.hashes)
		return;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, BF_PHASE_FILL);
	build->parts = bf_spool_create(layer->shape.bits,
								   build->range.pages * BF_PAGE_BITS);
	build->passes++;
	read_spool(build, take_into_parts);
	bf_spool_rewind(build->parts);
}

/* Set the bits of a range from the positions of its part. */
static void
range_fill_part(Build *build, uint32 part)
{
	Range	   *range = &build->range;
	uint32		positions[PAIRS_AT_ONCE];
	size_t		count;

	while ((count = bf_spool_read(build->parts, part, positions,
								  PAIRS_AT_ONCE)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < count; i++)
		{
			if (range->filled == RING)
				drain_range(range);
			range_set(range, positions[i]);
		}
	}
	report_pass(build, 1);
	build->passed++;
}

/* Set the bits of all spooled elements in a range. */
static void
range_fill(Build *build, BlockNumber first)
{
	Range	   *range = &build->range;

	range_start(range, first);
	if (build->parts != NULL)
		range_fill_part(build, first / range->pages);
	else
		read_spool(build, take_into_range);
	drain_range(range);
}

/* Append a page to the index. */
static void
append_page(Relation index, BufferAccessStrategy ring, const uint8 *bits)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, P_NEW,
											RBM_ZERO_AND_LOCK, ring);
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	bf_page_init(page, BF_PAGE_DATA);
	memcpy(PageGetContents(page), bits, BF_PAGE_BYTES);
	MarkBufferDirty(buffer);
	if (bf_needs_wal(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* Write the pages of a range, up to the last one that has a bit. */
static void
range_write(Build *build, BlockNumber *written)
{
	const Range *range = &build->range;
	BufferAccessStrategy ring = GetAccessStrategy(BAS_BULKWRITE);
	const BfLiveLayer *layer = bf_newest_layer(&build->live);
	BlockNumber pages = Min(range->pages, layer->pages - range->first);

	for (BlockNumber i = 0; i < pages; i++)
	{
		const uint8 *bits = range->bits + (Size) i * BF_PAGE_BYTES;
		BlockNumber block = bf_data_block(layer, range->first + i);

		CHECK_FOR_INTERRUPTS();
		pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE,
									 range->first + i);
		if (bf_bits_are_zero(bits, BF_PAGE_BYTES))
			continue;
		build->set += bf_bits_count(bits, BF_PAGE_BYTES);
		if (*written < block)
			bf_file_extend_to(build->index, block);
		append_page(build->index, ring, bits);
		*written = block + 1;
	}
	FreeAccessStrategy(ring);
}

/* Write the filter, setting the bits of spooled elements range by range. */
static void
write_filter(Build *build)
{
	Range	   *range = &build->range;
	BlockNumber pages = build->live.layers[0].pages;
	BlockNumber written = BF_FIRST_BLOCK;
	const int	counters[] = {PROGRESS_CREATEIDX_SUBPHASE,
		PROGRESS_SCAN_BLOCKS_TOTAL,
	PROGRESS_SCAN_BLOCKS_DONE};
	const int64 start[] = {build->spool ? BF_PHASE_FILL : BF_PHASE_WRITE, pages, 0};

	bf_meta_write(build->index, MAIN_FORKNUM, &build->live);
	/* Together, so that no phase is shown with the counters of another one. */
	pgstat_progress_update_multi_param(lengthof(counters), counters, start);
	build->passes = (pages + range->pages - 1) / range->pages;
	if (build->spool != NULL)
		divide_spool(build);
	for (BlockNumber first = 0; build->elements > 0 && first < pages;
		 first += range->pages)
	{
		if (build->spool != NULL)
		{
			pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
										 BF_PHASE_FILL);
			range_fill(build, first);
		}
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
									 BF_PHASE_WRITE);
		range_write(build, &written);
	}
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
								 (int64) build->elements);
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, pages);
}

/* Prepare a build: options, sizes, and memory. */
static void
prepare_build(Build *build, Relation index)
{
	BfLiveOptions *options = (BfLiveOptions *) index->rd_options;
	bool		sized = options != NULL && options->expected > 0 &&
		expansion_of(options) == 0;

	memset(build, 0, sizeof(*build));
	build->index = index;
	build->strategy = bf_live_strategy(index);
	bf_live_elements(index, &build->element, &build->columns);
	build->funnel = bf_live_funnel(index, build->strategy, &build->element);
	build->scratch = AllocSetContextCreate(CurrentMemoryContext,
										   "live filter build",
										   ALLOCSET_DEFAULT_SIZES);

	/* Refuse invalid options even if the size is determined later. */
	plan_build(build, 0);
	if (sized)
		range_allocate(&build->live, &build->range);
	if (!sized || build->range.pages < build->live.layers[0].pages)
		build->spool = BufFileCreateTemp(false);
	else
		range_start(&build->range, 0);
}

/*
 * Whether a build is in place: the file was created neither by this
 * subtransaction nor for a concurrent build, whose index is not ready yet.
 * For a temporary file this is not known, and a wrong answer does no harm.
 */
static bool
is_in_place(Relation index)
{
	return index->rd_index->indisready &&
		!bf_file_is_new(compat_locator_of(index));
}

/*
 * Write a metapage that makes the filter depend on this transaction, except
 * for ON COMMIT DELETE ROWS, which is executed when the rows cannot return any
 * more.
 */
static FullTransactionId
begin_in_place(Relation heap, Relation index)
{
	BfLive		live;

	plan_default(&live, index);
	if (!RelationUsesLocalBuffers(index) || !bf_deferred_is_ending())
		live.emptied_by = GetCurrentFullTransactionId();
	live.emptied_with = compat_locator_of(heap);
	bf_meta_write(index, MAIN_FORKNUM, &live);
	return live.emptied_by;
}

/* Whether an error concerns the statement, rather than an expression. */
static bool
is_fatal(const ErrorData *error)
{
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_SYSTEM_ERROR:
		case ERRCODE_INTERNAL_ERROR:
			return true;
		default:
			return false;
	}
}

/* The table whose rows PostgreSQL's scan may have left out */
typedef struct LeftOut
{
	Build	   *build;
	Relation	heap;
	IndexInfo  *info;
} LeftOut;

/* Add the rows that PostgreSQL's scan left out. */
static void
take_left_out(void *state)
{
	LeftOut    *left = state;
	SnapshotData undead;

	InitNonVacuumableSnapshot(undead, GlobalVisTestFor(left->heap));
	bf_scan_rows(left->heap, left->info, &undead, build_left_out, left->build);
}

/* Add the rows that were left out; false if an expression fails for one. */
static bool
scan_left_out(Build *build, Relation heap, IndexInfo *info)
{
	LeftOut		left = {.build = build,.heap = heap,.info = info};
	ErrorData  *error;

	if (info->ii_Expressions == NIL && info->ii_Predicate == NIL)
	{
		take_left_out(&left);
		return true;
	}
	error = bf_attempt(take_left_out, &left);
	if (error == NULL)
		return true;
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
	if (is_fatal(error))
		ReThrowError(error);
	return false;
}

/*
 * Read the table, and the rows that PostgreSQL's scan leaves out.
 *
 * Rows that both scans leave out were deleted by transactions before the
 * horizon that the scans used.  That horizon is no later than the one that our
 * own snapshot holds back until the end of the statement.  A concurrent build
 * reads what its snapshot sees, and holds nothing back: rows that it does not
 * see any more were deleted by transactions that had an ID by then.
 */
static double
scan_table(Build *build, Relation heap, IndexInfo *info)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	FullTransactionId next = ReadNextFullTransactionId();
	double		rows = table_index_build_scan(heap, build->index, info, true,
											  true, build_row, build, NULL);

	/* If nothing is left out, no user of the index needs to wait. */
	if (info->ii_BrokenHotChain &&
		heap->rd_tableam == GetHeapamTableAmRoutine() &&
		scan_left_out(build, heap, info))
		info->ii_BrokenHotChain = false;
	build->pruned_early = info->ii_BrokenHotChain || compat_prunes_early(heap);
	if (blocks == 0)
		build->horizon = InvalidFullTransactionId;
	else if (info->ii_Concurrent || build->pruned_early ||
			 !TransactionIdIsValid(MyProc->xmin))
		build->horizon = next;
	else
		build->horizon = bf_full_xid(MyProc->xmin);
	return rows;
}

/* Warn if the size given by the options is too small for the elements. */
static void
warn_over_full(const Build *build)
{
	const BfLayer *shape = &build->live.plan.first;
	BfLiveFill	fill = {
		.expected = shape->expected,
		.made_for = build->live.plan.header.fpp,
		.layers = 1,
		.at_least = build->set >= shape->bits
	};

	bf_fill_add(&fill.all, build->strategy, shape, build->set);
	if (bf_live_due(&fill, (double) build->elements) == BF_DUE_OVER_FULL)
		bf_live_warn_over_full(build->index, &build->live, &fill,
							   (double) build->elements);
}

/* ambuild */
IndexBuildResult *
bflive_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	Build	   *build = palloc(sizeof(Build));
	FullTransactionId builder = InvalidFullTransactionId;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	bf_live_forget(index);
	bf_alarms_forget(index);
	bf_live_check_columns(index);
	if (is_in_place(index))
		builder = begin_in_place(heap, index);
	prepare_build(build, index);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, BF_PHASE_SCAN);
	result->heap_tuples = scan_table(build, heap, info);
	result->index_tuples = build->elements;
	if (build->range.bits == NULL)
	{
		plan_build(build, build->elements);
		range_allocate(&build->live, &build->range);
	}
	else if (build->spool == NULL)
		drain_range(&build->range);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) build->elements);
	build->live.horizon = build->horizon;
	build->live.pruned_early = build->pruned_early;
	build->live.emptied_by = builder;
	build->live.emptied_with = compat_locator_of(heap);
	write_filter(build);
	warn_over_full(build);
	bf_deferred_note_build(heap, index);
	if (build->spool != NULL)
		BufFileClose(build->spool);
	MemoryContextDelete(build->scratch);
	return result;
}

/*
 * ambuildempty: write the init fork of an unlogged index, from which crash
 * recovery recreates the main fork: an empty filter of the same shape.
 */
void
bflive_buildempty(Relation index)
{
	BfLive		live;

	bf_live_open(index, &live);
	live.horizon = live.emptied_by = InvalidFullTransactionId;
	bf_meta_write(index, INIT_FORKNUM, &live);
}

/* ambuildphasename: the phases in pg_stat_progress_create_index. */
char *
bflive_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case BF_PHASE_SCAN:
			return "scanning table";
		case BF_PHASE_FILL:
			return "setting bits";
		case BF_PHASE_WRITE:
			return "writing pages";
		default:
			return NULL;
	}
}
