/*
 * value.c
 *	  Make and open bloomfilter values in the server, and raise errors about
 *	  them.
 *
 * Errors of core/ and strategy/ are passed to ereport() only here, and so is
 * the error for a value larger than a varlena can be.  All bytes of filters
 * are decoded by bf_filter_open().  The SQLSTATE for malformed bytes depends
 * on their source (text, a client, a stream, or a table), so our callers
 * specify it.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "type/value.h"

/* The common size of a huge page; otherwise the advice has no effect. */
#define HUGE_PAGE	((Size) 2 * 1024 * 1024)

/*
 * Report an error of core/ or strategy/, with a hint that replaces its own
 * unless NULL: softly if the context is for that, else by raising it.
 */
static void
report_error(const BfError *error, int malformed_sqlstate, const char *hint,
			 Node *context)
{
	const int	sqlstates[] = {
		[BF_ERROR_PARAMETER] = ERRCODE_INVALID_PARAMETER_VALUE,
		[BF_ERROR_LIMIT] = ERRCODE_PROGRAM_LIMIT_EXCEEDED,
		[BF_ERROR_UNSUPPORTED] = ERRCODE_FEATURE_NOT_SUPPORTED,
		[BF_ERROR_MALFORMED] = malformed_sqlstate
	};

	if (hint == NULL)
		hint = error->hint;
	errsave(context,
			(errcode(sqlstates[error->code]),
			 error->code == BF_ERROR_MALFORMED ?
			 errmsg("malformed bloom filter: %s", error->message) :
			 errmsg("%s", error->message),
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* Raise an error of core/ or strategy/ about input. */
void
bf_raise(const BfError *error)
{
	report_error(error, ERRCODE_INVALID_BINARY_REPRESENTATION, NULL, NULL);
	pg_unreachable();
}

/* Raise an error of core/ or strategy/ about a stored value. */
void
bf_raise_corrupted(const BfError *error)
{
	report_error(error, ERRCODE_DATA_CORRUPTED, NULL, NULL);
	pg_unreachable();
}

/* A hint for bytes in another format than the expected one; or NULL. */
static const char *
hint_for(const uint8 *bytes, Size length)
{
	BfPlan		plan = {.layers = palloc(sizeof(BfLayer) * BF_MAX_LAYERS)};
	const BfStrategy *strategy;
	BfFilter	filter;
	BfError		error;

	if (bf_filter_open(bytes, length, length, &filter, &error))
		return "These bytes are in the type's own format: use ('\\x' || encode(..., 'hex'))::bloomfilter.";
	for (size_t i = 0; (strategy = bf_strategy_at(i)) != NULL; i++)
	{
		const BfStream *stream = strategy->stream;

		if (stream != NULL &&
			stream->inspect(bytes, length, &plan, &error))
			return psprintf("These bytes are in format %s: use bf_import(..., '%s')%s.",
							stream->name, stream->name,
							stream == bf_stream_by_name("guava") ?
							", or ...::bytea::bloomfilter" : "");
	}
	return NULL;
}

/* Raise an error about bytes, with a hint if they are in another format. */
void
bf_raise_format(const BfError *error, const uint8 *bytes, Size length)
{
	report_error(error, ERRCODE_INVALID_BINARY_REPRESENTATION,
				 hint_for(bytes, length), NULL);
	pg_unreachable();
}

/* The length as a varlena, including its header; raises if it is too long. */
int
bf_fit_length(uint64 length)
{
	if (length > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("bloom filter of %llu bytes exceeds the maximum of %llu",
						(unsigned long long) length,
						(unsigned long long) (MaxAllocSize - VARHDRSZ)),
				 errhint("Expect fewer elements, allow a higher fpp, or distribute the elements among several filters by bf_shard.")));
	return (int) (length + VARHDRSZ);
}

/* Whether a planned filter can be a value. */
bool
bf_value_fits(BfPlan *plan)
{
	uint64		length;
	BfError		error;

	return bf_plan_measure(plan, &length, &error) &&
		length <= MaxAllocSize - VARHDRSZ;
}

/* Plan a filter for n elements at probability p. */
void
bf_value_plan(const BfStrategy *strategy, int64 expected, double fpp,
			  BfFunnel funnel, int32 expansion, BfPlan *plan)
{
	uint64		length;
	BfError		error;

	/* An aggregate makes the value much later: check the size now. */
	if (!bf_plan_sized(strategy, expected, fpp, funnel, expansion, plan,
					   &error) ||
		!bf_plan_measure(plan, &length, &error))
		bf_raise(&error);
	bf_fit_length(length);
}

/* Plan a filter of one layer of a known shape. */
void
bf_value_plan_bits(const BfStrategy *strategy, int64 bits, int32 hashes,
				   BfFunnel funnel, BfPlan *plan)
{
	BfError		error;

	if (!bf_plan_bits(strategy, bits, hashes, funnel, plan, &error))
		bf_raise(&error);
}

/*
 * Allocate memory for random access, uninitialized.  If it is large, huge pages
 * are requested before it is touched: random access to 24 MB in 4 kB pages
 * misses the TLB at nearly every bit.  That is only advice to the kernel.
 */
void *
bf_allocate_scattered(MemoryContext context, Size size)
{
	char	   *memory = MemoryContextAllocHuge(context, size);

#ifdef MADV_HUGEPAGE
	if (size >= 2 * HUGE_PAGE)
	{
		char	   *start = (char *) TYPEALIGN(HUGE_PAGE, memory);
		char	   *end = (char *) TYPEALIGN_DOWN(HUGE_PAGE, memory + size);

		(void) madvise(start, end - start, MADV_HUGEPAGE);
	}
#endif
	return memory;
}

/* Allocate a value of a length in such memory, uninitialized. */
struct varlena *
bf_value_allocate(MemoryContext context, uint64 length)
{
	int			size = bf_fit_length(length);
	struct varlena *value = bf_allocate_scattered(context, size);

	SET_VARSIZE(value, size);
	return value;
}

/*
 * Allocate a value's bytes in the current memory context, after a head in its
 * varlena that is reserved for the caller.
 */
static void
allocate_behind(Size head, uint64 length, BfValue *value)
{
	value->varlena = bf_value_allocate(CurrentMemoryContext, head + length);
	value->bytes = (uint8 *) VARDATA(value->varlena) + head;
	value->newest.known = false;
}

/* Make an empty value in the current memory context, after a head. */
void
bf_value_make_behind(Size head, BfPlan *plan, BfValue *value)
{
	uint64		length;
	BfError		error;

	if (!bf_plan_measure(plan, &length, &error))
		bf_raise(&error);
	allocate_behind(head, length, value);
	if (!bf_value_has_text(length))
		bf_value_lacks_text(NOTICE, length);
	memset(value->bytes, 0, length);
	bf_plan_encode(plan, value->bytes);
	if (!bf_filter_open(value->bytes, length, length, &value->filter, &error))
		bf_raise(&error);
}

/* Make an empty value in the current memory context. */
void
bf_value_make(BfPlan *plan, BfValue *value)
{
	bf_value_make_behind(0, plan, value);
}

/* Copy an opened filter into the current memory context, after a head. */
void
bf_value_copy_behind(Size head, const BfFilter *filter, BfValue *value)
{
	allocate_behind(head, filter->length, value);
	memcpy(value->bytes, filter->bytes, filter->length);
	value->filter = *filter;
	value->filter.bytes = value->bytes;
}

/* Move a value that was made after a head to the start of its varlena. */
void
bf_value_take_off_head(BfValue *value)
{
	uint8	   *start = (uint8 *) VARDATA(value->varlena);

	memmove(start, value->bytes, value->filter.length);
	SET_VARSIZE(value->varlena, value->filter.length + VARHDRSZ);
	value->bytes = start;
	value->filter.bytes = start;
}

/*
 * Set a layer of a value to a bit string in another order.  A short string is
 * padded with zeros; the excess of a long one must be zeros.
 */
void
bf_value_set_bits(BfValue *value, const BfLayer *layer, BfBitOrder order,
				  const uint8 *bytes, size_t length)
{
	uint8	   *bits = value->bytes + layer->offset;
	size_t		wanted = Min(length, layer->bytes);
	size_t		used = length;

	bf_bits_from_order(order, bytes, wanted, bits);
	for (; used > wanted && bytes[used - 1] == 0; used--)
	{
		if (used % BF_PIECE == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (used > wanted ||
		!bf_bits_tail_is_zero(bits, layer->bytes, layer->bits))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("bit string has bits beyond the end of the filter"),
				 errdetail("The filter has %llu bits (%llu bytes); the string has %llu bytes.",
						   (unsigned long long) layer->bits,
						   (unsigned long long) layer->bytes,
						   (unsigned long long) length),
				 errhint("Specify the parameters with which the bit string was made.")));
}

/* Make a value from a stream, which does not contain the funnel: unbound. */
void
bf_value_of_stream(const BfStream *stream, const uint8 *bytes, Size length,
				   BfValue *value)
{
	BfLayer    *layers = palloc(sizeof(BfLayer) * BF_MAX_LAYERS);
	BfPlan		plan = {.layers = layers};
	BfError		error;

	if (!stream->inspect(bytes, length, &plan, &error))
		bf_raise_format(&error, bytes, length);
	bf_value_make(&plan, value);
	bf_stream_read(bytes, &value->filter, value->bytes);
	if (!bf_filter_open(value->bytes, value->filter.length,
						value->filter.length, &value->filter, &error))
		bf_raise(&error);
	pfree(layers);
}

/* Bind a value to a funnel and a meaning. */
void
bf_value_bind(BfValue *value, BfFunnel funnel, BfMeaning meaning)
{
	value->filter.plan.header.funnel = funnel;
	value->filter.plan.header.meaning = meaning;
	bf_format_bind(value->bytes, funnel, meaning);
}

/* Open a value for reading, detoasted; returns the memory of its bytes. */
struct varlena *
bf_value_open(Datum datum, BfFilter *filter)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(datum);
	BfError		error;

	if (!bf_filter_open(DatumGetBfBytes(value), VARSIZE_ANY_EXHDR(value),
						VARSIZE_ANY_EXHDR(value), filter, &error))
		bf_raise_corrupted(&error);
	return value;
}

/* Make a plain filter from a counting one. */
void
bf_value_plain(const BfFilter *counting, BfValue *plain)
{
	BfPlan		plan = counting->plan;

	plan.header.cell_bits = BF_CELL_BIT;
	bf_value_make(&plan, plain);
	bf_counters_to_bits(counting->bytes + counting->plan.first.offset,
						counting->plan.first.bits,
						plain->bytes + plain->filter.plan.first.offset);
}

/* Check a client's bytes; malformed ones are an error, perhaps soft. */
bool
bf_value_check(const char *bytes, Size length, int malformed_sqlstate,
			   Node *context)
{
	BfFilter	filter;
	BfError		error;

	if (bf_filter_open((const uint8 *) bytes, length, length, &filter, &error))
		return true;
	report_error(&error, malformed_sqlstate,
				 hint_for((const uint8 *) bytes, length), context);
	return false;
}
