/*
 * live.c
 *	  Fuzz what reads and changes the pages of a live filter, which are in memory in
 *	  the place of a file.
 *
 * An input is a byte that says which of some sound filters is damaged, one that says
 * what is done with it then, one of flags, and the damage: blocks, places in them
 * and bytes.  Whatever it is, an error says that the page is damaged, or that the filter is too
 * large; and pages are unlocked and unpinned by the time a statement has ended.
 *
 * What the format can tell is never a "no": an element that was there is denied only
 * where one of its bits is missing on a page that is sound, as far as a page can say;
 * one that is added afterwards is not denied at all.  What is stored, or left out as
 * it is there already, goes by pages that are locked; and nobody is told of anything
 * while others wait for the metapage.
 */
#include "fuzz.h"

#include <sanitizer/asan_interface.h>
#include <string.h>

#include "server.h"

#include "catalog/pg_type.h"
#include "catalog/storage.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/memnodes.h"
#include "port/pg_crc32c.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "storage/smgr.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"

#include "index/index.h"
#include "index/snapshot.h"
#include COMPAT_STREAM_HEADER
#include "type/value.h"

/* Blocks that there is room for. */
#define MOST_BLOCKS		1024

/* What is done, each in a statement of its own. */
#define PROBE			0x01
#define SNAPSHOT		0x02
#define MEASURE			0x04
#define STORE_FEW		0x08
#define STORE_MANY		0x10
#define VACUUM			0x20
#define LAST			VACUUM

#define MENDS_CHECKSUM	0x01	/* of the metapage */
#define IS_UNLOGGED		0x02
#define IS_FOR_PLANS	0x04
#define HAS_TWO			0x08	/* two filters, of which a snapshot is united */
#define HAS_CACHE		0x10	/* what was read is remembered */
#define LOSES_ENTRIES	0x20	/* that wait, as soon as bits were set */

/* A block that is none: what follows is the file's length. */
#define CUT				0xff

/* Elements that the filters hold, of which the last came last; and new ones. */
#define HELD			300
#define NEW_FEW			2
#define NEW_MANY		700

/* ---- The buffers: every other one is a block's, poison lies between; and on pages
 * that are not locked, while elements are stored ---- */

static uint8_t flags;			/* of the input */
static bool is_flushing;
static bool is_storing;
static BlockNumber length;
static int	pins;
static int	locks[MOST_BLOCKS];
static bool is_changed[MOST_BLOCKS];

char	   *BufferBlocks;
Block	   *LocalBufferBlockPointers;
BufferDescPadded *BufferDescriptors;
int			NBuffers = 64;
int			wal_level = 1;
BufferUsage pgBufferUsage;

/* Not asked at such a level. */
bool
RelFileLocatorSkippingWAL(RelFileLocator file)
{
	abort();
}

static Buffer
buffer_of(BlockNumber block)
{
	return 2 * block + 1;
}

static BlockNumber
block_of(Buffer buffer)
{
	REQUIRE(buffer > 0 && buffer % 2 == 1 && buffer / 2 < MOST_BLOCKS);
	return buffer / 2;
}

static char *
page_of(BlockNumber block)
{
	return BufferBlocks + (Size) 2 * block * BLCKSZ;
}

/* Poison a page, or not; what is read of the metapage without a lock is checked. */
static void
hide_page(BlockNumber block, bool hidden)
{
	if (hidden && block != BF_META_BLOCK)
		ASAN_POISON_MEMORY_REGION(page_of(block), BLCKSZ);
	else
		ASAN_UNPOISON_MEMORY_REGION(page_of(block), BLCKSZ);
}

/* Begin, or end, to store elements. */
static void
note_storing(bool now)
{
	is_storing = now;
	for (BlockNumber block = 0; block < length; block++)
		hide_page(block, now);
}

static void
refuse_block(int code, BlockNumber block)
{
	ereport(ERROR, (errcode(code), errmsg("no block %u", block)));
}

