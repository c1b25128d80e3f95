/*
 * shard.c
 *	  bf_shard: the one of several filters that an element belongs to.
 *
 * Its number is the CRC-32 of the element's bytes (zlib's, available in any
 * language) modulo the number of filters, in SQL and in Redis.
 *
 * bf_shard is independent of the strategy, so it uses the bytes of strategy
 * guava: text as UTF-8, and integers of every type as bigint, so that values
 * that are equal in SQL are in the same shard.  In Redis the bytes are those
 * of the filter's own strategy, whatever its funnel.  This cannot change, as
 * existing filters must remain readable.
 *
 * Strategies that hash integers as decimal text, or text as UTF-16, thus have
 * other shards in Redis than in SQL.  Their filters can neither be mirrored
 * nor fetched as shards, unless they contain bytes.  A bf_shard with the
 * strategy as a parameter would be no better: a filter does not record by
 * which form its elements were distributed, and the wrong one would cause
 * false negatives.
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
shard_checksum(const uint8 *data, Size length)
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

/* The funnel whose bytes determine the shard of a strategy's elements. */
static BfFunnel
shard_funnel(const BfStrategy *strategy, BfKind kind)
{
	BfFunnel	funnel = strategy->funnels[kind];

	return funnel == BF_FUNNEL_INT ? BF_FUNNEL_LONG : funnel;
}

/* The number, from 0 on, of an element's shard. */
int
bf_shard_find(const BfStrategy *strategy, const BfElementType *element,
			  Datum value, int shards)
{
	BfElementBytes bytes;
	uint32		crc;

	/* Raises if the strategy does not support the element. */
	(void) bf_element_bind(strategy, BF_FUNNEL_UNBOUND, element);
	(void) bf_element_bytes(strategy, shard_funnel(strategy, element->kind),
							element, value, &bytes);
	crc = shard_checksum(bytes.data, bytes.length);
	if (bytes.made != NULL)
		pfree(bytes.made);
	return crc % shards;
}

/*
 * Whether bf_shard returns the shard of every element that a filter of a
 * strategy and funnel can contain.  False for a guava filter of UTF-16, as it
 * does so only in SQL, not for other programs, which have such text.
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

/* Whether a clause is bf_shard(..., shards) = number, with constants. */
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
