/*
 * fill_sample.c
 *	  How full is a layer of a live filter?
 *
 * That is estimated from some of its pages: the bits of an element lie anywhere,
 * so that all pages are equally full but for chance.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "pages/layers.h"

/* Data pages to estimate by: 4 million bits, of which 1 in 4,000 is chance. */
#define SAMPLE	64

/* The bits that are set on a data page, of so many that are the filter's. */
static uint64
count_page(Relation index, BfLive *live, BlockNumber block, uint64 bits)
{
	Buffer		buffer = bf_page_for_read(index, live, block, BF_PAGE_DATA);
	uint64		set;

	if (!BufferIsValid(buffer))
		return 0;
	set = bf_bits_count((const uint8 *) PageGetContents(BufferGetPage(buffer)),
						bf_layer_bytes(bits, BF_CELL_BIT));
	UnlockReleaseBuffer(buffer);
	return set;
}

/*
 * Estimate how many bits of a layer are set.  VACUUM takes no break meanwhile, as
 * it may hold the page lock on the metapage.
 */
uint64
bf_layer_sample(Relation index, BfLive *live, const BfLiveLayer *layer)
{
	BlockNumber sample = Min(layer->pages, SAMPLE);
	uint64		set = 0;
	uint64		seen = 0;

	for (BlockNumber i = 0; i < sample; i++)
	{
		BlockNumber page = (BlockNumber) ((uint64) i * layer->pages / sample);
		uint64		bits = Min(BF_PAGE_BITS, layer->shape.bits - page * BF_PAGE_BITS);

		CHECK_FOR_INTERRUPTS();
		seen += bits;
		set += count_page(index, live, bf_data_block(layer, page), bits);
	}
	return (uint64) ((double) set / (double) seen * (double) layer->shape.bits);
}
