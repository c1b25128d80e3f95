/*
 * value.h
 *	  Make and open bloomfilter values in the server, and raise errors about
 *	  them.
 */
#ifndef BLOOMEXT_VALUE_H
#define BLOOMEXT_VALUE_H

#include "fmgr.h"
#include "nodes/nodes.h"

#include "compat.h"
#include "strategy/fill.h"

/* The layer for new elements of a filter that grows: see add.c. */
typedef struct BfNewest
{
	bool		known;			/* is the rest filled in? */
	BfLayer		layer;
	uint64		room;			/* bits or elements until the next layer */
} BfNewest;

/* A value under construction: the varlena, its bytes, and a view of them. */
typedef struct BfValue
{
	struct varlena *varlena;
	uint8	   *bytes;
	BfFilter	filter;
	BfNewest	newest;
} BfValue;

pg_noreturn extern void bf_raise(const BfError *error);
pg_noreturn extern void bf_raise_corrupted(const BfError *error);
pg_noreturn extern void bf_raise_format(const BfError *error,
										const uint8 *bytes, Size length);

extern int	bf_fit_length(uint64 length);
extern bool bf_value_fits(BfPlan *plan);

extern void bf_value_plan(const BfStrategy *strategy, int64 expected,
						  double fpp, BfFunnel funnel, int32 expansion,
						  BfPlan *plan);
extern void bf_value_plan_bits(const BfStrategy *strategy, int64 bits,
							   int32 hashes, BfFunnel funnel, BfPlan *plan);
extern void bf_value_make(BfPlan *plan, BfValue *value);
extern void bf_value_make_behind(Size head, BfPlan *plan, BfValue *value);
extern void bf_value_copy_behind(Size head, const BfFilter *filter,
								 BfValue *value);
extern void bf_value_take_off_head(BfValue *value);
extern void *bf_allocate_scattered(MemoryContext context, Size size);
extern struct varlena *bf_value_allocate(MemoryContext context, uint64 length);
extern void bf_value_bind(BfValue *value, BfFunnel funnel, BfMeaning meaning);
extern struct varlena *bf_value_open(Datum datum, BfFilter *filter);
extern bool bf_value_check(const char *bytes, Size length,
						   int malformed_sqlstate, Node *context);
extern bool bf_value_has_text(uint64 length);
extern void bf_value_lacks_text(int level, uint64 length);
extern char *bf_value_write_text(const char *bytes, Size length);
extern struct varlena *bf_value_read_text(const char *text);

extern void bf_value_plain(const BfFilter *counting, BfValue *plain);
extern void bf_value_set_bits(BfValue *value, const BfLayer *layer,
							  BfBitOrder order, const uint8 *bytes,
							  size_t length);
extern void bf_value_of_stream(const BfStream *stream, const uint8 *bytes,
							   Size length, BfValue *value);
extern BfFill bf_value_fill(const BfFilter *filter);
extern double bf_value_fpp(const BfFilter *filter);
extern BfFill bf_value_sample(const BfFilter *filter);

/* The bytes of a value that is in memory. */
#define DatumGetBfBytes(value)	((uint8 *) VARDATA_ANY(value))

#endif							/* BLOOMEXT_VALUE_H */
