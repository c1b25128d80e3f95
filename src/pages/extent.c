/*
 * extent.c
 *	  How large a live filter may be, and where its layers lie in its file.
 *
 * A file is no value: it may have as many bits as its strategy has positions
 * for, and no memory ever holds all of them.  Who does make a value of it asks
 * whether it can be one (snapshot.c); nobody else does.
 *
 * Where a layer lies follows from its bits, and where it starts.
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
 * Pending pages: none for small filters, whose 1 MB stays in memory, else a
 * share of the data pages.  A pending page holds 509 elements and a flush goes
 * over all data pages: that is half a page an element.  2 MB of pending pages
 * are as many as are to be waited for when they are flushed.  Beyond 2 GB so few
 * elements would set less than a bit on a page, and there are more.
 */
#define PENDING_FROM_PAGES	128
#define PENDING_SHARE		256
#define PENDING_MIN			4
#define PENDING_MAX			256
#define PENDING_BEYOND		1024	/* the share, beyond PENDING_MAX */

/* Data pages that a filter of so many bits takes. */
static inline uint64
pages_for(uint64 bits)
{
	return bits / BF_PAGE_BITS + (bits % BF_PAGE_BITS != 0);
}

/* Pending pages that a filter of so many data pages has. */
static inline uint64
pending_for(uint64 pages)
{
	uint64		pending;

	if (pages < PENDING_FROM_PAGES)
		return 0;
	pending = Min(Max(pages / PENDING_SHARE, PENDING_MIN), PENDING_MAX);
	return Max(pending, pages / PENDING_BEYOND);
}

/* Whether a file has blocks for a layer of so many bits, from a block on. */
bool
bf_file_has_room(uint64 bits, BlockNumber start)
{
	uint64		pages = pages_for(bits);

	return start + pending_for(pages) + pages <= MaxBlockNumber;
}

/* Lay a layer out in pages, from a block on; the file has room for it. */
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
bf_live_plan(BfLive *live, const BfPlan *plan)
{
	Assert(plan->strategy->words == BF_PAIR_WORDS);
	memset(live, 0, sizeof(*live));
	live->plan = *plan;
	live->nlayers = 1;
	bf_live_lay_out(&live->layers[0], &plan->first, BF_FIRST_BLOCK);
}

/* Lay another layer out, after those there are. */
void
bf_live_append_layer(BfLive *live, const BfLayer *shape)
{
	BlockNumber start = bf_live_end(live);

	bf_live_lay_out(&live->layers[live->nlayers++], shape, start);
	live->complete = false;
}

/* The most bits of a layer that a strategy has positions for. */
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

/* Whether a layer may be added to a filter of a strategy, from a block on. */
bool
bf_live_takes_layer(const BfStrategy *strategy, const BfLayer *shape,
					BlockNumber start)
{
	return shape->bits <= bf_live_most_bits(strategy) &&
		bf_file_has_room(shape->bits, start);
}

/*
 * In how many parts no more than so large something is to be divided.  They will
 * not all be equal, so that there is some room to spare.
 */
uint64
bf_live_parts(uint64 size, uint64 most)
{
	return size / (most - most / 64) + 1;
}

/* The options of an index of a part: its size, and what its whole's say besides. */
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

/* How to make indexes of parts of the elements, where one is too large. */
char *
bf_live_divided(Relation index, uint64 expected, double fpp, uint64 parts)
{
	Oid			table = index->rd_index->indrelid;
	const char *column = pg_get_indexdef_columns(RelationGetRelid(index), true);
	List	   *predicate = RelationGetIndexPredicate(index);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text,
					 "Create %llu partial indexes, with i from 0 to %llu: CREATE INDEX ON %s USING bloomfilter (%s) WITH (",
					 (unsigned long long) parts,
					 (unsigned long long) parts - 1,
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
												get_rel_name(table)),
					 column);
	append_options(index, (expected - 1) / parts + 1, fpp, &text);
	appendStringInfo(&text, ") WHERE bf_shard(%s, %llu) = i", column,
					 (unsigned long long) parts);
	if (predicate != NIL)
		appendStringInfo(&text, " AND (%s)",
						 deparse_expression((Node *) make_ands_explicit(predicate),
											deparse_context_for(get_rel_name(table), table),
											false, false));
	appendStringInfoChar(&text, '.');
	return text.data;
}
