/*
 * server.c
 *	  As much of a server as the fuzz targets of type/ and redis/ want.
 *
 * Memory is malloc's, of the exact size, and goes with the statement that took
 * it.  Errors end the statement: all may, but those that say that something was
 * not thought of.  An error of class XX, elog()'s own among them, ends the
 * program as a sanitizer's report does, but for those that say that what is stored
 * is damaged, where it may be; and so does any in a critical section.  Time passes
 * when something waits.  Where FUZZ_ERRORS is set, errors are printed.
 *
 * What nothing calls is dropped by the linker, with all that it would need: a
 * function of the server's that is missing here is one that was not needed.
 */
#include "server.h"

#include "fuzz.h"
#include "vectors.h"

#include <setjmp.h>

#include "access/detoast.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_crc.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "core/pause.h"
#include "type/element_type.h"

/* More is refused, as a server may do whenever it likes. */
#define MEMORY_LIMIT	((Size) 32 * 1024 * 1024)

#define MAX_CALLBACKS	8

/* ---- Errors ---- */

sigjmp_buf *PG_exception_stack = NULL;
ErrorContextCallback *error_context_stack = NULL;

bool		may_be_damaged = false;
bool		is_waited_for = false;
volatile uint32 CritSectionCount = 0;

static int	level;
static int	sqlstate;
static char message[1024];

bool
errstart(int elevel, const char *domain)
{
	REQUIRE(elevel >= ERROR || !is_waited_for);
	level = elevel;
	sqlstate = elevel >= ERROR ? ERRCODE_INTERNAL_ERROR : ERRCODE_WARNING;
	message[0] = '\0';
	return true;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

int
errcode(int code)
{
	sqlstate = code;
	return 0;
}

/* The last message. */
const char *
what_was_said(void)
{
	return message;
}

/* Write what is said, so that all of its arguments are read. */
static int
say(const char *format, va_list arguments)
{
	size_t		used = strlen(message);

	(void) vsnprintf(message + used, sizeof(message) - used, format, arguments);
	return 0;
}

#define SAY(format) \
	do { \
		va_list		arguments; \
		\
		va_start(arguments, format); \
		say(format, arguments); \
		va_end(arguments); \
		return 0; \
	} while (0)

int
errmsg(const char *format,...)
{
	SAY(format);
}

int
errmsg_internal(const char *format,...)
{
	SAY(format);
}

int
errdetail(const char *format,...)
{
	SAY(format);
}

int
errhint(const char *format,...)
{
	SAY(format);
}

void
errfinish(const char *file, int line, const char *function)
{
	if (level < ERROR)
		return;
	if (getenv("FUZZ_ERRORS") != NULL)
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, function, message);
	if ((ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_TO_CATEGORY(ERRCODE_INTERNAL_ERROR) &&
		 !(may_be_damaged && sqlstate != ERRCODE_INTERNAL_ERROR)) ||
		CritSectionCount > 0 || PG_exception_stack == NULL)
	{
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, function, message);
		abort();
	}
	pg_re_throw();
}

void
pg_re_throw(void)
{
	siglongjmp(*PG_exception_stack, 1);
}

int
geterrcode(void)
{
	return sqlstate;
}

/* Of what was said, which is one text here. */
ErrorData *
CopyErrorData(void)
{
	ErrorData  *error = palloc0(sizeof(ErrorData));

	error->detail = pstrdup(message);
	return error;
}

void
FlushErrorState(void)
{
}

/* From 16 on: nobody here takes errors softly. */
bool
errsave_start(struct Node *context, const char *domain)
{
	return errstart(ERROR, domain);
}

void
errsave_finish(struct Node *context, const char *file, int line,
			   const char *function)
{
	errfinish(file, line, function);
}

/* ---- Memory ---- */

typedef struct Chunk
{
	struct Chunk *next;
	struct Chunk *previous;
	Size		size;
	MemoryContext context;
} Chunk;

/* In the size of a chunk: it ends with the transaction. */
#define ENDS	((Size) 1 << 63)

static Chunk chunks = {&chunks, &chunks, 0, NULL};
static Size allocated = 0;

MemoryContext CurrentMemoryContext = NULL;

/* What is in this one outlives statements. */
static MemoryContextData top;
MemoryContext TopMemoryContext = &top;

