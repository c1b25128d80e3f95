/*
 * extent.c
 *	  The maximum size of a live filter, and the position of its layers in its
 *	  file.
 *
 * A filter in a file can have as many bits as its strategy has positions, as
 * it is never in memory as a whole.  Whether it fits into a value is checked
 * only where one is made of it (snapshot.c).
 *
 * The room on a page is a multiple of the blocks of a strategy that has some, so
 * that an element has all of its bits on one page.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/ruleutils.h"

#include "pages/index_options.h"
#include "pages/page.h"

/*
 * Pending pages: none for small filters, whose 1 MB stays in memory, otherwise
 * a share of the data pages.  A pending page holds 510 elements and a flush
 * visits all data pages, so an element costs half a page.  The maximum of 2 MB
 * limits the duration of a flush.  Filters beyond 2 GB have more, as otherwise
 * a flush would set less than one bit per page.
 */
#define PENDING_FROM_PAGES	128
#define PENDING_SHARE		256
#define PENDING_MIN			4
#define PENDING_MAX			256
#define PENDING_BEYOND		1024	/* the share, beyond PENDING_MAX */

/* The number of data pages of a filter of that many bits. */
static inline uint64
pages_for(uint64 bits)
{
	return bits / BF_PAGE_BITS + (bits % BF_PAGE_BITS != 0);
}

/* The number of pending pages for a number of data pages. */
static inline uint64
pending_for(uint64 pages)
{
	uint64		pending;

	if (pages < PENDING_FROM_PAGES)
		return 0;
	pending = Min(Max(pages / PENDING_SHARE, PENDING_MIN), PENDING_MAX);
	return Max(pending, pages / PENDING_BEYOND);
}

/* Whether a layer of that many bits, starting at a block, fits into a file. */
bool
bf_file_has_room(uint64 bits, BlockNumber start)
{
	uint64		pages = pages_for(bits);

	return start + pending_for(pages) + pages <= MaxBlockNumber;
}

/* Lay a layer out in pages from a block on; the file must have room for it. */
void
bf_live_lay_out(BfLiveLayer *layer, const BfLayer *shape, BlockNumber start)
{
	layer->shape = *shape;
	layer->start = start;
	layer->pages = (BlockNumber) pages_for(shape->bits);
	layer->pending = (BlockNumber) pending_for(layer->pages);
	layer->sealed = layer->pending == 0;
}

/* Lay a planned filter out in pages. */
void
bf_live_plan(BfLive *live, const BfPlan *plan, const BfParts *parts)
{
	Assert(plan->strategy->words == BF_PAIR_WORDS);
	Assert(plan->strategy->blocks == NULL ||
		   BF_PAGE_HAS_WHOLE(plan->strategy->blocks->bytes));
	memset(live, 0, sizeof(*live));
	live->plan = *plan;
	live->parts = *parts;
	live->nlayers = 1;
	bf_live_lay_out(&live->layers[0], &plan->first, BF_FIRST_BLOCK);
}

/* Lay another layer out after the existing ones. */
void
bf_live_append_layer(BfLive *live, const BfLayer *shape)
{
	BlockNumber start = bf_live_end(live);

	bf_live_lay_out(&live->layers[live->nlayers++], shape, start);
	live->complete = false;
}

/* The maximum number of bits of a layer, by the positions of a strategy. */
uint64
bf_live_most_bits(const BfStrategy *strategy)
{
	const BfDerivation *derivation = strategy->derivation;
	int			width;

	if (derivation == NULL)
		return strategy->max_bits;
	width = derivation->word_bits - (derivation->fold != BF_FOLD_NONE);
	return width >= 63 ? strategy->max_bits :
		Min(strategy->max_bits, UINT64CONST(1) << width);
}

/* Whether a strategy, and the file from a block on, have room for a layer. */
bool
bf_live_takes_layer(const BfStrategy *strategy, const BfLayer *shape,
					BlockNumber start)
{
	return shape->bits <= bf_live_most_bits(strategy) &&
		bf_file_has_room(shape->bits, start);
}

/*
 * The number of parts to divide a size into, each at most `most`.  Parts are
 * not all of equal size, so there is some reserve.
 */
uint64
bf_live_parts(uint64 size, uint64 most)
{
	return size / (most - most / 64) + 1;
}

/* Append options for a part's index: its size, the rest as the original's. */
static void
append_options(Relation index, uint64 expected, double fpp, StringInfo text)
{
	const BfLiveOptions *options = (const BfLiveOptions *) index->rd_options;
	const BfStrategy *strategy = bf_live_strategy(index);

	appendStringInfo(text, "expected = %llu, fpp = %g",
					 (unsigned long long) expected, fpp);
	if (strcmp(strategy->name, BF_LIVE_STRATEGY) != 0)
		appendStringInfo(text, ", strategy = %s", strategy->name);
	if (options != NULL && options->funnel != 0)
		appendStringInfo(text, ", funnel = %s",
						 GET_STRING_RELOPTION(options, funnel));
}

/* A hint to divide an index that is too large into partial ones. */
char *
bf_live_divided(Relation index, uint64 expected, double fpp, uint64 parts)
{
	Oid			table = index->rd_index->indrelid;
	const char *columns = pg_get_indexdef_columns(RelationGetRelid(index), true);
	List	   *predicate = RelationGetIndexPredicate(index);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text,
					 "Create %llu partial indexes, with i from 0 to %llu: CREATE INDEX ON %s USING bloomfilter (%s) WITH (",
					 (unsigned long long) parts,
					 (unsigned long long) parts - 1,
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
												get_rel_name(table)),
					 columns);
	append_options(index, (expected - 1) / parts + 1, fpp, &text);
	appendStringInfo(&text, bf_live_columns(index) == 1 ?
					 ") WHERE bf_shard(%s, %llu) = i" :
					 ") WHERE bf_shard(bf_element(%s), %llu) = i",
					 columns, (unsigned long long) parts);
	if (predicate != NIL)
		appendStringInfo(&text, " AND (%s)",
						 deparse_expression((Node *) make_ands_explicit(predicate),
											deparse_context_for(get_rel_name(table), table),
											false, false));
	appendStringInfoChar(&text, '.');
	return text.data;
}
