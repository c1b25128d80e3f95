/*
 * hashfile.c
 *	  Hashes in a temporary file, and about how many distinct ones they are.
 *
 * Hashes are appended as they come, and a sketch counts them.  But what comes
 * again and again must not fill the disk: a small table remembers hashes that
 * are in the file already, each in the one slot that it may have, where the
 * next hash of that slot replaces it.  So one value, or the frequent ones of a
 * skewed distribution, are written now and then, and hashes that are all
 * distinct hardly pay for it: sorting would cost them more than all the rest.
 * The table is never empty, as it starts with hashes of the list that
 * overflowed: any hash that is in the file may stand in any slot.
 *
 * The file belongs to a memory context, by a reset callback, and to no resource
 * owner: contexts are deleted at commit, at abort and for every group, and in
 * no known order with the owner's release.  PostgreSQL keeps files without an
 * owner in the database's tablespace, whatever temp_tablespaces says.  It is a
 * bare file and no BufFile, which writes when it is closed: where the disk is
 * full that would raise an error while one is cleaned up after.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "agg/hashfile.h"
#include "core/sketch.h"
#include "type/add.h"

/* Hashes that are written or read at once: a block. */
#define AT_ONCE		(BLCKSZ / BF_SORTED_BYTES)

/*
 * The most that the table holds: 256 kB stay in a core's own cache.  At 4 MB,
 * the looks into it alone took a third of an aggregate's time.
 */
#define MAX_SLOTS	16384

struct BfHashFile
{
	File		file;
	uint64		filed;			/* hashes in it */
	MemoryContextCallback callback;
	uint64	   *recent;			/* the table, always full */
	uint32		slots;			/* hashes in it */
	BfHashList	unwritten;		/* what is not in the file yet */
	uint64		buffer[AT_ONCE * BF_SORTED_WORDS];	/* its words */
	BfSketch	sketch;			/* of what is in the file */
};

/* The reset callback of the context. */
static void
close_file(void *file)
{
	FileClose(((BfHashFile *) file)->file);
}

/* Count hashes, each once. */
static void
sketch_hashes(BfHashFile *file, const uint64 *words, uint32 count)
{
	for (uint32 i = 0; i < count; i++)
		bf_sketch_add(&file->sketch, words[i * BF_SORTED_WORDS]);
}

/* Write hashes to the end of the file, and count them. */
static void
write_hashes(BfHashFile *file, uint64 *words, uint32 count)
{
	int			bytes = count * BF_SORTED_BYTES;

	CHECK_FOR_INTERRUPTS();
	if (FileWrite(file->file, (char *) words, bytes,
				  file->filed * BF_SORTED_BYTES,
				  WAIT_EVENT_BUFFILE_WRITE) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write to temporary file: %m")));
	pgBufferUsage.temp_blks_written++;
	sketch_hashes(file, words, count);
	file->filed += count;
}

/* Read hashes from a place in the file. */
static void
read_hashes(const BfHashFile *file, uint64 start, uint64 *words, uint32 count)
{
	int			bytes = count * BF_SORTED_BYTES;
	int			got = FileRead(file->file, (char *) words, bytes,
							   start * BF_SORTED_BYTES,
							   WAIT_EVENT_BUFFILE_READ);

	if (got < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
	if (got != bytes)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("could not read from temporary file: read only %d of %d bytes",
						got, bytes)));
	pgBufferUsage.temp_blks_read++;
}

/* Make a file of a list, which is empty afterwards: some of it is the table. */
BfHashFile *
bf_hashfile_make(MemoryContext context, BfHashList *list)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	BfHashFile *file = palloc0(sizeof(BfHashFile));

	Assert(list->width == BF_SORTED_WORDS);
	file->file = OpenTemporaryFile(true);
	file->callback.func = close_file;
	file->callback.arg = file;
	MemoryContextRegisterResetCallback(context, &file->callback);
	MemoryContextSwitchTo(old);

	file->unwritten.width = BF_SORTED_WORDS;
	file->unwritten.words = file->buffer;
	file->unwritten.capacity = AT_ONCE;
	for (uint32 i = 0; i < list->count; i += AT_ONCE)
		write_hashes(file, list->words + (Size) i * BF_SORTED_WORDS,
					 Min(list->count - i, AT_ONCE));
	file->slots = Min(list->count, MAX_SLOTS);
	file->recent = repalloc_huge(list->words, file->slots * BF_SORTED_BYTES);
	*list = (BfHashList) {.width = BF_SORTED_WORDS};
	return file;
}

/* The slot of the table that a hash may have. */
static inline uint64 *
slot_of(const BfHashFile *file, const BfHash *hash)
{
	uint64		slot = (hash->word[1] >> 32) * file->slots >> 32;

	return file->recent + slot * BF_SORTED_WORDS;
}

/* Append a hash, unless it is known to be there. */
void
bf_hashfile_add(BfHashFile *file, const BfHash *hash)
{
	uint64	   *slot = slot_of(file, hash);

	if (memcmp(slot, hash->word, BF_SORTED_BYTES) == 0)
		return;
	if (file->unwritten.count == AT_ONCE)
	{
		write_hashes(file, file->buffer, AT_ONCE);
		file->unwritten.count = 0;
	}
	bf_hashlist_add(&file->unwritten, CurrentMemoryContext, hash);
	memcpy(slot, hash->word, BF_SORTED_BYTES);
}

/*
 * The estimated number of distinct hashes: no more than twice those that there are,
 * as elements that are made for it could have the sketch count any number.  Twice:
 * how many are filed depends on the order in which they came, and an honest
 * estimate, which does not, may exceed them.
 */
double
bf_hashfile_count(BfHashFile *file)
{
	double		most = 2 * ((double) file->filed + file->unwritten.count);

	sketch_hashes(file, file->buffer, file->unwritten.count);
	return Min(bf_sketch_count(&file->sketch), most);
}

/* Add all hashes to a filter. */
void
bf_hashfile_replay(BfHashFile *file, BfValue *filter)
{
	uint64		words[AT_ONCE * BF_SORTED_WORDS];
	BfHashList	batch = {.words = words, .width = BF_SORTED_WORDS};

	for (uint64 start = 0; start < file->filed; start += batch.count)
	{
		batch.count = Min(file->filed - start, AT_ONCE);
		read_hashes(file, start, words, batch.count);
		bf_hashlist_add_to(&batch, filter);
	}
	bf_hashlist_add_to(&file->unwritten, filter);
}