/* Would PostgreSQL take it for a page?  One without a header is all zeros. */
static bool
is_page(BlockNumber block)
{
	static const char zeros[BLCKSZ];
	bool		hidden = is_storing && locks[block] == BUFFER_LOCK_UNLOCK;
	bool		readable;

	hide_page(block, false);
	readable = !PageIsNew((Page) page_of(block)) || memcmp(page_of(block), zeros, BLCKSZ) == 0;
	hide_page(block, hidden);
	return readable;
}

Buffer
ReadBufferExtended(Relation index, ForkNumber fork, BlockNumber block,
				   ReadBufferMode mode, BufferAccessStrategy ring)
{
	if (block == P_NEW)
		block = length++;
	if (block >= length || (mode == RBM_NORMAL && !is_page(block)))
		refuse_block(ERRCODE_DATA_CORRUPTED, block);
	pins++;
	if (mode == RBM_ZERO_AND_LOCK)
	{
		LockBuffer(buffer_of(block), BUFFER_LOCK_EXCLUSIVE);
		memset(page_of(block), 0, BLCKSZ);
	}
	return buffer_of(block);
}

Buffer
ReadBuffer(Relation index, BlockNumber block)
{
	return ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, NULL);
}

bool
ReadRecentBuffer(RelFileLocator file, ForkNumber fork, BlockNumber block,
				 Buffer buffer)
{
	if (buffer != buffer_of(block) || block >= length || !is_page(block))
		return false;
	pins++;
	return true;
}

/* A stream, from 17 on: one page after the other. */
static BlockNumber (*next_of_stream) (ReadStream *stream, void *state, void *data);
static void *state_of_stream;

extern ReadStream *begin_stream(int flags, BufferAccessStrategy ring, Relation index, ForkNumber fork,
								BlockNumber (*next) (ReadStream *stream, void *state, void *data),
								void *state, size_t size) __asm__("read_stream_begin_relation");
extern Buffer next_buffer(ReadStream *stream, void **data) __asm__("read_stream_next_buffer");
extern void end_stream(ReadStream *stream) __asm__("read_stream_end");

ReadStream *
begin_stream(int flags, BufferAccessStrategy ring, Relation index, ForkNumber fork,
			 BlockNumber (*next) (ReadStream *stream, void *state, void *data),
			 void *state, size_t size)
{
	next_of_stream = next;
	state_of_stream = state;
	return NULL;
}

Buffer
next_buffer(ReadStream *stream, void **data)
{
	BlockNumber block = next_of_stream(stream, state_of_stream, NULL);

	return block == InvalidBlockNumber ? InvalidBuffer : ReadBuffer(NULL, block);
}

void
end_stream(ReadStream *stream)
{
	REQUIRE(next_of_stream(stream, state_of_stream, NULL) == InvalidBlockNumber);
}

void
LockBuffer(Buffer buffer, int mode)
{
	BlockNumber block = block_of(buffer);

	REQUIRE((locks[block] == BUFFER_LOCK_UNLOCK) != (mode == BUFFER_LOCK_UNLOCK));
	locks[block] = mode;
	hide_page(block, is_storing && mode == BUFFER_LOCK_UNLOCK);
}

void
ReleaseBuffer(Buffer buffer)
{
	REQUIRE(pins-- > 0 && block_of(buffer) < length);
}

void
UnlockReleaseBuffer(Buffer buffer)
{
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
}

static void lose_entries(void);

void
MarkBufferDirty(Buffer buffer)
{
	REQUIRE(locks[block_of(buffer)] == BUFFER_LOCK_EXCLUSIVE);
	is_changed[block_of(buffer)] = true;
	lose_entries();
}

BlockNumber
RelationGetNumberOfBlocksInFork(Relation index, ForkNumber fork)
{
	return length;
}

/* smgrextend(), whose arguments are not the same in all releases. */
extern void extend(SMgrRelation file, ForkNumber fork, BlockNumber block) __asm__("smgrextend");

