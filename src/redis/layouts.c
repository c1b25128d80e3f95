/*
 * layouts.c
 *	  What the layouts in layout_table.c have in common, and the hashes next to
 *	  their strings.
 *
 * guava: one string, the bytes of Guava's writeTo, which Java reads with one
 * GET.  The string has its full length from the start: readFrom fails on a
 * shorter one.  The stream does not record the funnel, so a Redis hash next
 * to the key does, if the funnel is known.
 *
 * growing: the growing filter of tale2009's RedisBloomFilter, a string for
 * each layer and a cursor.  Layers are KEY-0, KEY-1, ... in SETBIT's order,
 * each of its full length; KEY-cursor is the number of the newest.  The
 * original's clients take "KEY-" and the cursor's key as parameters and know
 * m and k; the hash KEY-config records these, and more, for everybody else.
 * In the original all layers are alike (expansion 1).  With another expansion
 * they follow from the first layer by a rule, so the hash need not list them.
 * Our hash also has a lower bound of the number of layers.  This field marks
 * the filter as ours, and we always write a cursor: so if the field is there
 * and the cursor is not, the cursor was lost.  Only in a filter that the
 * original's clients made does a missing cursor mean 0.
 *
 * redisson: the bit string of RBloomFilter, and a hash with m and k.
 * Redisson's scripts compare the hash's fields as text, so numbers are
 * canonical decimals. falseProbability is written as Redisson does since
 * 3.30.0, by Java's Double.toString ("1.0E-5"); earlier versions write plain
 * decimals ("0.000010"), and all versions read both.  Redisson does not
 * allocate the string in advance: if only the hash exists, the filter is
 * empty.  But if our own note records that a bit was set, a missing string
 * was lost.  Elements are what its codecs make of them; see
 * strategy/redisson.c.
 *
 * bitmap: one bare bit string in SETBIT's order, for readers who know m and
 * k.  The string does not describe itself, so a small hash next to it does,
 * for our own use.  Other programs need neither read nor write the hash:
 * bf_fetch with parameters also reads a string without one.
 *
 * redisbloom: a key of RedisBloom's own type, which BF.EXISTS reads from any
 * client.
 *
 * window: a filter for each slice of time, a bit of words that they share; the
 * hash describes it, and names its pieces.  See driver_window.c.
 *
 * The Redis hash that notes the kind of the elements has the same fields in
 * all layouts.  Field "funnel" is empty until the first element is added.
 * Field "elements", their meaning in SQL, is empty until then if the funnel
 * was given.  A field whose value is not known is missing.  Field "whole"
 * exists only if the filter was mirrored as a shard: see shards.c.  Filters
 * that services make have no note, and a note can be lost, or left over from
 * an earlier filter: so nothing is concluded from a note alone that would do
 * harm if it were wrong.  In growing, bitmap and window the same hash also
 * describes the filter, so there it has to be right.
 *
 * Keys are built so that all keys of a filter fall into one slot of a cluster
 * wherever the original of the layout allows that: by a part in braces.  The
 * keys of growing do so only if KEY itself has such a part.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "utils/builtins.h"

#include "redis/layouts.h"
#include "type/arguments.h"
#include "type/element_type.h"
#include "type/shard.h"
#include "type/value.h"

/* Read a canonical decimal within a range. */
bool
bf_read_number(const char *text, uint64_t least, uint64_t most,
			   uint64_t *number)
{
	size_t		length = text ? strlen(text) : 0;

	if (length == 0 || length > 18 ||
		strspn(text, "0123456789") != length ||
		(text[0] == '0' && length > 1))
		return false;
	*number = strtoull(text, NULL, 10);
	return *number >= least && *number <= most;
}

/* Read a probability, "1.0E-5" or "0.000010". */
static bool
read_rate(const char *text, double *rate)
{
	char	   *end;
	double		value;

	if (text == NULL || strspn(text, "0123456789.eE+-") != strlen(text))
		return false;
	value = strtod(text, &end);
	if (end == text || *end != '\0' || !(value > 0 && value < 1))
		return false;
	*rate = value;
	return true;
}

/* ---- Hashes: of other implementations and of our own ---- */

