/*
 * once.c
 *	  Iterate over the elements of an array, and find repeated ones.
 *
 * An element is kept as its offset in the array, of 30 bits, and its hash: so
 * memory holds the array once, and 8 bytes for each element kept, with room to
 * grow.  Elements are equal if their bytes are.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "common/hashfn.h"
#include "utils/lsyscache.h"

#include "type/once.h"

/* An element by its offset in the array. */
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

/* Initial size of the hash table. */
#define FEW_ELEMENTS	64

/* The element at an offset. */
static inline Datum
element_at(const BfOnce *once, uint32 at)
{
	return fetch_att(once->data + at, once->element.typbyval,
					 once->element.typlen);
}

/* The bytes that identify an element, for any filter. */
static void
bytes_at(const BfOnce *once, uint32 at, BfElementBytes *bytes)
{
	if (once->make != NULL)
		once->make(once->state, element_at(once, at), bytes);
	else
		(void) bf_element_bytes(NULL, once->funnel, &once->element,
								element_at(once, at), bytes);
}

/* A funnel that distinguishes all elements of a kind, without a strategy. */
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

/* Free an element's bytes if they were converted. */
static void
free_bytes(BfElementBytes *bytes)
{
	if (bytes->made != NULL)
		pfree(bytes->made);
}

/* The hash of the element at an offset. */
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

/* Whether the elements at two offsets are equal. */
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

/* Start to iterate over an array, which must not move. */
static void
start_array(BfOnce *once, const ArrayType *array)
{
	once->data = ARR_DATA_PTR(array);
	once->next = 0;
	once->seen = once_create(CurrentMemoryContext, FEW_ELEMENTS, once);
}

/*
 * Start to iterate over an array, for elements whose bytes are made by the
 * caller.
 */
void
bf_once_start_made(BfOnce *once, BfOnceBytes make, void *state,
				   const ArrayType *array)
{
	memset(once, 0, sizeof(*once));
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &once->element.typlen,
						 &once->element.typbyval, &once->element.typalign);
	once->make = make;
	once->state = state;
	start_array(once, array);
}

/*
 * Start to iterate over an array, which must not move, for a filter of a
 * meaning.  If that ignores trailing blanks, they are ignored here, too.
 */
void
bf_once_start(BfOnce *once, const BfElementType *element, BfMeaning meaning,
			  const ArrayType *array)
{
	once->element = *element;
	bf_element_go_into(&once->element, meaning);
	once->funnel = exact_funnel(element->kind);
	once->make = NULL;
	start_array(once, array);
}

/*
 * Advance to the next element that is not NULL; there must be one.  True if it
 * is wanted, and no equal one was before.
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