void
extend(SMgrRelation file, ForkNumber fork, BlockNumber block)
{
	if (block >= MOST_BLOCKS)
		refuse_block(ERRCODE_DISK_FULL, block);
	for (; length <= block; length++)
	{
		memset(page_of(length), 0, BLCKSZ);
		is_changed[length] = true;
	}
}

BufferAccessStrategy
GetAccessStrategy(BufferAccessStrategyType type)
{
	return NULL;
}

void
FreeAccessStrategy(BufferAccessStrategy ring)
{
}

BlockNumber
BufferGetBlockNumber(Buffer buffer)
{
	return block_of(buffer);
}

void
PageInit(Page page, Size size, Size special)
{
	PageHeader	header = (PageHeader) page;

	memset(page, 0, size);
	header->pd_lower = SizeOfPageHeaderData;
	header->pd_upper = header->pd_special = size - MAXALIGN(special);
	PageSetPageSizeAndVersion(page, size, PG_PAGE_LAYOUT_VERSION);
}

/* ---- The log: what is registered is read ---- */

void
XLogBeginInsert(void)
{
}

void
XLogRegisterBuffer(uint8 number, Buffer buffer, uint8 mode)
{
	REQUIRE(number < BF_RECORD_PAGES && locks[block_of(buffer)] == BUFFER_LOCK_EXCLUSIVE);
}

void
XLogRegisterBufData(uint8 number, const void *bytes, uint32 size)
{
	free(copy_bytes(bytes, size));
}

XLogRecPtr
XLogInsert(uint8 manager, uint8 info)
{
	REQUIRE(CritSectionCount > 0);
	return 1;
}

XLogRecPtr
log_newpage_buffer(Buffer buffer, bool standard)
{
	return XLogInsert(0, 0);
}

/* ---- The index, and who else there is: nobody ---- */

static FormData_pg_class class;
static FormData_pg_index definition;
static Oid	opclass_types[] = {TEXTOID};
static RelationData index_data;

Relation
relation_open(Oid oid, LOCKMODE mode)
{
	return &index_data;
}

void
relation_close(Relation relation, LOCKMODE mode)
{
}

void
LockPage(Relation relation, BlockNumber block, LOCKMODE mode)
{
	is_waited_for = true;
}

bool
ConditionalLockPage(Relation relation, BlockNumber block, LOCKMODE mode)
{
	is_waited_for = true;
	return true;
}

void
UnlockPage(Relation relation, BlockNumber block, LOCKMODE mode)
{
	is_waited_for = false;
}

void
LockRelationForExtension(Relation relation, LOCKMODE mode)
{
}

void
UnlockRelationForExtension(Relation relation, LOCKMODE mode)
{
}

bool
RecoveryInProgress(void)
{
	return false;
}

/* Nobody counts, sees or waits; an index has no predicate, and one column. */
void
pgstat_assoc_relation(Relation relation)
{
}

Snapshot
GetActiveSnapshot(void)
{
	return NULL;
}

void
PredicateLockRelation(Relation relation, Snapshot snapshot)
{
}

/* vacuum_delay_point(), which has an argument from 18 on. */
extern void take_a_break(void) __asm__("vacuum_delay_point");

void
take_a_break(void)
{
}

List *
RelationGetIndexPredicate(Relation relation)
{
	return NIL;
}

char *
pg_get_indexdef_columns(Oid index, bool pretty)
{
	return pstrdup("title");
}

Expr *
make_ands_explicit(List *clauses)
{
	return NULL;
}

List *
deparse_context_for(const char *name, Oid relation)
{
	return NIL;
}

char *
deparse_expression(Node *expression, List *context, bool prefix, bool implicit)
{
	return pstrdup("true");
}

/* Its file is open. */
extern void *open_file(void) __asm__("smgropen");
extern void own_file(void) __asm__("smgrsetowner");