/* The fields of a layer, those of all hashes of our own, and some others. */
enum
{
	BITS,
	HASHES,
	EXPECTED,
	FPP,
	STRATEGY,
	FUNNEL,
	ELEMENTS,
	LAYOUT,
	EXPANSION = LAYOUT,			/* of growing */
	WHOLE,						/* the id of the filter that this is a shard
								 * of, and the shard's number */
	WITNESS,					/* see witness.c */
	FILLED,						/* of redisson: its string must exist */
	LAYERS = FILLED,			/* of growing: lower bound of their number */
	WINDOW_ID = FILLED,			/* of window: part of the names of its pieces */
	MIRRORED,					/* the witness is of bits whose kind is
								 * known */
	SLICE_LENGTH = MIRRORED,	/* of window, in ms */
	SLICES,						/* of window */
	NEWEST,						/* slice of window that a piece was turned to */
	TURNED						/* slice that all pieces were turned to */
};

/* The value of a field whose existence is what matters. */
static char yes[] = "1";

/* Write m and k; and n and p, which are empty if unknown. */
static void
write_layer(const BfPlan *plan, char **values)
{
	bool		sized = plan->header.fpp != 0;

	values[BITS] = psprintf(UINT64_FORMAT, plan->first.bits);
	values[HASHES] = psprintf("%u", plan->first.hashes);
	values[EXPECTED] = sized ?
		psprintf(UINT64_FORMAT, plan->header.expected) : pstrdup("");
	values[FPP] = sized ? psprintf("%.17g", plan->header.fpp) : pstrdup("");
}

/*
 * Read m and k; and both n and p or, if one is unknown or both do not fit that
 * number of bits, neither.
 */
static bool
read_layer(char *const *values, BfPlan *plan)
{
	uint64		m;
	uint64		k;
	uint64		n;
	double		p;

	if (!bf_read_number(values[BITS], 1, BF_REDIS_MAX_BYTES * 8, &m) ||
		!bf_read_number(values[HASHES], 1, BF_MAX_HASHES, &k))
		return false;
	plan->first = (BfLayer) {.bits = m,.hashes = (uint32) k};
	if (bf_read_number(values[EXPECTED], 0, INT64_MAX, &n) &&
		read_rate(values[FPP], &p) && bf_sizing_is_valid(n, p, m))
	{
		plan->header.expected = plan->first.expected = n;
		plan->header.fpp = plan->first.fpp = p;
	}
	return true;
}

/* Does a field of ours exist with an unknown value? */
static bool
is_empty(const char *value)
{
	return value != NULL && value[0] == '\0';
}

/* Write the parameters and the layout of a filter into fields of ours. */
static void
write_shape(const BfLayout *layout, const BfPlan *plan, char **values)
{
	const BfHeader *header = &plan->header;

	write_layer(plan, values);
	values[STRATEGY] = pstrdup(plan->strategy->name);
	bf_layout_set_kind(values, (BfBinding) {header->funnel, header->meaning});
	if (header->funnel == BF_FUNNEL_UNBOUND)
		values[FUNNEL] = pstrdup("");
	values[LAYOUT] = pstrdup(layout->name);
}

/* Read what bf_layout_set_kind() wrote; false if it is unknown here. */
static bool
read_kind(char *const *values, BfPlan *plan)
{
	const char *funnel = values[FUNNEL];
	BfFunnel	bound = BF_FUNNEL_UNBOUND;
	BfMeaning	meaning = BF_MEANING_UNKNOWN;

	if (funnel != NULL && !is_empty(funnel) &&
		(!bf_funnel_by_name(funnel, &bound) ||
		 !bf_strategy_takes_funnel(plan->strategy, bound)))
		return false;
	if (bound != BF_FUNNEL_UNBOUND && values[ELEMENTS] != NULL)
	{
		if (is_empty(values[ELEMENTS]))
			meaning = BF_MEANING_OPEN;
		else if (!bf_meaning_by_name(values[ELEMENTS], &meaning))
			return false;
	}
	plan->header.funnel = bound;
	plan->header.meaning = meaning;
	return true;
}

