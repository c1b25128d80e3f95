/*
 * spool.c
 *	  Spool the positions of a filter's bits, with a temporary file for each
 *	  part of the filter.
 *
 * A build whose filter is many times as large as its memory fills one part
 * after another.  Reading all hashes again for each part would cost the number
 * of hashes times the number of parts, so the build reads them once and writes
 * the positions of their bits here.
 */
#include "postgres.h"

#include "storage/buffile.h"

#include "pages/layers.h"

struct BfSpool
{
	uint64		part_bits;
	uint32		count;
	uint64	   *positions;		/* per part: how many are left to be read */
	BufFile   **files;
};

/* Create a spool for a filter of `bits` bits. */
BfSpool *
bf_spool_create(uint64 bits, uint64 part_bits)
{
	BfSpool    *spool = palloc0(sizeof(BfSpool));

	Assert(part_bits <= BF_PART_BITS);
	spool->part_bits = part_bits;
	spool->count = (uint32) ((bits + part_bits - 1) / part_bits);
	spool->positions = palloc0(spool->count * sizeof(uint64));
	spool->files = palloc(spool->count * sizeof(BufFile *));
	for (uint32 i = 0; i < spool->count; i++)
		spool->files[i] = BufFileCreateTemp(false);
	return spool;
}

/* Write positions, each to its part. */
void
bf_spool_add(BfSpool *spool, const uint64 *positions, uint32 count)
{
	for (uint32 i = 0; i < count; i++)
	{
		uint32		part = (uint32) (positions[i] / spool->part_bits);
		uint32		position = (uint32) (positions[i] - part * spool->part_bits);

		BufFileWrite(spool->files[part], &position, sizeof(position));
		spool->positions[part]++;
	}
}

/* End writing, and start reading. */
void
bf_spool_rewind(BfSpool *spool)
{
	for (uint32 i = 0; i < spool->count; i++)
	{
		if (BufFileSeek(spool->files[i], 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind temporary file")));
	}
}

/*
 * Read positions of a part, relative to its first bit; after the last, close
 * the file and return 0.
 */
size_t
bf_spool_read(BfSpool *spool, uint32 part, uint32 *positions, size_t room)
{
	size_t		count = Min(room, spool->positions[part]);

	if (count > 0)
		BufFileReadExact(spool->files[part], positions,
						 count * sizeof(uint32));
	else
		BufFileClose(spool->files[part]);
	spool->positions[part] -= count;
	return count;
}