void *
open_file(void)
{
	return index_data.rd_smgr;
}

void
own_file(void)
{
}

/* Every other look is due. */
double
anl_random_fract(void)
{
	static bool due;

	return (due = !due) ? 0 : 1;
}

/* In the place of handler.c: what the index's options say. */
bool
bf_live_is_for_plans(Relation index)
{
	return (flags & IS_FOR_PLANS) != 0;
}

const BfStrategy *
bf_live_strategy(Relation index)
{
	return bf_strategy_by_name(BF_LIVE_STRATEGY);
}

/* In the place of deferred.c: the transaction has added nothing. */
bool
bf_deferred_contains(Relation index, const BfHashPair *pair)
{
	return false;
}

BfHashPair *
bf_deferred_copy(Relation index, size_t *count)
{
	*count = 0;
	return palloc(sizeof(BfHashPair));
}

/* In the place of resolve.c: one filter, or two, whose pages are the same. */
List *
bf_resolve_sure(Oid rel)
{
	List	   *leaves = NIL;

	for (int i = 0; i < ((flags & HAS_TWO) ? 2 : 1); i++)
	{
		BfLeaf	   *leaf = palloc0(sizeof(BfLeaf));

		leaf->indexes = lappend_oid(NIL, 1);
		leaves = lappend(leaves, leaf);
	}
	return leaves;
}

/* ---- Sound filters ---- */

typedef struct Sound
{
	BfLive		live;
	char	   *pages;
	BlockNumber length;
} Sound;

/* Of few pages; of so many that elements wait; of several layers; of blocks, for which
 * they wait, too; and an empty one that is larger than any value. */
static struct
{
	const char *strategy;
	int64		expected;
	double		fpp;
	int32		expansion;
}			shapes[] = {
	{"guava", 9000, 0.001, 0},
	{"guava", 500000, 0.0001, 0},
	{"spark2", 20, 0.01, 2},
	{"parquet", 500000, 0.001, 0},
	{"guava", INT64CONST(2000000000), 0.01, 0}
};

#define EMPTY	(lengthof(shapes) - 1)

static Sound sounds[lengthof(shapes)];
static const Sound *sound;
static Size crc_offset;

/* An element, by its number. */
static BfHashPair
element_pair(int number)
{
	BfHash		hash;

	sound->live.plan.strategy->hash((const uint8 *) &number, sizeof(number), &hash);
	return bf_pair_of(&hash);
}

/* Add so many elements, from a number on; some at a time, so that some wait. */
static void
store(int from, int count, int at_once)
{
	BfHashPair *pairs = palloc(sizeof(BfHashPair) * at_once);

	for (int done = 0; done < count; done += at_once)
	{
		int			n = Min(at_once, count - done);

		for (int i = 0; i < n; i++)
			pairs[i] = element_pair(from + done + i);
		note_storing(true);
		bf_live_store(&index_data, pairs, n);
		note_storing(false);
	}
}

/* Where the metapage's checksum is: behind what it is of. */
static Size
find_checksum(const char *contents)
{
	for (Size at = sizeof(uint32); at <= BF_PAGE_BYTES - sizeof(pg_crc32c); at += sizeof(uint32))
	{
		pg_crc32c	crc;

		INIT_CRC32C(crc);
		COMP_CRC32C(crc, contents, at);
		FIN_CRC32C(crc);
		if (memcmp(&crc, contents + at, sizeof(crc)) == 0)
			return at;
	}
	abort();
}

/* An index has a single column here. */
int
bf_live_columns(Relation index)
{
	return 1;
}

/* What it says of the elements. */
void
bf_live_elements(Relation index, BfElementType *element, BfParts *parts)
{
	bf_parts_describe(index->rd_opcintype, 1, element, parts);
}