/* Read what write_shape() wrote: a plan of one layer. */
static bool
read_shape(char *const *values, BfPlan *plan, BfError *error)
{
	plan->strategy = values[STRATEGY] ?
		bf_strategy_by_name(values[STRATEGY]) : NULL;
	if (plan->strategy == NULL || !read_kind(values, plan))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "unknown strategy, funnel or elements");
	plan->header.strategy = plan->strategy->id;
	if (!read_layer(values, plan) ||
		(plan->header.fpp == 0 &&
		 !(is_empty(values[EXPECTED]) && is_empty(values[FPP]))))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "invalid bits, hashes, expected or fpp");
	return bf_strategy_accepts(plan->strategy, plan->first.bits,
							   plan->first.hashes, error);
}

/* ---- growing ---- */

/* Write the parameters of a filter, and how it grows. */
static void
write_growing(const BfLayout *layout, const BfPlan *plan, char **values)
{
	write_shape(layout, plan, values);
	values[EXPANSION] = psprintf("%u", plan->header.expansion);
	bf_layout_set_layers(values, plan->header.layers);
}

/*
 * Read the fields, and size the first layer, which is smaller than n and p
 * imply unless layers are just repeated.
 */
static bool
read_growing(char *const *values, BfPlan *plan, BfError *error)
{
	BfHeader   *header = &plan->header;
	BfLayer    *first = &plan->first;
	uint64		expansion;
	BfPlan		sized;

	if (!read_shape(values, plan, error))
		return false;
	Assert(plan->strategy != NULL);
	if (plan->strategy->counts_elements)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "its strategy grows in another way");
	if (!bf_read_number(values[EXPANSION], 1, BF_MAX_EXPANSION, &expansion))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "invalid expansion");
	header->expansion = (uint32) expansion;
	if (header->fpp == 0)
	{
		if (expansion == 1)
			return true;
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "expansion %u without expected and fpp",
					   header->expansion);
	}
	if (!bf_plan_sized(plan->strategy, (int64) header->expected, header->fpp,
					   BF_FUNNEL_UNBOUND, (int32) expansion, &sized, error))
		return false;
	if (expansion > 1 &&
		(sized.first.bits != first->bits ||
		 sized.first.hashes != first->hashes))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "bits and hashes do not follow from expected and fpp");
	first->expected = sized.first.expected;
	first->fpp = sized.first.fpp;
	return true;
}

/* ---- redisson ---- */

/*
 * Format a double in (0,1) like Java's Double.toString: as a decimal from
 * 0.001 on, else as d.dddE-n.  PostgreSQL uses decimals from 0.0001 on.
 */
static char *
java_double(double value)
{
	char		digits[DOUBLE_SHORTEST_DECIMAL_LEN];
	char	   *e;

	double_to_shortest_decimal_buf(value, digits);
	if (value >= 1e-3)
		return pstrdup(digits);
	e = strchr(digits, 'e');
	if (e == NULL)
		return psprintf("%c.%sE-4", digits[5], digits[6] ? digits + 6 : "0");
	*e = '\0';
	return psprintf("%c.%sE%d", digits[0], digits[1] ? digits + 2 : "0",
					atoi(e + 1));
}

/*
 * If n and p are unknown, write the best ones for m and k: Redisson uses only
 * m and k, but expects numbers.
 */
static void
write_redisson(const BfLayout *layout, const BfPlan *plan, char **values)
{
	const BfLayer *layer = &plan->first;
	double		expected = (double) layer->bits * M_LN2 / layer->hashes;
	bool		sized = plan->header.fpp != 0;

	write_layer(plan, values);
	if (!sized)
		values[EXPECTED] = psprintf(UINT64_FORMAT, (uint64) Max(expected, 1));
	values[FPP] = java_double(sized ? plan->header.fpp :
							  pow(0.5, layer->hashes));
}

/* n and p are used if they make sense: Redisson itself ignores them. */
static bool
read_redisson(char *const *values, BfPlan *plan, BfError *error)
{
	plan->strategy = &bf_redisson;
	plan->header.strategy = bf_redisson.id;
	if (!read_layer(values, plan))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "invalid size or hashIterations");
	return bf_strategy_accepts(&bf_redisson, plan->first.bits,
							   plan->first.hashes, error);
}

/* ---- window ---- */

/* The most ms of a slice, and slices since 1970. */
#define MAX_SLICE	INT64CONST(1000000000000000)

