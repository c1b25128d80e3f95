/*
 * sweep.c
 *	  Read all data pages of a layer, in order.
 *
 * From PostgreSQL 17 on, this uses a read stream: pages that are not in memory
 * are read many at a time and, from 18 on, ahead.
 *
 * A stream can only read blocks that the file has.  So the end of a sweep is
 * determined once, when it begins.  Blocks that are added later are left out:
 * all elements that the layer held when the sweep began are on pages before
 * them.
 *
 * The buffers of the pages are not remembered (buffer_hints.c).  Pages that
 * are read through a ring do not stay in their buffers, and the buffer of any
 * other page is remembered by the next lookup that needs it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "pages/layers.h"
#include COMPAT_STREAM_HEADER

struct BfSweep
{
	Relation	index;
	BufferAccessStrategy ring;
	BlockNumber start;			/* the layer's first data page */
	BlockNumber next;			/* block to be returned */
	BlockNumber ahead;			/* block to be read, perhaps ahead of that */
	BlockNumber end;			/* of the layer, or the shorter file */
	ReadStream *stream;
};

/* The next block to read. */
static BlockNumber
next_ahead(ReadStream *stream, void *state, void *unused)
{
	BfSweep    *sweep = state;

	return sweep->ahead < sweep->end ? sweep->ahead++ : InvalidBlockNumber;
}

/* Begin to read a layer. */
BfSweep *
bf_sweep_begin(Relation index, BfLive *live, const BfLiveLayer *layer)
{
	BfSweep    *sweep = palloc(sizeof(BfSweep));
	BlockNumber start = bf_data_block(layer, 0);

	*sweep = (BfSweep) {
		.index = index,
		.ring = live->ring,
		.start = start,
		.next = start,
		.ahead = start,
		.end = Min(bf_data_block(layer, layer->pages),
				   bf_file_end(index, live))
	};
	sweep->stream = compat_stream_begin(index, live->ring, next_ahead, sweep);
	return sweep;
}

/*
 * Read and share-lock the next page that is not empty, and set *page to its
 * number among the data pages of the layer; InvalidBuffer after the last one.
 */
Buffer
bf_sweep_next(BfSweep *sweep, BlockNumber *page)
{
	while (sweep->next < sweep->end)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = compat_stream_next(sweep->stream, sweep->index, sweep->ring,
									next_ahead, sweep);
		*page = sweep->next++ - sweep->start;
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		if (bf_page_check(sweep->index, buffer, BF_PAGE_DATA))
			return buffer;
		UnlockReleaseBuffer(buffer);
	}
	return InvalidBuffer;
}

/* End reading a layer. */
void
bf_sweep_end(BfSweep *sweep)
{
	compat_stream_end(sweep->stream);
	pfree(sweep);
}