static void
make_sound(void *arg)
{
	Sound	   *made = arg;
	int			i = made - sounds;
	BfPlan		plan;
	BfParts		one_column = {0};
	BfError		error;

	REQUIRE(bf_plan_sized(bf_strategy_by_name(shapes[i].strategy), shapes[i].expected,
						  shapes[i].fpp, BF_FUNNEL_UTF8, shapes[i].expansion, &plan, &error));
	bf_live_plan(&made->live, &plan, &one_column);
	length = 0;
	bf_meta_write(&index_data, MAIN_FORKNUM, &made->live);
	sound = made;
	if (i != EMPTY)
	{
		store(0, HELD / 2, HELD / 2);
		store(HELD / 2, HELD - HELD / 2, 3);
	}
	bf_live_open(&index_data, &made->live);
	made->length = length;
	made->pages = calloc(length, BLCKSZ);
	for (BlockNumber block = 0; block < length; block++)
		memcpy(made->pages + (Size) block * BLCKSZ, page_of(block), BLCKSZ);
	crc_offset = find_checksum(PageGetContents((Page) page_of(BF_META_BLOCK)));
}

/* Have nothing kept of an index; its pages are others now. */
static void
forget_index(void)
{
	index_data.rd_amcache = NULL;
	index_data.rd_smgr->smgr_targblock = InvalidBlockNumber;
}

/* Make what a server has, and the sound filters. */
static void
start(void)
{
	static SMgrRelationData file;
	static MemoryContextData context;
	Size		size = (Size) (2 * MOST_BLOCKS + 1) * BLCKSZ;

	BufferBlocks = aligned_alloc(BLCKSZ, size);
	memset(BufferBlocks, 0, size);
	BufferDescriptors = calloc(2 * MOST_BLOCKS + 1, sizeof(BufferDescPadded));
	for (BlockNumber block = 0; block < MOST_BLOCKS; block++)
		ASAN_POISON_MEMORY_REGION(page_of(block) + BLCKSZ, BLCKSZ);
	strcpy(NameStr(class.relname), "filter");
	class.relpersistence = RELPERSISTENCE_PERMANENT;
	class.relkind = RELKIND_INDEX;
	index_data.rd_rel = &class;
	index_data.rd_index = &definition;
	index_data.rd_opcintype = opclass_types;
	index_data.rd_indexcxt = &context;
	index_data.rd_backend = InvalidBackendId;
	index_data.rd_smgr = &file;
	for (int i = 0; i < lengthof(sounds); i++)
	{
		forget_index();
		REQUIRE(run(make_sound, &sounds[i]) == 0);
	}
	REQUIRE(sounds[2].live.nlayers > 2 && sounds[1].live.layers[0].pending > 0 &&
			sounds[3].live.layers[0].pending > 0);
}

/* Put a sound filter where the last one was. */
static void
restore(const Sound *wanted)
{
	for (BlockNumber block = 0; block < MOST_BLOCKS; block++)
	{
		if ((sound != wanted || is_changed[block]) && block < wanted->length)
			memcpy(page_of(block), wanted->pages + (Size) block * BLCKSZ, BLCKSZ);
		is_changed[block] = false;
		locks[block] = BUFFER_LOCK_UNLOCK;
	}
	sound = wanted;
	length = wanted->length;
	pins = 0;
	forget_index();
}

/* ---- Damage ---- */

static bool knows_meta;			/* is the metapage what it was? */

/* Change pages as the input says. */
static void
damage(Input *input)
{
	while (input->left > 0)
	{
		BlockNumber block = take(input, 1);
		Size		offset = take(input, 2);
		Size		count = take(input, 1);

		if (block == CUT)
		{
			length = Min(length, offset);
			continue;
		}
		/* From the end on, where the tail is. */
		if (offset >= 0x8000)
			offset = BLCKSZ - Min(BLCKSZ, 0x10000 - offset);
		count = Min(count, BLCKSZ - Min(BLCKSZ, offset));
		if (block >= length)
			continue;
		for (Size i = 0; i < count; i++)
			page_of(block)[offset + i] = (char) take(input, 1);
		is_changed[block] = true;
	}
}