/* Write the parameters of a slice, and a name for its pieces. */
static void
write_window(const BfLayout *layout, const BfPlan *plan, char **values)
{
	write_shape(layout, plan, values);
	values[WINDOW_ID] = bf_random_name();
}

/* Read what write_window(), bf_layout_set_window() and scripts wrote. */
static bool
read_window(char *const *values, BfPlan *plan, BfError *error)
{
	uint64		number;

	if (!read_shape(values, plan, error))
		return false;
	if (plan->first.bits > (uint64) BF_WINDOW_WORDS * BF_WINDOW_PIECES ||
		values[WINDOW_ID] == NULL ||
		!bf_read_number(values[SLICE_LENGTH], BF_WINDOW_SHORTEST, MAX_SLICE, &number) ||
		!bf_read_number(values[SLICES], 1, BF_WINDOW_SLICES, &number) ||
		!bf_read_number(values[NEWEST], 0, MAX_SLICE, &number) ||
		!bf_read_number(values[TURNED], 0, number, &number))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "invalid id, slice, slices, newest or turned");
	return true;
}

#define OWN_FIELDS \
	"bits", "hashes", "expected", "fpp", "strategy", "funnel", "elements"

/*
 * The hash that notes the kind of elements, and describes a bare bit string.
 */
const BfHashShape bf_own_hash = {
	.suffix = ":bloomext",
	.fields = {OWN_FIELDS, "layout", "whole", "witness", "filled", "mirrored"},
	.guards = WITNESS + 1,
	.write = write_shape,
	.read = read_shape
};

const BfHashShape bf_growing_hash = {
	.suffix = "-config",
	.fields = {OWN_FIELDS, "expansion", "whole", "witness", "layers"},
	.guards = WITNESS + 1,
	.sign = {"strategy", "expansion"},
	.write = write_growing,
	.read = read_growing
};

/* Like bf_own_hash, in the same place, so that a key has only one of them. */
const BfHashShape bf_window_hash = {
	.suffix = ":bloomext",
	.fields = {
		OWN_FIELDS, "layout", "whole", "witness", "id", "slice", "slices",
		"newest", "turned"
	},
	.guards = SLICES + 1,
	.write = write_window,
	.read = read_window
};

const BfHashShape bf_redisson_hash = {
	/* RedissonBloomFilter's suffixName(getRawName(), "config") */
	.suffix = ":config",
	.fields = {
		"size", "hashIterations", "expectedInsertions", "falseProbability"
	},
	.guards = HASHES + 1,
	.sign = {"size", "hashIterations"},
	.write = write_redisson,
	.read = read_redisson
};

/* ---- What they have in common ---- */

/* Refuse parameters for a filter in a layout that describes itself. */
void
bf_layout_check_bare(const BfLayout *layout)
{
	if (!layout->bare)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layout \"%s\" does not accept expected, fpp and strategy", layout->name),
				 errhint("Omit expected, fpp and strategy.")));
}

/* Refuse a filter that is to grow in a layout that does not support it. */
void
bf_layout_check_growth(const BfLayout *layout, const BfPlan *plan)
{
	if (plan->header.expansion > 0 && !layout->grows)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layout \"%s\" does not support filters that grow", layout->name),
				 errhint("Use layout \"growing\" or expansion 0.")));
}

/* Raise an error unless a layout has windows of time, and only a window has it. */
void
bf_layout_check_window(const BfLayout *layout, int slices)
{
	if (slices > 0 && !layout->window)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layout \"%s\" does not support windows of time", layout->name),
				 errhint("Use layout \"window\", or omit span.")));
	if (slices == 0 && layout->window)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layout \"%s\" requires a span", layout->name),
				 errhint("Use span => '30 days', for example.")));
}

/*
 * Refuse a live filter that grows in a layout of one key, even before it has
 * grown: mirroring it would fail some day.
 */
void
bf_layout_check_live(const BfLayout *layout, const BfPlan *plan)
{
	if (plan->header.expansion > 0 && !layout->grows)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("layout \"%s\" does not support live filters that grow",
						layout->name),
				 errhint("Use layout \"growing\", or fix the size of the filter: ALTER INDEX ... SET (expected = N), then REINDEX INDEX CONCURRENTLY.")));
}

