/*
 * layout_redisson.c
 *	  Redisson's RBloomFilter: a bit string, and a hash that says m and k.
 *
 * The hash is {KEY}:config, or KEY:config where KEY has a brace anywhere.  Its
 * fields are compared as text by Redisson's scripts, so numbers are canonical
 * decimals.  falseProbability is written as Redisson does since 3.30.0, by
 * Java's Double.toString ("1.0E-5"); earlier ones write plain decimals
 * ("0.000010"), and both are read by all.
 *
 * Redisson sizes nothing in advance: the string ends with the highest bit set
 * and is not there while there is none.  What is missing is an empty filter if
 * the hash is there.
 *
 * Elements are what StringCodec, LongCodec or IntegerCodec make of them, or
 * ByteArrayCodec; see redisson.c.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"

#include "redis/layout.h"

enum
{
	SIZE,
	ITERATIONS,
	EXPECTED,
	PROBABILITY
};

static bool
accept(const BfHeader *header, const BfLayer *layers, BfError *error)
{
	if (header->strategy != bf_redisson.id)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "layout \"redisson\" holds filters of strategy \"redisson\", not of \"%s\"",
					   bf_strategy_by_id(header->strategy)->name);
	return true;
}

static char *
layer_key(const char *key, uint32_t layer)
{
	return pstrdup(key);
}

/* RedissonBloomFilter's suffixName(getRawName(), "config") */
static char *
config_key(const char *key)
{
	return psprintf(strchr(key, '{') ? "%s:config" : "{%s}:config", key);
}

/*
 * A double of (0,1) as Java's Double.toString writes it: from 0.001 on as a
 * decimal, below as d.dddE-n.
 */
static char *
java_double(double value)
{
	char		shortest[DOUBLE_SHORTEST_DECIMAL_LEN];
	char		digits[DOUBLE_SHORTEST_DECIMAL_LEN];
	int			count = 0;
	int			exponent = (int) floor(log10(value));
	char	   *e;

	double_to_shortest_decimal_buf(value, shortest);
	e = strchr(shortest, 'e');
	for (const char *c = shortest; c != e && *c != '\0'; c++)
	{
		if (*c >= '0' && *c <= '9' && (count > 0 || *c != '0'))
			digits[count++] = *c;
	}
	digits[count] = '\0';
	if (value >= 1e-3)
		return psprintf("0.%.*s%s", -exponent - 1, "00", digits);
	/* The library's exponent is exact where the logarithm's may not be. */
	if (e != NULL)
		exponent = atoi(e + 1);
	return psprintf("%c.%sE%d", digits[0], count > 1 ? digits + 1 : "0",
					exponent);
}

/*
 * Where n and p are not known, what m and k would be best for: Redisson reads
 * only m and k, but wants numbers.
 */
static void
write_config(const BfHeader *header, const BfLayer *layers, char **values)
{
	double		expected = (double) layers->bits * M_LN2 / layers->hashes;
	bool		sized = header->fpp != 0;

	values[SIZE] = psprintf("%llu", (unsigned long long) layers->bits);
	values[ITERATIONS] = psprintf("%u", layers->hashes);
	values[EXPECTED] = psprintf("%llu", sized ?
								(unsigned long long) header->expected :
								(unsigned long long) Max(expected, 1));
	values[PROBABILITY] = java_double(sized ? header->fpp :
									  pow(0.5, layers->hashes));
}

/* n and p are taken where they make sense: Redisson itself ignores them. */
static bool
read_config(char *const *values, BfHeader *header, BfLayer *first,
			BfError *error)
{
	BfLayer		shape;

	if (!bf_read_number(values[SIZE], &shape.bits) ||
		!bf_read_hashes(values[ITERATIONS], &shape.hashes))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "invalid size or hashIterations in Redis");
	header->strategy = bf_redisson.id;
	header->funnel = BF_FUNNEL_UNBOUND;
	(void) bf_read_sizing(values[EXPECTED], values[PROBABILITY], shape.bits,
						  header);
	*first = (BfLayer) {
		.bits = shape.bits,
		.hashes = shape.hashes,
		.expected = header->expected,
		.fpp = header->fpp
	};
	return bf_strategy_accepts(&bf_redisson, shape.bits, error);
}

const BfLayout bf_layout_redisson = {
	.name = "redisson",
	.default_for = 1 << BF_STRATEGY_REDISSON,
	.accept = accept,
	.layer_key = layer_key,
	.config_key = config_key,
	.fields = {
		[SIZE] = {"size", true},
		[ITERATIONS] = {"hashIterations", true},
		[EXPECTED] = {"expectedInsertions", false},
		[PROBABILITY] = {"falseProbability", false}
	},
	.write_config = write_config,
	.read_config = read_config
};
