/*
 * partial.c
 *	  The part of a filter that one of several processes has, as bytes to
 *	  exchange.
 *
 * The bytes may come from another node, so they are not trusted: they are
 * fully checked when a partial state is opened.
 */
#include "core/bytes.h"
#include "strategy/partial.h"

/* Field offsets. */
enum
{
	AT_VERSION = 0,
	AT_SAW_ROWS = 1,
	AT_WORDS = 2,
	AT_FORM = 3,
	AT_LISTED = 4,
	AT_ADDED = 8,
	AT_LENGTH = 16
};

/* How the value follows. */
enum
{
	FORM_PREFIX = 0,
	FORM_WHOLE = 1,
	FORM_PACKED = 2
};

/* Write what precedes the value. */
void
bf_partial_write_head(const BfPartial *partial, uint8_t *bytes)
{
	bytes[AT_VERSION] = BF_PARTIAL_VERSION;
	bytes[AT_SAW_ROWS] = partial->saw_rows;
	bytes[AT_WORDS] = partial->words;
	bytes[AT_FORM] = partial->filter.whole ? FORM_WHOLE :
		partial->packed_length > 0 ? FORM_PACKED : FORM_PREFIX;
	bf_store_le32(bytes + AT_LISTED, partial->listed);
	bf_store_le64(bytes + AT_ADDED, partial->added);
	bf_store_le64(bytes + AT_LENGTH, partial->filter.length);
}

/* Read the header; the caller has checked that its bytes are there. */
static bool
open_head(const uint8_t *bytes, BfPartial *partial, BfError *error)
{
	if (bytes[AT_VERSION] != BF_PARTIAL_VERSION)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "unknown version %u of a partial state",
					   bytes[AT_VERSION]);
	if (bytes[AT_SAW_ROWS] > 1 || bytes[AT_FORM] > FORM_PACKED ||
		bytes[AT_WORDS] > BF_MAX_WORDS)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "malformed header of a partial state");
	partial->saw_rows = bytes[AT_SAW_ROWS] != 0;
	partial->words = bytes[AT_WORDS];
	partial->listed = bf_load_le32(bytes + AT_LISTED);
	partial->added = bf_load_le64(bytes + AT_ADDED);
	return true;
}

/*
 * Whether what precedes the list matches the header.  Filters that grow, the
 * only ones of several layers, have no partial states: see agg_sized.c.
 */
static bool
is_of_form(const BfPartial *partial, uint8_t form)
{
	const BfPlan *plan = &partial->filter.plan;

	if (plan->header.expansion > 0 || partial->words != plan->strategy->words)
		return false;
	if (form == FORM_WHOLE)
		return partial->filter.whole;
	if (form == FORM_PREFIX)
		return !partial->filter.whole && partial->packed_length == 0;
	/* Each word takes at least a byte. */
	return !partial->filter.whole && plan->header.cell_bits == BF_CELL_BIT &&
		partial->packed_length >= plan->first.bytes / 8;
}

/* Open the bytes of a partial state. */
bool
bf_partial_open(const uint8_t *bytes, size_t available, BfPartial *partial,
				BfError *error)
{
	BfFilter   *filter = &partial->filter;
	uint64_t	list;
	size_t		value;

	if (available < BF_PARTIAL_HEAD)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for a partial state", available);
	if (!open_head(bytes, partial, error))
		return false;
	list = (uint64_t) partial->listed * partial->words * sizeof(uint64_t);
	if (list > available - BF_PARTIAL_HEAD ||
		(partial->listed > 0 && partial->words == 0))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "partial state lists more hashes than it has");
	value = available - BF_PARTIAL_HEAD - list;
	partial->packed = NULL;
	partial->packed_length = 0;
	if (bytes[AT_FORM] != FORM_WHOLE && value > BF_PREFIX_SIZE(1))
	{
		partial->packed = bytes + BF_PARTIAL_HEAD + BF_PREFIX_SIZE(1);
		partial->packed_length = value - BF_PREFIX_SIZE(1);
		value = BF_PREFIX_SIZE(1);
	}
	if (!bf_filter_open(bytes + BF_PARTIAL_HEAD, value,
						bf_load_le64(bytes + AT_LENGTH), filter, error))
		return false;
	if (!is_of_form(partial, bytes[AT_FORM]))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "partial state does not fit its filter");
	partial->hashes = bytes + available - list;
	return true;
}