/* Number of fields of a hash. */
int
bf_hash_fields(const BfHashShape *shape)
{
	int			count = 0;

	while (shape->fields[count] != NULL)
		count++;
	return count;
}

/* Whether the values of a hash's fields are those of this layout's hash. */
bool
bf_layout_owns(const BfLayout *layout, BfHashRole role, char *const *values)
{
	if (layout->hash[role] == &bf_own_hash || layout->window)
		return values[LAYOUT] != NULL &&
			strcmp(values[LAYOUT], layout->name) == 0;
	/* Other things may have a hash of that name: its fields decide. */
	return values[0] != NULL && values[1] != NULL;
}

/*
 * Write what describes a filter: what precedes the bits in its string, and the
 * values of its hashes' fields.
 */
void
bf_layout_write(const BfLayout *layout, const BfPlan *plan, uint8_t *head,
				BfRemoteHash *hash)
{
	BfFilter	filter = {.plan = *plan};

	if (layout->stream != NULL)
		layout->stream->write_head(&filter, head);
	for (int role = 0; role < BF_HASHES; role++)
	{
		hash[role].there = layout->hash[role] != NULL;
		if (hash[role].there)
			layout->hash[role]->write(layout, plan, hash[role].values);
	}
}

/* The role of the hash that records the kind of the elements. */
BfHashRole
bf_layout_kind_role(const BfLayout *layout)
{
	return layout->hash[BF_NOTE] != NULL ? BF_NOTE : BF_CONFIG;
}

/* Whether a field of a hash of that role records the kind. */
bool
bf_layout_is_kind_field(int field)
{
	return field == FUNNEL || field == ELEMENTS;
}

/* Whether the kind is still open, so that the first element decides it. */
bool
bf_layout_is_unbound(char *const *values)
{
	return is_empty(values[FUNNEL]) || is_empty(values[ELEMENTS]);
}

/* Set the kind; NULL means unknown, an empty value undecided. */
void
bf_layout_set_kind(char **values, BfBinding kind)
{
	values[FUNNEL] = unconstify(char *, bf_funnel_name(kind.funnel));
	values[ELEMENTS] = kind.meaning == BF_MEANING_OPEN ? pstrdup("") :
		unconstify(char *, bf_meaning_name(kind.meaning));
}

/* What is recorded of the filter that this is a shard of, or NULL. */
const char *
bf_layout_whole(char *const *values)
{
	return values[WHOLE];
}

/* Record the filter that this is a shard of, by its id, and the shard's number. */
void
bf_layout_set_whole(char **values, const char *id, int number)
{
	values[WHOLE] = psprintf("%s/%d", id, number);
}

/*
 * Whether what is recorded is that id and number, or, as earlier releases
 * wrote it, the id alone.
 */
bool
bf_layout_is_whole(const char *whole, const char *id, int number)
{
	return strcmp(whole, psprintf("%s/%d", id, number)) == 0 ||
		strcmp(whole, id) == 0;
}

/* The witness of the filter's strings, or NULL. */
char *
bf_layout_witness(char *const *values)
{
	return values[WITNESS];
}

/* Set the witness. */
void
bf_layout_set_witness(char **values, char *witness)
{
	values[WITNESS] = witness;
}

/* Number of the witness's field in a hash, from 1; 0 if it has none. */
int
bf_layout_witness_field(const BfHashShape *shape)
{
	return shape->write == write_redisson ? 0 : WITNESS + 1;
}

/* Whether a bit was set, so that the string must exist. */
bool
bf_layout_is_filled(char *const *values)
{
	return values[FILLED] != NULL;
}

/* Record that a bit was set. */
void
bf_layout_set_filled(char **values)
{
	values[FILLED] = yes;
}

/*
 * Whether the witness was written together with all bits of the string: then
 * the kind recorded is that of these bits, not of a service's.
 */
bool
bf_layout_is_mirrored(char *const *values)
{
	return values[MIRRORED] != NULL;
}

/* Record that the witness was written with all bits. */
void
bf_layout_set_mirrored(char **values)
{
	values[MIRRORED] = yes;
}