/* Make the pending pages that nobody has locked empty ones, where a flush loses them. */
static void
lose_entries(void)
{
	const BfLiveLayer *newest;

	if (!is_flushing)
		return;
	newest = bf_newest_layer(&sound->live);
	for (BlockNumber i = 0; i < newest->pending; i++)
	{
		BlockNumber block = newest->start + i;

		if (block >= length || locks[block] != BUFFER_LOCK_UNLOCK)
			continue;
		bf_page_init(page_of(block), BF_PAGE_PENDING);
		is_changed[block] = true;
	}
}

/* Let the metapage's checksum be that of what it says. */
static void
mend_checksum(void)
{
	char	   *contents = PageGetContents((Page) page_of(BF_META_BLOCK));
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, contents, crc_offset);
	FIN_CRC32C(crc);
	memcpy(contents + crc_offset, &crc, sizeof(crc));
}

/* Is a data page one, as far as it can say? */
static bool
is_sound(const char *page)
{
	const PageHeaderData *header = (const PageHeaderData *) page;
	const BfPageTail *tail = (const BfPageTail *) (page + BLCKSZ - sizeof(BfPageTail));
	LocationIndex end = BLCKSZ - sizeof(BfPageTail);

	if (header->pd_upper == 0)
		return header->pd_lower == 0 && tail->page_id == 0;
	return tail->page_id == BF_PAGE_ID && tail->kind == BF_PAGE_DATA &&
		header->pd_lower == end && header->pd_upper == end &&
		header->pd_special == end;
}

/* Has an element lost a bit of a layer in a way that no page can tell? */
static bool
is_lost_in(const BfLiveLayer *layer, const BfHashPair *pair)
{
	BfHash		hash = bf_hash_of(pair);
	uint64_t	positions[BF_MAX_HASHES];
	bool		lost = false;

	sound->live.plan.strategy->positions(&hash, layer->shape.bits, 0,
										 layer->shape.hashes, positions);
	for (uint32 i = 0; i < layer->shape.hashes && !lost; i++)
	{
		BlockNumber block = bf_data_block(layer, positions[i] / BF_PAGE_BITS);
		uint64		bit = positions[i] % BF_PAGE_BITS;

		lost = block >= length ||
			(is_sound(page_of(block)) &&
			 (PageGetContents((Page) page_of(block))[bf_bit_byte(bit)] & bf_bit_mask(bit)) == 0);
	}
	return lost;
}

/* Of all layers; who waited on a page that was changed may be lost with it. */
static bool
may_be_lost(const BfHashPair *pair)
{
	const BfLiveLayer *newest = bf_newest_layer(&sound->live);

	if (!knows_meta || sound == &sounds[EMPTY])
		return true;
	for (BlockNumber i = 0; i < newest->pending; i++)
	{
		if (newest->start + i >= length || is_changed[newest->start + i])
			return true;
	}
	for (uint32 i = 0; i < sound->live.nlayers; i++)
	{
		if (!is_lost_in(&sound->live.layers[i], pair))
			return false;
	}
	return true;
}

/* ---- What is done ---- */

static void
probe(void)
{
	for (int i = 0; i < HELD; i += 7)
	{
		BfHashPair	pair = element_pair(i);
		bool		lost = may_be_lost(&pair);

		REQUIRE(bf_live_probe(&index_data, &pair) || lost);
	}
	for (int i = 10000; i < 10020; i++)
	{
		BfHashPair	pair = element_pair(i);

		(void) bf_live_probe(&index_data, &pair);
	}
}

static void
take_snapshot(void)
{
	BfValue		value;
	BfFilter	filter;
	BfError		error;

	bf_snapshot_value(1, (flags & HAS_CACHE) != 0, &value);
	REQUIRE(bf_filter_open(value.bytes, value.filter.length,
						   value.filter.length, &filter, &error));
	for (int i = 0; i < HELD; i += 17)
	{
		BfHashPair	pair = element_pair(i);
		BfHash		hash = bf_hash_of(&pair);
		bool		lost = may_be_lost(&pair);

		REQUIRE(bf_filter_contains(&filter, &hash) || lost);
	}
}

