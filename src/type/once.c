/*
 * once.c
 *	  The elements of an array, and which of them came already.
 *
 * What is kept of an element is where it is in the array, which is 30 bits, and a
 * hash, so that what is in memory is the array once, and 8 bytes an element that
 * is kept, with room to grow.  Elements are the same where their bytes are.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "common/hashfn.h"

#include "type/element_hash.h"
#include "type/once.h"

/* An element by its place in the array. */
typedef struct BfOnceEntry
{
	uint32		hash;
	unsigned int at:30;
	unsigned int status:2;
} BfOnceEntry;

static uint32 hash_at(const BfOnce *once, uint32 at);
static bool is_same_at(const BfOnce *once, uint32 left, uint32 right);

#define SH_PREFIX		once
#define SH_ELEMENT_TYPE	BfOnceEntry
#define SH_KEY_TYPE		uint32
#define SH_KEY			at
#define SH_HASH_KEY(table, key)	hash_at((table)->private_data, key)
#define SH_EQUAL(table, a, b)	is_same_at((table)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry)	((entry)->hash)
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Entries that the hash table starts with room for. */
#define FEW_ELEMENTS	64

/* An element by its place. */
static inline Datum
element_at(const BfOnce *once, uint32 at)
{
	return fetch_att(once->data + at, once->element.typbyval,
					 once->element.typlen);
}

/* The bytes of an element that tell it from others, whatever filter it is for. */
static void
bytes_at(const BfOnce *once, uint32 at, BfElementBytes *bytes)
{
	(void) bf_element_bytes(NULL, once->funnel, &once->element,
							element_at(once, at), bytes);
}

/* A funnel that keeps all elements of a kind apart, and needs no strategy. */
static BfFunnel
exact_funnel(BfKind kind)
{
	switch (kind)
	{
		case BF_KIND_INT2:
		case BF_KIND_INT4:
		case BF_KIND_INT8:
			return BF_FUNNEL_LONG;
		default:
			return BF_FUNNEL_BYTES;
	}
}

/* Free what was made for an element's bytes. */
static void
free_bytes(BfElementBytes *bytes)
{
	if (bytes->made != NULL)
		pfree(bytes->made);
}

/* The hash of an element. */
static uint32
hash_at(const BfOnce *once, uint32 at)
{
	BfElementBytes bytes;
	uint32		hash;

	bytes_at(once, at, &bytes);
	hash = hash_bytes(bytes.data, bytes.length);
	free_bytes(&bytes);
	return hash;
}

/* Whether two elements are the same. */
static bool
is_same_at(const BfOnce *once, uint32 left, uint32 right)
{
	BfElementBytes a;
	BfElementBytes b;
	bool		same;

	bytes_at(once, left, &a);
	bytes_at(once, right, &b);
	same = a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
	free_bytes(&a);
	free_bytes(&b);
	return same;
}

/*
 * Start to walk through an array, which stays where it is, for a filter of that
 * meaning: texts that are one to it, as it takes them without their trailing
 * blanks, are one here.
 */
void
bf_once_start(BfOnce *once, const BfElementType *element, BfMeaning meaning,
			  const ArrayType *array)
{
	once->element = *element;
	bf_element_go_into(&once->element, meaning);
	once->funnel = exact_funnel(element->kind);
	once->data = ARR_DATA_PTR(array);
	once->next = 0;
	once->seen = once_create(CurrentMemoryContext, FEW_ELEMENTS, once);
}

/*
 * Go on to the next element that is not NULL, of which there must be one.  True if
 * it is wanted and was not, with this answer, before.
 */
bool
bf_once_next(BfOnce *once, bool wanted, Datum *value)
{
	const char *start = once->data + once->next;
	uint32		at = once->next;
	bool		came = true;

	*value = element_at(once, at);
	once->next = att_align_nominal(att_addlength_pointer(at,
														 once->element.typlen,
														 start),
								   once->element.typalign);
	if (wanted)
		(void) once_insert(once->seen, at, &came);
	return !came;
}