void *
MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	Chunk	   *chunk;

	if (!((flags & MCXT_ALLOC_HUGE) ? AllocHugeSizeIsValid(size) :
		  AllocSizeIsValid(size)))
		elog(ERROR, "invalid memory alloc request size %zu", size);
	if (size > MEMORY_LIMIT - allocated)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	chunk = malloc(sizeof(Chunk) + size);
	*chunk = (Chunk) {chunks.next, &chunks, size, context};
	chunk->next->previous = chunks.next = chunk;
	allocated += size;
	if (flags & MCXT_ALLOC_ZERO)
		memset(chunk + 1, 0, size);
	return chunk + 1;
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return MemoryContextAllocExtended(context, size, 0);
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return MemoryContextAllocExtended(context, size, MCXT_ALLOC_ZERO);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE);
}

void *
palloc_extended(Size size, int flags)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, size, flags);
}

void *
palloc(Size size)
{
	return palloc_extended(size, 0);
}

void *
palloc0(Size size)
{
	return palloc_extended(size, MCXT_ALLOC_ZERO);
}

Size
add_size(Size left, Size right)
{
	Size		sum;

	if (__builtin_add_overflow(left, right, &sum))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too large")));
	return sum;
}

Size
mul_size(Size left, Size right)
{
	Size		product;

	if (__builtin_mul_overflow(left, right, &product))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too large")));
	return product;
}

void
pfree(void *pointer)
{
	Chunk	   *chunk = (Chunk *) pointer - 1;

	chunk->next->previous = chunk->previous;
	chunk->previous->next = chunk->next;
	allocated -= chunk->size;
	free(chunk);
}

/* A context is an address by which its chunks are known. */
MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name,
							  Size least, Size first, Size most)
{
	MemoryContext context = MemoryContextAllocExtended(parent,
													   sizeof(MemoryContextData),
													   MCXT_ALLOC_ZERO);

	context->parent = parent;
	return context;
}

/* Whether what is in it outlives statements. */
static bool
outlives(MemoryContext context)
{
	while (context != NULL && context != TopMemoryContext)
		context = context->parent;
	return context != NULL;
}

void
MemoryContextReset(MemoryContext context)
{
	Chunk	   *next;

	for (Chunk *chunk = chunks.next; chunk != &chunks; chunk = next)
	{
		next = chunk->next;
		if (chunk->context == context)
			pfree(chunk + 1);
	}
}

void *
repalloc_huge(void *pointer, Size size)
{
	Size		before = ((Chunk *) pointer)[-1].size;
	void	   *copy = MemoryContextAllocExtended(((Chunk *) pointer)[-1].context,
												  size, MCXT_ALLOC_HUGE);

	memcpy(copy, pointer, Min(before, size));
	pfree(pointer);
	return copy;
}

void *
repalloc(void *pointer, Size size)
{
	if (!AllocSizeIsValid(size))
		elog(ERROR, "invalid memory alloc request size %zu", size);
	return repalloc_huge(pointer, size);
}

char *
pnstrdup(const char *text, Size length)
{
	char	   *copy;

	length = strnlen(text, length);
	copy = palloc(length + 1);
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *
pstrdup(const char *text)
{
	return pnstrdup(text, strlen(text));
}

/* ---- Values ---- */

/* What lies in a table, in the place of all that a toast pointer may lead to. */
static const uint8 *stored;
static Size stored_length;

/* A pointer, by what it says, to bytes that are stored, until the next are. */
Datum
stored_datum(const uint8 *bytes, Size length, Size said)
{
	struct varatt_external pointer = {
		.va_rawsize = said + VARHDRSZ,
		.va_extinfo = said,
		.va_valueid = 1
	};
	char	   *datum = palloc(TOAST_POINTER_SIZE);

	stored = bytes;
	stored_length = length;
	SET_VARTAG_EXTERNAL(datum, VARTAG_ONDISK);
	memcpy(VARDATA_EXTERNAL(datum), &pointer, sizeof(pointer));
	return PointerGetDatum(datum);
}

/* A varlena of bytes. */
Datum
bytes_datum(const uint8 *bytes, Size length)
{
	struct varlena *value = palloc(length + VARHDRSZ);

	SET_VARSIZE(value, length + VARHDRSZ);
	if (length > 0)
		memcpy(VARDATA(value), bytes, length);
	return PointerGetDatum(value);
}

struct varlena *
pg_detoast_datum_slice(struct varlena *datum, int32 first, int32 count)
{
	Size		start = Min((Size) first, stored_length);

	return (struct varlena *) DatumGetPointer(bytes_datum(stored + start,
														  Min((Size) count, stored_length - start)));
}

Size
toast_raw_datum_size(Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL(value))
		return VARSIZE_ANY(value);
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	return pointer.va_rawsize;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return VARATT_IS_EXTERNAL(datum) ? pg_detoast_datum_slice(datum, 0, PG_INT32_MAX) : datum;
}

