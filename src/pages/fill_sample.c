/*
 * fill_sample.c
 *	  Estimate how full a layer of a live filter is.
 *
 * A sample of a few pages suffices: the bits of an element can be anywhere,
 * so all pages are equally full apart from random variation.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "pages/layers.h"

/* Data pages per estimate: 4 million bits, for an error of about 1 in 4,000. */
#define SAMPLE	64

/* Count the bits that are set on a data page with `bits` bits of the filter. */
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
 * Estimate how many bits of a layer are set, without vacuum delay points, as
 * VACUUM may hold the page lock on the metapage.
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
