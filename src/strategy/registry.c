/*
 * registry.c
 *	  The strategies and funnels by id and by name.
 */
#include <string.h>

#include "strategy/strategy.h"

static const BfStrategy *const strategies[] = {
	&bf_guava,
	&bf_guava32,
	&bf_redisson,
	&bf_magnuss,
	&bf_tale2009,
	&bf_cassandra,
	&bf_redisbloom,
	&bf_spark1,
	&bf_spark2,
	&bf_bitsandblooms,
	&bf_parquet
};

#define STRATEGIES	(sizeof(strategies) / sizeof(strategies[0]))

static const char *const funnel_names[] = {
	[BF_FUNNEL_UTF8] = "utf8",
	[BF_FUNNEL_UTF16] = "utf16",
	[BF_FUNNEL_BYTES] = "bytes",
	[BF_FUNNEL_INT] = "int",
	[BF_FUNNEL_LONG] = "long"
};

/* The strategy at an index, or NULL after the last: for listing them. */
const BfStrategy *
bf_strategy_at(size_t index)
{
	return index < STRATEGIES ? strategies[index] : NULL;
}

/* Find a strategy by its id in a value; NULL if unknown. */
const BfStrategy *
bf_strategy_by_id(uint8_t id)
{
	for (size_t i = 0; i < STRATEGIES; i++)
	{
		if (strategies[i]->id == id)
			return strategies[i];
	}
	return NULL;
}

/* Find a strategy by name; NULL if unknown. */
const BfStrategy *
bf_strategy_by_name(const char *name)
{
	for (size_t i = 0; i < STRATEGIES; i++)
	{
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	}
	return NULL;
}

/* The first self-describing stream with a format's name. */
const BfStream *
bf_stream_by_name(const char *name)
{
	for (size_t i = 0; i < STRATEGIES; i++)
	{
		const BfStream *stream = strategies[i]->stream;

		if (stream != NULL && strcmp(stream->name, name) == 0)
			return stream;
	}
	return NULL;
}

/* Whether a strategy's filter may be bound to a funnel. */
bool
bf_strategy_takes_funnel(const BfStrategy *strategy, BfFunnel funnel)
{
	if (strategy->other_funnels & (UINT32_C(1) << funnel))
		return true;
	for (int kind = 0; kind < BF_KINDS; kind++)
	{
		if (strategy->funnels[kind] == funnel)
			return true;
	}
	return false;
}

/* The name of a funnel; NULL for the unbound one. */
const char *
bf_funnel_name(BfFunnel funnel)
{
	return funnel_names[funnel];
}

/* Find a funnel by name; false if unknown. */
bool
bf_funnel_by_name(const char *name, BfFunnel *funnel)
{
	for (int i = BF_FUNNEL_UNBOUND + 1; i <= BF_FUNNEL_LAST; i++)
	{
		if (strcmp(funnel_names[i], name) == 0)
		{
			*funnel = (BfFunnel) i;
			return true;
		}
	}
	return false;
}

/* What elements of a meaning are in SQL; NULL if unknown. */
const char *
bf_meaning_name(BfMeaning meaning)
{
	static const char *const names[] = {
		[BF_MEANING_DATE] = "date",
		[BF_MEANING_TIMESTAMP] = "timestamp",
		[BF_MEANING_TIMESTAMPTZ] = "timestamptz",
		[BF_MEANING_OID] = "oid",
		[BF_MEANING_BOOLEAN] = "boolean",
		[BF_MEANING_CHAR] = "\"char\"",
		[BF_MEANING_INET] = "inet",
		[BF_MEANING_MACADDR] = "macaddr",
		[BF_MEANING_TEXT] = "text",
		[BF_MEANING_BPCHAR] = "char(n)",
		[BF_MEANING_BYTEA] = "bytea",
		[BF_MEANING_UUID] = "uuid",
		[BF_MEANING_INTEGER] = "integer",
		[BF_MEANING_OPEN] = NULL
	};

	return names[meaning];
}

/* Find a meaning by name; false if there is none. */
bool
bf_meaning_by_name(const char *name, BfMeaning *meaning)
{
	for (*meaning = BF_MEANING_UNKNOWN + 1; *meaning < BF_MEANING_OPEN; ++*meaning)
	{
		if (strcmp(bf_meaning_name(*meaning), name) == 0)
			return true;
	}
	return false;
}
