/*
 * guard.c
 *	  PostgreSQL's allocator with an exact end, for the bloomext.so that runs
 *	  under AddressSanitizer or valgrind.
 *
 * Both know malloc's blocks.  A palloc chunk is a part of one, and
 * what is written behind it lands in its neighbour unseen.  So the linker leads
 * the module's allocations here (--wrap), where each becomes so large that its
 * memory context makes a block of its own for it, and all behind the size that
 * was asked for is poisoned.  Whoever frees the chunk, by pfree, repalloc or a
 * reset, frees the block: what is used afterwards is reported as well, and the
 * poison goes away with it.
 *
 * What the module gets from the server by pstrdup or by detoasting is copied
 * into such a chunk, so that what reads beyond an argument is seen, too.  To
 * valgrind, what is in a chunk is undefined until it is written; and what goes
 * into WAL must be defined.
 */
#include "postgres.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#include <valgrind/memcheck.h>
#endif

#include "fmgr.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* No context puts more than this together with anything else. */
#define SHARED_LIMIT	8192

/* Larger arguments are not copied, call for call. */
#define LARGE_DATUM		(1024 * 1024)

/* At least so much is poisoned. */
#define RED_ZONE		64

extern void *__wrap_palloc(Size size);
extern void *__wrap_palloc0(Size size);
extern void *__wrap_palloc_extended(Size size, int flags);
extern void *__wrap_MemoryContextAlloc(MemoryContext context, Size size);
extern void *__wrap_MemoryContextAllocZero(MemoryContext context, Size size);
extern void *__wrap_MemoryContextAllocZeroAligned(MemoryContext context, Size size);
extern void *__wrap_MemoryContextAllocExtended(MemoryContext context, Size size, int flags);
extern void *__wrap_MemoryContextAllocHuge(MemoryContext context, Size size);
extern void *__wrap_repalloc(void *chunk, Size size);
extern void *__wrap_repalloc_huge(void *chunk, Size size);
extern char *__wrap_pstrdup(const char *string);
extern char *__wrap_pnstrdup(const char *string, Size length);
extern struct varlena *__wrap_pg_detoast_datum(struct varlena *datum);
extern struct varlena *__wrap_pg_detoast_datum_packed(struct varlena *datum);
extern struct varlena *__wrap_pg_detoast_datum_copy(struct varlena *datum);
extern struct varlena *__wrap_pg_detoast_datum_slice(struct varlena *datum, int32 first, int32 count);

extern void __wrap_XLogRegisterBufData(uint8 block, void *data, uint32 length);
extern XLogRecPtr __wrap_log_newpage_buffer(Buffer buffer, bool standard);

extern void __real_XLogRegisterBufData(uint8 block, void *data, uint32 length);
extern XLogRecPtr __real_log_newpage_buffer(Buffer buffer, bool standard);
extern struct varlena *__real_pg_detoast_datum(struct varlena *datum);
extern struct varlena *__real_pg_detoast_datum_copy(struct varlena *datum);
extern struct varlena *__real_pg_detoast_datum_slice(struct varlena *datum, int32 first, int32 count);
extern struct varlena *__real_pg_detoast_datum_packed(struct varlena *datum);
extern void *__real_repalloc_huge(void *chunk, Size size);
extern void *__real_MemoryContextAllocExtended(MemoryContext context, Size size, int flags);

PG_FUNCTION_INFO_V1(bloomext_plant);
PG_FUNCTION_INFO_V1(bloomext_plant_undefined);
PG_FUNCTION_INFO_V1(bloomext_plant_shift);

static void
poison(void *memory, Size size)
{
#ifdef __SANITIZE_ADDRESS__
	ASAN_POISON_MEMORY_REGION(memory, size);
#else
	(void) VALGRIND_MAKE_MEM_NOACCESS(memory, size);
#endif
}

static void
unpoison(void *memory, Size size)
{
#ifdef __SANITIZE_ADDRESS__
	ASAN_UNPOISON_MEMORY_REGION(memory, size);
#else
	(void) VALGRIND_MAKE_MEM_UNDEFINED(memory, size);
#endif
}

/* Find the first poisoned byte; NULL if there is none. */
static char *
first_poisoned(void *memory, Size size)
{
#ifdef __SANITIZE_ADDRESS__
	return __asan_region_is_poisoned(memory, size);
#else
	char	   *first;

	VALGRIND_DISABLE_ERROR_REPORTING;
	first = (char *) VALGRIND_CHECK_MEM_IS_ADDRESSABLE(memory, size);
	VALGRIND_ENABLE_ERROR_REPORTING;
	return first;
#endif
}

static void
check_defined(const void *memory, Size size)
{
#ifndef __SANITIZE_ADDRESS__
	(void) VALGRIND_CHECK_MEM_IS_DEFINED(memory, size);
#endif
}

/* The size to ask for instead. */
static Size
guarded_size(Size size)
{
	return Max(size, SHARED_LIMIT) + RED_ZONE;
}

