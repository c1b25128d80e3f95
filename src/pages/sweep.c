/*
 * sweep.c
 *	  Read all data pages of a layer, in order.
 *
 * From PostgreSQL 17 on by a read stream: what is not in memory is read many
 * pages at a time and, from 18 on, ahead.
 *
 * A stream may be asked only for what the file has.  So how far that goes is
 * found out once, when a sweep begins.  What comes into being later is left out:
 * no element is there that was in the layer before, as its pages were there, too.
 *
 * Where the pages are is not remembered (buffer_hints.c): those of a filter that is
 * read through a ring do not stay there, and any others are found again by the
 * first who asks for them.
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
	BlockNumber next;			/* block to be handed out */
	BlockNumber ahead;			/* block to be read, perhaps ahead of that */
	BlockNumber end;			/* of the layer, or of the file before that */
	ReadStream *stream;
};

/* The block that is to be read next. */
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
 * Read and share-lock the next page that is not empty, and tell which of the
 * layer's data pages it is; InvalidBuffer after the last one.
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

/* Done with a layer. */
void
bf_sweep_end(BfSweep *sweep)
{
	compat_stream_end(sweep->stream);
	pfree(sweep);
}
