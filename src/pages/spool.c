/*
 * spool.c
 *	  Spool the positions of a filter's bits, with a temporary file for each
 *	  part of the filter.
 *
 * A build whose filter is many times as large as its memory fills one part
 * after another.  To read all hashes again for each part would take the
 * product of the two, so it reads them once, and writes their positions here.
 */
#include "postgres.h"

#include "storage/buffile.h"

#include "pages/layers.h"

struct BfParts
{
	uint64		part_bits;
	uint32		count;
	uint64	   *positions;		/* per part: how many are left to be read */
	BufFile   **files;
};

/* Create a spool for a filter of `bits` bits. */
BfParts *
bf_parts_create(uint64 bits, uint64 part_bits)
{
	BfParts    *parts = palloc0(sizeof(BfParts));

	Assert(part_bits <= BF_PART_BITS);
	parts->part_bits = part_bits;
	parts->count = (uint32) ((bits + part_bits - 1) / part_bits);
	parts->positions = palloc0(parts->count * sizeof(uint64));
	parts->files = palloc(parts->count * sizeof(BufFile *));
	for (uint32 i = 0; i < parts->count; i++)
		parts->files[i] = BufFileCreateTemp(false);
	return parts;
}

/* Write positions, each to its part. */
void
bf_parts_add(BfParts *parts, const uint64 *positions, uint32 count)
{
	for (uint32 i = 0; i < count; i++)
	{
		uint32		part = (uint32) (positions[i] / parts->part_bits);
		uint32		position = (uint32) (positions[i] - part * parts->part_bits);

		BufFileWrite(parts->files[part], &position, sizeof(position));
		parts->positions[part]++;
	}
}

/* End writing, and start reading. */
void
bf_parts_rewind(BfParts *parts)
{
	for (uint32 i = 0; i < parts->count; i++)
	{
		if (BufFileSeek(parts->files[i], 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind temporary file")));
	}
}

/*
 * Read positions of a part, relative to its first bit; 0 after the last, when
 * its file is closed.
 */
size_t
bf_parts_read(BfParts *parts, uint32 part, uint32 *positions, size_t room)
{
	size_t		count = Min(room, parts->positions[part]);

	if (count > 0)
		BufFileReadExact(parts->files[part], positions,
						 count * sizeof(uint32));
	else
		BufFileClose(parts->files[part]);
	parts->positions[part] -= count;
	return count;
}
