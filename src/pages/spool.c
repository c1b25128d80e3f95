/*
 * spool.c
 *	  Positions of a filter's bits, in a temporary file for each part of it.
 *
 * A build whose filter is many times as large as its memory fills one part after
 * another.  To go over all hashes for each of them would take the product of the
 * two; so it goes over them once, and leaves the positions here, by parts.
 */
#include "postgres.h"

#include "storage/buffile.h"

#include "pages/layers.h"

struct BfParts
{
	uint64		part_bits;
	uint32		count;
	uint64	   *positions;		/* of each part: how many are there to be read */
	BufFile   **files;
};

/* Begin with the parts of so many bits that a filter has. */
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

/* Leave positions, each in its part. */
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

/* All positions are there: read from here on. */
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
 * Read positions of a part, relative to its first bit.  After the last of them
 * there are none, and its file is gone.
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
