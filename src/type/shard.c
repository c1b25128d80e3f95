/*
 * shard.c
 *	  bf_shard: in which of several filters an element is.
 *
 * That is the CRC-32 of its bytes (zlib's, as any language has it) modulo the
 * number of filters, in SQL and in Redis.
 *
 * bf_shard knows of no strategy, so it takes the bytes that strategy guava has:
 * text as UTF-8, and integers of every type as those of the bigint, so that what
 * SQL calls equal is in one shard.  In Redis the bytes are those of the filter's
 * own strategy, whatever its funnel, and stay so, as filters that are there are
 * read for ever.  Strategies that hash integers as decimal text, or text as
 * UTF-16, have other shards there: their filters are not mirrored as shards, nor
 * fetched as such, unless they hold bytes.  A bf_shard that is told the strategy
 * would be no better: a filter does not say by which form its elements were
 * chosen, and the wrong one is a "no" for what is there.
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/pg_crc.h"

#include "type/element_hash.h"
#include "type/shard.h"

PG_FUNCTION_INFO_V1(bloomext_shard);

/* CRC-32 */
static uint32
checksum(const uint8 *data, Size length)
{
	pg_crc32	crc;

	INIT_TRADITIONAL_CRC32(crc);
	for (Size at = 0; at < length; at += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		COMP_TRADITIONAL_CRC32(crc, data + at, Min(BF_PIECE, length - at));
	}
	FIN_TRADITIONAL_CRC32(crc);
	return crc;
}

/* By which funnel a strategy has the bytes of a kind that shards go by. */
static BfFunnel
shard_funnel(const BfStrategy *strategy, BfKind kind)
{
	BfFunnel	funnel = strategy->funnels[kind];

	return funnel == BF_FUNNEL_INT ? BF_FUNNEL_LONG : funnel;
}

/* The number, from 0 on, of the shard that an element is in. */
int
bf_shard_find(const BfStrategy *strategy, const BfElementType *element,
			  Datum value, int shards)
{
	BfElementBytes bytes;
	uint32		crc;

	/* It raises what the strategy does not take. */
	(void) bf_element_bind(strategy, BF_FUNNEL_UNBOUND, element);
	(void) bf_element_bytes(strategy, shard_funnel(strategy, element->kind),
							element, value, &bytes);
	crc = checksum(bytes.data, bytes.length);
	if (bytes.made != NULL)
		pfree(bytes.made);
	return crc % shards;
}

/*
 * Whether all that a filter of a strategy and funnel can hold is in the shard that
 * bf_shard says.  Of text as UTF-16 a guava filter's is, too, but not for who reads
 * the filter and has such text.
 */
bool
bf_shard_suits(const BfStrategy *strategy, BfFunnel funnel)
{
	for (int kind = 0; kind < BF_KINDS; kind++)
	{
		BfFunnel	own = strategy->funnels[kind];

		if (own != BF_FUNNEL_UNBOUND &&
			(funnel == BF_FUNNEL_UNBOUND || own == funnel) &&
			shard_funnel(strategy, kind) != shard_funnel(&bf_guava, kind))
			return false;
	}
	return funnel != BF_FUNNEL_UTF16;
}

/* Whether a clause is bf_shard(..., shards) = number, of constants. */
bool
bf_shard_is_said(Node *clause, int *shards, int *number)
{
	OpExpr	   *equal = (OpExpr *) clause;
	FuncExpr   *call;
	Node	   *constants[2];
	FmgrInfo	function;

	if (!IsA(clause, OpExpr) || equal->opno != Int4EqualOperator)
		return false;
	call = linitial(equal->args);
	constants[1] = lsecond(equal->args);
	if (IsA(call, Const))
	{
		call = lsecond(equal->args);
		constants[1] = linitial(equal->args);
	}
	if (!IsA(call, FuncExpr) || list_length(call->args) != 2)
		return false;
	constants[0] = lsecond(call->args);
	fmgr_info(call->funcid, &function);
	if (function.fn_addr != bloomext_shard || !IsA(constants[0], Const) ||
		!IsA(constants[1], Const) || ((Const *) constants[0])->constisnull ||
		((Const *) constants[1])->constisnull)
		return false;
	*shards = DatumGetInt32(((Const *) constants[0])->constvalue);
	*number = DatumGetInt32(((Const *) constants[1])->constvalue);
	return true;
}

/* bf_shard(element, shards): 0 to shards - 1 */
Datum
bloomext_shard(PG_FUNCTION_ARGS)
{
	const BfElementType *element = bf_call_site(fcinfo, 0, false,
												sizeof(BfElementType));
	int			shards = PG_GETARG_INT32(1);

	if (shards < 1 || shards > BF_MAX_SHARDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shards must be between 1 and %d", BF_MAX_SHARDS)));
	PG_RETURN_INT32(bf_shard_find(&bf_guava, element, PG_GETARG_DATUM(0),
								  shards));
}