static void
measure(void)
{
	BfLive		live;
	BfLiveFill	fill;

	if (!bf_live_is_built(&index_data) || !bf_live_has_known_format(&index_data))
		return;
	bf_live_open(&index_data, &live);
	bf_live_measure(&index_data, &live, &fill);
	REQUIRE(fill.all.fpp >= 0 && fill.all.fpp <= 1);
	REQUIRE(fill.all.bits_set <= fill.all.bits);
	(void) bf_live_due(&fill, 1000);
	REQUIRE(bf_live_enough(&fill, 1000) >= 0);
}

/* What was added is there. */
static void
store_new(int from, int count)
{
	store(from, count, count);
	for (int i = 0; i < count; i++)
	{
		BfHashPair	pair = element_pair(from + i);

		REQUIRE(bf_live_probe(&index_data, &pair));
	}
}

/* As VACUUM does. */
static void
flush(void)
{
	BfLive		live;

	bf_live_lock(&index_data, true, &live);
	bf_pending_flush(&index_data, &live, bf_newest_layer(&live));
	bf_live_seal(&index_data, &live);
	bf_live_unlock(&index_data);
}

static void
act(void *arg)
{
	switch (*(int *) arg)
	{
		case PROBE:
			probe();
			break;
		case SNAPSHOT:
			take_snapshot();
			break;
		case MEASURE:
			measure();
			break;
		case STORE_FEW:
			store_new(20000, NEW_FEW);
			break;
		case STORE_MANY:
			store_new(30000, NEW_MANY);
			break;
		default:
			is_flushing = (flags & LOSES_ENTRIES) != 0;
			flush();
	}
	REQUIRE(pins == 0);
}

/* Give back what a statement that failed has locked, and forget what it kept. */
static void
release_all(void)
{
	forget_index();
	is_flushing = is_waited_for = false;
	note_storing(false);
	for (BlockNumber block = 0; block < MOST_BLOCKS; block++)
		locks[block] = BUFFER_LOCK_UNLOCK;
	pins = 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};
	int			wanted = take(&input, 1) % lengthof(sounds);
	int			actions = take(&input, 1);

	may_be_damaged = true;
	flags = take(&input, 1);
	if (BufferBlocks == NULL)
		start();
	restore(&sounds[wanted]);
	class.relpersistence = (flags & IS_UNLOGGED) ? RELPERSISTENCE_UNLOGGED : RELPERSISTENCE_PERMANENT;
	if (flags & HAS_CACHE)
		(void) bf_live_kept(&index_data);
	damage(&input);
	if (flags & MENDS_CHECKSUM)
		mend_checksum();
	knows_meta = !is_changed[BF_META_BLOCK] || !(flags & MENDS_CHECKSUM);
	for (int action = PROBE; action <= LAST; action <<= 1)
	{
		int			sqlstate;

		if (!(actions & action))
			continue;
		sqlstate = run(act, &action);
		/* What has the right checksum was written by somebody. */
		REQUIRE(sqlstate == 0 || (flags & MENDS_CHECKSUM) ||
				sqlstate == ERRCODE_INDEX_CORRUPTED ||
				sqlstate == ERRCODE_DATA_CORRUPTED ||
				sqlstate == ERRCODE_FEATURE_NOT_SUPPORTED ||
				sqlstate == ERRCODE_PROGRAM_LIMIT_EXCEEDED ||
				sqlstate == ERRCODE_DISK_FULL ||
				sqlstate == ERRCODE_OUT_OF_MEMORY ||
				sqlstate == ERRCODE_QUERY_CANCELED);
		release_all();
	}
	end_session();
	return 0;
}