struct varlena *
pg_detoast_datum(struct varlena *datum)
{
	return pg_detoast_datum_packed(datum);
}

struct varlena *
pg_detoast_datum_copy(struct varlena *datum)
{
	return (struct varlena *) DatumGetPointer(bytes_datum((uint8 *) VARDATA_ANY(datum),
														  VARSIZE_ANY_EXHDR(datum)));
}

text *
cstring_to_text(const char *string)
{
	return (text *) DatumGetPointer(bytes_datum((const uint8 *) string,
												strlen(string)));
}

char *
text_to_cstring(const text *value)
{
	return pnstrdup(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

Datum
text_datum(const char *text)
{
	return PointerGetDatum(cstring_to_text(text));
}

uint64
hex_encode(const char *bytes, size_t length, char *text)
{
	for (size_t i = 0; i < length; i++)
	{
		*text++ = "0123456789abcdef"[(uint8) bytes[i] >> 4];
		*text++ = "0123456789abcdef"[(uint8) bytes[i] & 15];
	}
	return length * 2;
}

static int
digit_value(char digit)
{
	return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

uint64
hex_decode(const char *text, size_t length, char *bytes)
{
	for (size_t i = 0; i < length; i += 2)
		*bytes++ = (char) (digit_value(text[i]) << 4 | digit_value(text[i + 1]));
	return length / 2;
}

int
pg_ulltoa_n(uint64 number, char *text)
{
	char		digits[MAXINT8LEN + 1];
	int			length = snprintf(digits, sizeof(digits), UINT64_FORMAT, number);

	memcpy(text, digits, length);
	return length;
}

int
pg_lltoa(int64 number, char *text)
{
	return sprintf(text, INT64_FORMAT, number);
}

int
bpchartruelen(char *text, int length)
{
	while (length > 0 && text[length - 1] == ' ')
		length--;
	return length;
}

/* What tells shards apart is not computed here. */
const uint32 pg_crc32_table[256] = {0};

/* Digests are all zeros: whether two are the same, the input says. */
pg_cryptohash_ctx *
pg_cryptohash_create(pg_cryptohash_type type)
{
	return palloc(1);
}

int
pg_cryptohash_init(pg_cryptohash_ctx *context)
{
	return 0;
}

int
pg_cryptohash_update(pg_cryptohash_ctx *context, const uint8 *bytes,
					 size_t length)
{
	return 0;
}

int
pg_cryptohash_final(pg_cryptohash_ctx *context, uint8 *digest, size_t length)
{
	memset(digest, 0, length);
	return 0;
}

void
pg_cryptohash_free(pg_cryptohash_ctx *context)
{
	pfree(context);
}

/* Nobody looks at a row. */
TypeFuncClass
get_call_result_type(FunctionCallInfo fcinfo, Oid *type, TupleDesc *row)
{
	static TupleDescData none;

	*row = &none;
	return TYPEFUNC_COMPOSITE;
}

TupleDesc
BlessTupleDesc(TupleDesc row)
{
	return row;
}

/* heap_form_tuple(), whose arguments not all releases have const. */
extern HeapTuple form_tuple(TupleDesc row, const Datum *values,
							const bool *nulls) __asm__("heap_form_tuple");

HeapTuple
form_tuple(TupleDesc row, const Datum *values, const bool *nulls)
{
	return palloc0(sizeof(HeapTupleData));
}

Datum
HeapTupleHeaderGetDatum(HeapTupleHeader header)
{
	return PointerGetDatum(header);
}

static List *
make_list(void)
{
	List	   *list = palloc(offsetof(List, initial_elements));

	list->type = T_List;
	list->length = list->max_length = 0;
	list->elements = NULL;
	return list;
}

/* Sets of small numbers. */

Bitmapset *
bms_add_member(Bitmapset *set, int member)
{
	int			nwords = member / BITS_PER_BITMAPWORD + 1;
	int			had = set == NULL ? 0 : set->nwords;
	Size		size = offsetof(Bitmapset, words) + nwords * sizeof(bitmapword);

	if (had < nwords)
	{
		set = set == NULL ? palloc0(size) : repalloc(set, size);
		memset(set->words + had, 0, (nwords - had) * sizeof(bitmapword));
		set->nwords = nwords;
	}
	set->words[member / BITS_PER_BITMAPWORD] |= (bitmapword) 1 << member % BITS_PER_BITMAPWORD;
	return set;
}

Bitmapset *
bms_make_singleton(int member)
{
	return bms_add_member(NULL, member);
}

int
bms_next_member(const Bitmapset *set, int after)
{
	for (int i = after + 1; set != NULL && i < set->nwords * BITS_PER_BITMAPWORD; i++)
	{
		if ((set->words[i / BITS_PER_BITMAPWORD] >> (i % BITS_PER_BITMAPWORD)) & 1)
			return i;
	}
	return -2;
}

int
bms_num_members(const Bitmapset *set)
{
	int			count = 0;

	for (int i = -1; (i = bms_next_member(set, i)) >= 0;)
		count++;
	return count;
}

void
bms_free(Bitmapset *set)
{
	if (set != NULL)
		pfree(set);
}

List *
lappend(List *list, void *datum)
{
	ListCell   *elements;

	if (list == NIL)
		list = make_list();
	elements = palloc(sizeof(ListCell) * (list->length + 1));
	if (list->length > 0)
	{
		memcpy(elements, list->elements, sizeof(ListCell) * list->length);
		pfree(list->elements);
	}
	elements[list->length++].ptr_value = datum;
	list->elements = elements;
	return list;
}

List *
lappend_oid(List *list, Oid oid)
{
	list = lappend(list, NULL);
	list->elements[list->length - 1].oid_value = oid;
	return list;
}

void
list_free(List *list)
{
	if (list == NIL)
		return;
	pfree(list->elements);
	pfree(list);
}

List *
list_delete_first(List *list)
{
	if (--list->length > 0)
	{
		memmove(list->elements, list->elements + 1,
				sizeof(ListCell) * list->length);
		return list;
	}
	list_free(list);
	return NIL;
}

/* ---- Encodings: UTF-8, and what is not ---- */

int			database_encoding = PG_UTF8;

int
GetDatabaseEncoding(void)
{
	return database_encoding;
}

const char *
GetDatabaseEncodingName(void)
{
	return "encoding";
}

Oid
FindDefaultConversion(Oid namespace, int32 from, int32 to)
{
	return 1;
}

/* PostgreSQL's way from LATIN1, where a byte may be two. */
int
pg_do_encoding_conversion_buf(Oid conversion, int from, int to,
							  unsigned char *source, int length,
							  unsigned char *target, int room, bool no_error)
{
	int			taken = 0;

	for (; taken < length && source[taken] != 0; taken++)
	{
		if (room <= 2)
			abort();
		if (source[taken] & 0x80)
		{
			*target++ = 0xc0 | source[taken] >> 6;
			*target++ = 0x80 | (source[taken] & 0x3f);
			room -= 2;
			continue;
		}
		*target++ = source[taken];
		room--;
	}
	*target = '\0';
	if (taken == 0 && !no_error)
		report_invalid_encoding(from, (char *) source, length);
	return taken;
}

void
report_invalid_encoding(int from, const char *text, int length)
{
	ereport(ERROR,
			(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
			 errmsg("invalid byte %02x of %d", (uint8) *text, length)));
	pg_unreachable();
}

/* What PostgreSQL's own looks at, which is not sanitized, is looked at before. */
extern bool __real_pg_utf8_islegal(const unsigned char *source, int length);
extern bool __wrap_pg_utf8_islegal(const unsigned char *source, int length);

bool
__wrap_pg_utf8_islegal(const unsigned char *source, int length)
{
	free(copy_bytes(source, length));
	return __real_pg_utf8_islegal(source, length);
}

bool
pg_verify_mbstr(int from, const char *text, int length, bool no_error)
{
	return pg_encoding_verifymbstr(from, text, length) == length;
}

/* ---- Catalogs: types are no domains, everything has a name ---- */

Oid
getBaseType(Oid type)
{
	return type;
}

Oid
get_element_type(Oid type)
{
	return InvalidOid;
}

void
get_typlenbyvalalign(Oid type, int16 *length, bool *by_value, char *align)
{
	*length = -1;
	*by_value = false;
	*align = TYPALIGN_INT;
}

bool
get_collation_isdeterministic(Oid collation)
{
	return true;
}

char *
format_type_be(Oid type)
{
	return pstrdup("type");
}

Oid
exprType(const Node *expression)
{
	return TEXTOID;
}

Oid
exprCollation(const Node *expression)
{
	return InvalidOid;
}

char *
get_rel_name(Oid relation)
{
	return pstrdup("relation");
}

Oid
get_rel_namespace(Oid relation)
{
	return 1;
}

char *
get_namespace_name(Oid namespace)
{
	return pstrdup("namespace");
}

/* In the place of type/element_hint.c: no type has such an expression. */
const char *
bf_expression_instead(Oid type, bool indexed, const char *value)
{
	return value;
}

char *
quote_qualified_identifier(const char *qualifier, const char *name)
{
	return psprintf("%s.%s", qualifier, name);
}

/* ---- Hash tables ---- */

struct HTAB
{
	Size		keysize;
	Size		entrysize;
	HASHELEMENT *first;
	HTAB	   *next;
};

static HTAB *tables = NULL;

static char *
entry_of(HASHELEMENT *element)
{
	return (char *) (element + 1);
}

HTAB *
hash_create(const char *name, long size, const HASHCTL *control, int flags)
{
	HTAB	   *table = malloc(sizeof(HTAB));

	*table = (HTAB) {control->keysize, control->entrysize, NULL, tables};
	return tables = table;
}

void *
hash_search(HTAB *table, const void *key, HASHACTION action, bool *found)
{
	HASHELEMENT **link = &table->first;
	HASHELEMENT *element;

	while (*link != NULL && memcmp(entry_of(*link), key, table->keysize) != 0)
		link = &(*link)->link;
	element = *link;
	if (found != NULL)
		*found = element != NULL;
	if (action == HASH_REMOVE && element != NULL)
	{
		*link = element->link;
		free(element);
		return NULL;
	}
	if (action == HASH_ENTER && element == NULL)
	{
		*link = element = malloc(sizeof(HASHELEMENT) + table->entrysize);
		element->link = NULL;
		memcpy(entry_of(element), key, table->keysize);
	}
	return element != NULL ? entry_of(element) : NULL;
}

long
hash_get_num_entries(HTAB *table)
{
	long		count = 0;

	for (HASHELEMENT *element = table->first; element != NULL; element = element->link)
		count++;
	return count;
}

void
hash_seq_init(HASH_SEQ_STATUS *status, HTAB *table)
{
	status->hashp = table;
	status->curEntry = table->first;
}

void *
hash_seq_search(HASH_SEQ_STATUS *status)
{
	HASHELEMENT *element = status->curEntry;

	if (element == NULL)
		return NULL;
	status->curEntry = element->link;
	return entry_of(element);
}

/* ---- Who, when, and what is told to whom ---- */

/* Checks for interrupts after which somebody cancels what damage may prolong. */
#define PATIENCE		200000

static int	checks;
static XactCallback at_end[MAX_CALLBACKS];
static SyscacheCallbackFunction at_change[MAX_CALLBACKS];
static TimestampTz clock_time = 0;

volatile sig_atomic_t InterruptPending = true;
struct Latch *MyLatch = NULL;

void
ProcessInterrupts(void)
{
	if (++checks > PATIENCE && may_be_damaged)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("canceled")));
}

Oid
GetUserId(void)
{
	return 1;
}

/* Which a target may know better. */
__attribute__((weak)) bool
superuser(void)
{
	return false;
}

bool
AcquireExternalFD(void)
{
	return true;
}

void
ReleaseExternalFD(void)
{
}

void
AcceptInvalidationMessages(void)
{
}

/* Nothing is idle for long. */
TimeoutId
RegisterTimeout(TimeoutId id, timeout_handler_proc handler)
{
	return id;
}

void
enable_timeout_at(TimeoutId id, TimestampTz end)
{
}

void
disable_timeout(TimeoutId id, bool keep_indicator)
{
}

void
RegisterXactCallback(XactCallback callback, void *arg)
{
	int			i = 0;

	while (at_end[i] != NULL)
		i++;
	at_end[i] = callback;
}

void
RegisterSubXactCallback(SubXactCallback callback, void *arg)
{
}

void
CacheRegisterSyscacheCallback(int cache, SyscacheCallbackFunction callback,
							  Datum arg)
{
	int			i = 0;

	while (at_change[i] != NULL)
		i++;
	at_change[i] = callback;
}

TimestampTz
GetCurrentTimestamp(void)
{
	return clock_time;
}

TimestampTz
GetCurrentStatementStartTimestamp(void)
{
	return clock_time;
}

long
TimestampDifferenceMilliseconds(TimestampTz start, TimestampTz stop)
{
	return stop > start ? (stop - start + 999) / 1000 : 0;
}

bool
TimestampDifferenceExceeds(TimestampTz start, TimestampTz stop, int ms)
{
	return stop - start >= (TimestampTz) ms * 1000;
}

void
pass_time(long ms)
{
	clock_time += ms * 1000;
}

int
WaitLatch(Latch *latch, int events, long ms, uint32 info)
{
	pass_time(ms);
	return WL_TIMEOUT;
}

void
ResetLatch(Latch *latch)
{
}

/* So that inputs give the same every time. */
bool
pg_strong_random(void *bytes, size_t length)
{
	memset(bytes, 1, length);
	return true;
}

/* ---- Statements ---- */

/* Where a statement calls a function, and what for. */
FmgrInfo	call_site;
Node	   *call_context;

char		null_argument;

/* Call a function that is SQL's; arguments that are left out are NULL. */
Datum
call(PGFunction function, int arguments, const Datum *values)
{
	LOCAL_FCINFO(fcinfo, MAX_ARGUMENTS);

	InitFunctionCallInfoData(*fcinfo, &call_site, arguments, InvalidOid,
							 call_context, NULL);
	for (int i = 0; i < MAX_ARGUMENTS; i++)
	{
		fcinfo->args[i].value = i < arguments ? values[i] : (Datum) 0;
		fcinfo->args[i].isnull = i >= arguments || values[i] == NULL_ARGUMENT;
	}
	return function(fcinfo);
}

static void
end_transaction(XactEvent event)
{
	for (int i = 0; i < MAX_CALLBACKS && at_end[i] != NULL; i++)
		at_end[i] (event, NULL);
	/* A context is a chunk, too: none is freed before all have been asked. */
	for (Chunk *chunk = chunks.next; chunk != &chunks; chunk = chunk->next)
	{
		if (!outlives(chunk->context))
			chunk->size |= ENDS;
	}
	for (Chunk *chunk = chunks.next, *next; chunk != &chunks; chunk = next)
	{
		next = chunk->next;
		if (!(chunk->size & ENDS))
			continue;
		chunk->size &= ~ENDS;
		pfree(chunk + 1);
	}
}

/* Run a statement, in a transaction of its own; returns its SQLSTATE, or 0. */
int
run(void (*statement) (void *arg), void *arg)
{
	sigjmp_buf	buffer;

	PG_exception_stack = &buffer;
	bf_pause = ProcessInterrupts;
	checks = 0;
	memset(&call_site, 0, sizeof(call_site));
	call_context = NULL;
	if (sigsetjmp(buffer, 0) == 0)
	{
		statement(arg);
		sqlstate = 0;
	}
	PG_exception_stack = NULL;
	CurrentMemoryContext = NULL;
	end_transaction(sqlstate == 0 ? XACT_EVENT_COMMIT : XACT_EVENT_ABORT);
	return sqlstate;
}

/* Go, so that the next one finds nothing; as if all catalogs had changed. */
void
end_session(void)
{
	for (int i = 0; i < MAX_CALLBACKS && at_change[i] != NULL; i++)
		at_change[i] ((Datum) 0, 0, 0);
	end_transaction(XACT_EVENT_COMMIT);
	for (HTAB *table = tables; table != NULL; table = table->next)
	{
		while (table->first != NULL)
			(void) hash_search(table, entry_of(table->first), HASH_REMOVE, NULL);
	}
	clock_time = 0;
}
