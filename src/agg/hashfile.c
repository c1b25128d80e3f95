/*
 * hashfile.c
 *	  Hashes in a temporary file, and the estimated number of distinct ones.
 *
 * Hashes are appended to the file, and counted by a sketch.  Frequent hashes
 * must not fill the disk.  So a small direct-mapped table remembers hashes
 * that were appended.  A hash that is found in its slot is not appended
 * again; any other is appended, and replaces the one in the slot.  So if
 * there is a single value, or a skewed distribution, the frequent hashes are
 * written only now and then, at little cost for distinct hashes; sorting
 * would cost more than all other work.  No slot is ever empty: the table
 * starts with hashes of the list that overflowed, which are in the file
 * already.  These need not be in their own slots, as the whole hash is
 * compared.
 *
 * The file is closed by a reset callback of its memory context, and has no
 * resource owner.  Contexts are deleted at commit, at abort and after every
 * group.  An owner might close the file before or after that, so only one of
 * the two may close it.  PostgreSQL creates files without an owner in the
 * database's tablespace, whatever temp_tablespaces is.  The file is not a
 * BufFile: closing one writes its buffer, and on a full disk that would raise
 * a second error while the first one is cleaned up.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

#include "agg/hashfile.h"
#include "core/sketch.h"
#include "type/add.h"

/* Hashes that are written or read together: a block. */
#define AT_ONCE		(BLCKSZ / BF_SORTED_BYTES)

/*
 * Maximum size of the table: 256 kB stay in a core's own cache.  At 4 MB,
 * lookups in it took a third of an aggregate's time.
 */
#define MAX_SLOTS	16384

struct BfHashFile
{
	File		file;
	uint64		filed;			/* hashes in it */
	MemoryContextCallback callback;
	uint64	   *recent;			/* the table, always full */
	uint32		slots;			/* hashes in it */
	BfHashList	unwritten;		/* hashes that are not in the file yet */
	uint64		buffer[AT_ONCE * BF_SORTED_WORDS];	/* its words */
	BfSketch	sketch;			/* of those in the file */
};

/* The reset callback of the context. */
static void
close_file(void *file)
{
	FileClose(((BfHashFile *) file)->file);
}

/* Count hashes by the sketch. */
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

/* Read hashes of the file, from a number on. */
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

/* Move a list to a new file; its memory becomes the table. */
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

/* The slot of the table for a hash. */
static inline uint64 *
slot_of(const BfHashFile *file, const BfHash *hash)
{
	uint64		slot = (hash->word[1] >> 32) * file->slots >> 32;

	return file->recent + slot * BF_SORTED_WORDS;
}

/* Append a hash, unless the table has it. */
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
 * The estimated number of distinct hashes: at most twice the number of hashes
 * in the file, as crafted elements could make the sketch return any number.  A
 * correct estimate does not depend on the order of the elements, as the number
 * in the file does, and so may exceed that number.
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