/* Poison all of a chunk but its first bytes. */
static void *
guard(void *chunk, Size size)
{
	if (chunk != NULL)
		poison((char *) chunk + size, guarded_size(size) - size);
	return chunk;
}

void *
__wrap_MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	/* The limit is that of the size that was asked for. */
	if ((flags & MCXT_ALLOC_HUGE) == 0 && !AllocSizeIsValid(size))
		return __real_MemoryContextAllocExtended(context, size, flags);
	return guard(__real_MemoryContextAllocExtended(context, guarded_size(size),
												   flags | MCXT_ALLOC_HUGE),
				 size);
}

void *
__wrap_palloc_extended(Size size, int flags)
{
	return __wrap_MemoryContextAllocExtended(CurrentMemoryContext, size, flags);
}

void *
__wrap_palloc(Size size)
{
	return __wrap_palloc_extended(size, 0);
}

void *
__wrap_palloc0(Size size)
{
	return __wrap_palloc_extended(size, MCXT_ALLOC_ZERO);
}

void *
__wrap_MemoryContextAlloc(MemoryContext context, Size size)
{
	return __wrap_MemoryContextAllocExtended(context, size, 0);
}

void *
__wrap_MemoryContextAllocZero(MemoryContext context, Size size)
{
	return __wrap_MemoryContextAllocExtended(context, size, MCXT_ALLOC_ZERO);
}

void *
__wrap_MemoryContextAllocZeroAligned(MemoryContext context, Size size)
{
	return __wrap_MemoryContextAllocExtended(context, size, MCXT_ALLOC_ZERO);
}

void *
__wrap_MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return __wrap_MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE);
}

void *
__wrap_repalloc_huge(void *chunk, Size size)
{
	/* valgrind's realloc moves the poison, too. */
	char	   *end = first_poisoned(chunk, size);
	Size		kept = end == NULL ? size : end - (char *) chunk;
	char	   *moved = __real_repalloc_huge(chunk, guarded_size(size));

	unpoison(moved + kept, size - kept);
	return guard(moved, size);
}

void *
__wrap_repalloc(void *chunk, Size size)
{
	if (!AllocSizeIsValid(size))
		elog(ERROR, "invalid memory alloc request size %zu", size);
	return __wrap_repalloc_huge(chunk, size);
}

char *
__wrap_pnstrdup(const char *string, Size length)
{
	char	   *copy;

	length = strnlen(string, length);
	copy = __wrap_palloc(length + 1);
	memcpy(copy, string, length);
	copy[length] = '\0';
	return copy;
}

char *
__wrap_pstrdup(const char *string)
{
	return __wrap_pnstrdup(string, strlen(string));
}

/*
 * A datum as the server would hand it out, but in a chunk of its own.  One with
 * a short header is no copy, and must not look as if it were; nor must one that
 * the module has made itself, which has a guarded end already and lives on.
 */
static struct varlena *
guard_datum(struct varlena *datum)
{
	struct varlena *copy;

	if (VARATT_IS_SHORT(datum) || VARSIZE(datum) > LARGE_DATUM ||
		first_poisoned((char *) datum + VARSIZE(datum), 1) != NULL)
		return datum;
	copy = __wrap_palloc_extended(VARSIZE(datum), MCXT_ALLOC_HUGE);
	memcpy(copy, datum, VARSIZE(datum));
	return copy;
}

struct varlena *
__wrap_pg_detoast_datum(struct varlena *datum)
{
	return guard_datum(__real_pg_detoast_datum(datum));
}

struct varlena *
__wrap_pg_detoast_datum_packed(struct varlena *datum)
{
	return guard_datum(__real_pg_detoast_datum_packed(datum));
}

struct varlena *
__wrap_pg_detoast_datum_copy(struct varlena *datum)
{
	return guard_datum(__real_pg_detoast_datum_copy(datum));
}

struct varlena *
__wrap_pg_detoast_datum_slice(struct varlena *datum, int32 first, int32 count)
{
	return guard_datum(__real_pg_detoast_datum_slice(datum, first, count));
}

void
__wrap_XLogRegisterBufData(uint8 block, void *data, uint32 length)
{
	check_defined(data, length);
	__real_XLogRegisterBufData(block, data, length);
}

XLogRecPtr
__wrap_log_newpage_buffer(Buffer buffer, bool standard)
{
	check_defined(BufferGetPage(buffer), BLCKSZ);
	return __real_log_newpage_buffer(buffer, standard);
}

/*
 * Mistakes made on purpose, so that the tests know that they would see one: read
 * a chunk's byte number `at`, of `size`; return what is in a new chunk; and shift
 * by as many bits as there are, or more.
 */
Datum
bloomext_plant(PG_FUNCTION_ARGS)
{
	char	   *chunk = __wrap_palloc0(PG_GETARG_INT32(0));

	PG_RETURN_INT32(((volatile char *) chunk)[PG_GETARG_INT32(1)]);
}

Datum
bloomext_plant_undefined(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(*(int32 *) __wrap_palloc(sizeof(int32)));
}

Datum
bloomext_plant_shift(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(1 << PG_GETARG_INT32(0));
}
