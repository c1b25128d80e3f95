/*
 * alarms.c
 *	  Count how often "maybe" was wrong.
 *
 * A gate whose child checks nothing but the equality of its filter learns,
 * after each "maybe", whether there is a row: if not, this was a false alarm.
 * The row of an element may be deleted, or not visible to the query; its bits
 * count here like those of others, as the query gains as little by them.
 *
 * Counts belong to a file of an index, as a rebuilt filter is another one,
 * and are forgotten where that is built in place.  They are statistics: of
 * more files than there are slots, some are forgotten; a statement that fails
 * is not counted, nor is a parallel worker.  Where an extension can have shared
 * memory without being preloaded, from PostgreSQL 17 on, all sessions count in
 * the same slots; before, each in its own.
 *
 * A session gets its slots in a subtransaction: a query does not fail because
 * there is no shared memory left, but goes uncounted.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "storage/spin.h"
#include "utils/memutils.h"

#include "compat.h"
#include COMPAT_SEGMENT_HEADER
#include "index/index.h"
#include "type/subtransaction.h"

/* The number of slots, and of those that a file may be in. */
#define SLOTS	1024
#define PROBES	8

/* The file of an index, and the session that has it if it is temporary */
typedef struct FileKey
{
	RelFileLocator file;
	int			backend;
} FileKey;

typedef struct Slot
{
	slock_t		mutex;
	FileKey		key;			/* of file 0: a free slot */
	BfAlarms	counts;
} Slot;

/* NULL: not wanted yet, or not to be had */
static Slot *slots;
static bool is_refused;

static void
init_slots(COMPAT_SEGMENT_ARGUMENTS)
{
	Slot	   *slot = memory;

	memset(slot, 0, sizeof(Slot) * SLOTS);
	for (int i = 0; i < SLOTS; i++)
		SpinLockInit(&slot[i].mutex);
}

static void
get_slots(void *argument)
{
	slots = compat_named_segment("bloomext false alarms", sizeof(Slot) * SLOTS,
								 init_slots);
}

/* Get ready to count, where an error would be allowed; false if that failed. */
bool
bf_alarms_prepare(void)
{
	if (slots == NULL && !is_refused && !IsInParallelMode())
		is_refused = bf_attempt(get_slots, NULL) != NULL;
	return slots != NULL;
}

static FileKey
file_key_of(Relation index)
{
	FileKey		key;

	memset(&key, 0, sizeof(key));
	key.file = compat_locator_of(index);
	key.backend = index->rd_backend;
	return key;
}

static bool
is_slot_of(const Slot *slot, const FileKey *key)
{
	return RelFileLocatorEquals(slot->key.file, key->file) &&
		slot->key.backend == key->backend;
}

/* Lock a slot if it is that of a file, or a free one if that will do. */
static bool
lock_if(Slot *slot, const FileKey *key, bool free_will_do)
{
	SpinLockAcquire(&slot->mutex);
	if (is_slot_of(slot, key) ||
		(free_will_do && !OidIsValid(slot->key.file.compat_number)))
		return true;
	SpinLockRelease(&slot->mutex);
	return false;
}

/* Lock the slot of a file, or one that it may take; NULL: there is none. */
static Slot *
lock_slot(const FileKey *key, bool free_will_do)
{
	uint32		start = hash_bytes((const unsigned char *) key, sizeof(*key));

	for (uint32 i = 0; i < PROBES; i++)
	{
		Slot	   *slot = &slots[(start + i) % SLOTS];

		if (lock_if(slot, key, free_will_do))
			return slot;
	}
	return NULL;
}

/* Lock a slot for a file, if need be that of another one. */
static Slot *
lock_slot_to_add(const FileKey *key)
{
	Slot	   *slot = lock_slot(key, true);

	if (slot == NULL)
	{
		slot = &slots[hash_bytes((const unsigned char *) key, sizeof(*key)) % SLOTS];
		SpinLockAcquire(&slot->mutex);
	}
	if (!is_slot_of(slot, key))
	{
		slot->key = *key;
		slot->counts = (BfAlarms) {0};
	}
	return slot;
}

/* Add what a statement has counted; after bf_alarms_prepare. */
void
bf_alarms_add(Relation index, const BfAlarms *more)
{
	FileKey		key = file_key_of(index);
	Slot	   *slot = lock_slot_to_add(&key);

	slot->counts.absent += more->absent;
	slot->counts.confirmed += more->confirmed;
	slot->counts.false_alarms += more->false_alarms;
	SpinLockRelease(&slot->mutex);
}

/* What was counted for the present file of an index. */
BfAlarms
bf_alarms_of(Relation index)
{
	FileKey		key = file_key_of(index);
	BfAlarms	counts = {0};
	Slot	   *slot = bf_alarms_prepare() ? lock_slot(&key, false) : NULL;

	if (slot != NULL)
	{
		counts = slot->counts;
		SpinLockRelease(&slot->mutex);
	}
	return counts;
}

/* Forget what was counted for a file that is built now, as far as this session knows. */
void
bf_alarms_forget(Relation index)
{
	FileKey		key = file_key_of(index);
	Slot	   *slot = slots != NULL ? lock_slot(&key, false) : NULL;

	if (slot != NULL)
	{
		slot->counts = (BfAlarms) {0};
		SpinLockRelease(&slot->mutex);
	}
}

/* Of the questions about what was not there, the share of false alarms. */
double
bf_alarms_share(const BfAlarms *alarms)
{
	uint64		not_there = alarms->absent + alarms->false_alarms;

	return not_there == 0 ? 0 : (double) alarms->false_alarms / (double) not_there;
}