/* Set the lower bound of the number of layers. */
void
bf_layout_set_layers(char **values, uint32_t layers)
{
	values[LAYERS] = psprintf("%u", layers);
}

/* Get the lower bound of the number of layers; 0 if not recorded. */
uint32_t
bf_layout_least_layers(char *const *values)
{
	uint64		layers;

	return bf_read_number(values[LAYERS], 1, BF_MAX_LAYERS, &layers) ?
		(uint32) layers : 0;
}

/* The window of time that read_window() has accepted; 0 slices: it is none. */
BfWindow
bf_layout_window(const BfLayout *layout, char *const *values)
{
	if (!layout->window)
		return (BfWindow) {0};
	return (BfWindow) {
		.slices = (int) strtol(values[SLICES], NULL, 10),
		.length = strtoll(values[SLICE_LENGTH], NULL, 10)
	};
}

/* Set the window of time. */
void
bf_layout_set_window(char **values, BfWindow window)
{
	values[SLICES] = psprintf("%d", window.slices);
	values[SLICE_LENGTH] = psprintf(INT64_FORMAT, (int64) window.length);
}

/* What distinguishes the names of a window's pieces; NULL: it is none. */
const char *
bf_layout_window_id(const BfLayout *layout, char *const *values)
{
	return layout->window ? values[WINDOW_ID] : NULL;
}

/* Number of strings of a filter: layers, or pieces of a window. */
uint32_t
bf_layout_strings(const BfLayout *layout, const BfPlan *plan)
{
	return layout->window ?
		(uint32) ((plan->first.bits - 1) / BF_WINDOW_WORDS + 1) :
		Max(plan->header.layers, 1);
}

/* Number of bytes before the bits of a string. */
uint32_t
bf_layout_head(const BfLayout *layout)
{
	return layout->stream ? layout->stream->head_size : 0;
}

/* The order of the bits of a string. */
BfBitOrder
bf_layout_order(const BfLayout *layout)
{
	return layout->stream ? layout->stream->order : BF_ORDER_REDIS;
}

/* The length of a layer's string. */
uint64_t
bf_layout_bytes(const BfLayout *layout, const BfLayer *layer)
{
	return bf_layout_head(layout) + (layer->bits + 7) / 8;
}

/*
 * Whether a string that nothing describes may be a filter, by its length:
 * exactly that of one whose hash is gone or never existed.
 */
bool
bf_layout_is_bare(const BfLayout *layout, const BfPlan *plan, int64_t bytes)
{
	return layout->bare &&
		bytes == (int64_t) bf_layout_bytes(layout, &plan->first);
}

/* The length of a layer's string with these bits. */
uint64_t
bf_layout_used_bytes(const BfLayout *layout, const BfLayer *layer,
					 const uint8_t *bits)
{
	return layout->trimmed ? bf_bits_end(bits, layer->bytes) :
		bf_layout_bytes(layout, layer);
}

/* Convert positions in a layer to offsets for SETBIT and GETBIT. */
void
bf_layout_offsets(const BfLayout *layout, uint64_t *positions, uint32_t count)
{
	uint64		head = bf_layout_head(layout) * 8;
	uint64		flip = bf_layout_order(layout) == BF_ORDER_STORED ? 63 : 0;

	for (uint32 i = 0; i < count; i++)
		positions[i] = head + (positions[i] ^ flip);
}

/*
 * Append a suffix to the key of a filter.  If the suffix starts with a colon,
 * this is done as in Redisson, so that the result is in the same slot.
 */
char *
bf_suffixed_key(const char *key, const char *suffix)
{
	return psprintf(suffix[0] == ':' && strchr(key, '{') == NULL ?
					"{%s}%s" : "%s%s", key, suffix);
}

/* The key of a shard. */
char *
bf_shard_key(const char *key, int shard)
{
	return psprintf("%s:%d", key, shard);
}

/* Make a unique name. */
char *
bf_random_name(void)
{
	uint64		random;

	if (!pg_strong_random(&random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	return psprintf("%016llx", (unsigned long long) random);
}

/* Make a unique key to write a layer to before it is put in place. */
char *
bf_temporary_key(const char *key, uint32_t number)
{
	return bf_suffixed_key(key, psprintf(":bloomext-tmp-%s-%u",
										 bf_random_name(), number));
}
