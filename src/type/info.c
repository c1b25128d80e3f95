/*
 * info.c
 *	  Properties of a filter, and its fill.
 *
 * Functions that depend on the fill count all bits; bf_positions reads only
 * the prefix of a stored filter.  Estimates need only an approximate fill,
 * from the first two million bits, divided among the layers.  As elements set
 * bits all over a layer, it is within a percent unless the filter is nearly
 * empty.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "type/arguments.h"
#include "type/element_hash.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_count);
PG_FUNCTION_INFO_V1(bloomext_fpp);
PG_FUNCTION_INFO_V1(bloomext_info);
PG_FUNCTION_INFO_V1(bloomext_layers);
PG_FUNCTION_INFO_V1(bloomext_positions);

/* Bytes of a filter that are sampled. */
#define SAMPLE_BYTES	((uint64) 256 * 1024)

/* The fill of a filter, over all its layers. */
BfFill
bf_value_fill(const BfFilter *filter)
{
	BfFill		fill = {0};

	bf_foreach_layer(layer, filter)
		bf_fill_measure(&fill, filter, &layer);
	return fill;
}

/* bf_count(bloomfilter): Guava's approximateElementCount */
Datum
bloomext_count(PG_FUNCTION_ARGS)
{
	BfFilter	filter;

	bf_value_open(PG_GETARG_DATUM(0), &filter);
	PG_RETURN_INT64(bf_value_fill(&filter).count);
}

/* The false positive probability of a filter at its present fill. */
double
bf_value_fpp(const BfFilter *filter)
{
	return bf_value_fill(filter).fpp;
}

/* The approximate fill of a filter: its layers share the sample's size. */
BfFill
bf_value_sample(const BfFilter *filter)
{
	uint64		share = TYPEALIGN_DOWN(8, SAMPLE_BYTES / filter->plan.header.layers);
	BfFill		fill = {0};

	bf_foreach_layer(layer, filter)
		bf_fill_sample(&fill, filter, &layer, filter->bytes + layer.offset,
					   Min(layer.bytes, share));
	return fill;
}

/* bf_fpp(bloomfilter): Guava's expectedFpp */
Datum
bloomext_fpp(PG_FUNCTION_ARGS)
{
	BfFilter	filter;

	bf_value_open(PG_GETARG_DATUM(0), &filter);
	PG_RETURN_FLOAT8(bf_value_fpp(&filter));
}

/* bf_info(bloomfilter): all properties; unknown n and p are NULL */
Datum
bloomext_info(PG_FUNCTION_ARGS)
{
	BfFilter	filter;
	const BfHeader *header = &filter.plan.header;
	const char *funnel;
	const char *elements;
	BfFill		fill;
	Datum		values[15];
	bool		nulls[15] = {false};

	bf_value_open(PG_GETARG_DATUM(0), &filter);
	fill = bf_value_fill(&filter);
	funnel = bf_funnel_name(header->funnel);
	elements = bf_meaning_name((BfMeaning) header->meaning);

	values[0] = CStringGetTextDatum(filter.plan.strategy->name);
	nulls[1] = funnel == NULL;
	values[1] = funnel ? CStringGetTextDatum(funnel) : (Datum) 0;
	nulls[2] = nulls[3] = header->fpp == 0;
	values[2] = Int64GetDatum((int64) header->expected);
	values[3] = Float8GetDatum(header->fpp);
	values[4] = Int32GetDatum(filter.plan.first.hashes);
	values[5] = Int64GetDatum((int64) fill.bits);
	values[6] = Int64GetDatum((int64) fill.bits_set);
	values[7] = Float8GetDatum((double) fill.bits_set / (double) fill.bits);
	values[8] = Int32GetDatum(header->layers);
	values[9] = Int32GetDatum(header->expansion);
	values[10] = BoolGetDatum(header->cell_bits == BF_CELL_COUNTER);
	values[11] = Int64GetDatum(fill.count);
	values[12] = Float8GetDatum(fill.fpp);
	values[13] = Int64GetDatum((int64) filter.length);
	nulls[14] = elements == NULL;
	values[14] = elements ? CStringGetTextDatum(elements) : (Datum) 0;
	return bf_row(fcinfo, values, nulls, lengthof(values));
}

/* The state of bf_layers between rows, without the filter. */
typedef struct LayerRow
{
	BfLayer		layer;
	uint64		bits_set;
} LayerRow;

/* Measure all layers of a filter. */
static LayerRow *
measure_layers(Datum datum, uint64 *count)
{
	struct varlena *opened;
	BfFilter	filter;
	LayerRow   *rows;

	opened = bf_value_open(datum, &filter);
	rows = palloc(filter.plan.header.layers * sizeof(LayerRow));
	bf_foreach_layer(layer, &filter)
		rows[layer.index] = (LayerRow) {layer, bf_layer_count(&filter, &layer)};
	*count = filter.plan.header.layers;
	if (opened != (struct varlena *) DatumGetPointer(datum))
		pfree(opened);
	return rows;
}

/* bf_layers(bloomfilter): a row for each layer, oldest first */
Datum
bloomext_layers(PG_FUNCTION_ARGS)
{
	FuncCallContext *calls;
	const LayerRow *row;
	Datum		values[6];
	bool		nulls[6] = {false};

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		calls = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(calls->multi_call_memory_ctx);
		calls->user_fctx = measure_layers(PG_GETARG_DATUM(0), &calls->max_calls);
		calls->tuple_desc = bf_row_type(fcinfo, lengthof(values));
		MemoryContextSwitchTo(old);
	}
	calls = SRF_PERCALL_SETUP();
	if (calls->call_cntr >= calls->max_calls)
		SRF_RETURN_DONE(calls);

	row = (const LayerRow *) calls->user_fctx + calls->call_cntr;
	values[0] = Int32GetDatum((int32) calls->call_cntr);
	values[1] = Int64GetDatum((int64) row->layer.bits);
	values[2] = Int32GetDatum(row->layer.hashes);
	values[3] = Int64GetDatum((int64) row->bits_set);
	nulls[4] = nulls[5] = row->layer.fpp == 0;
	values[4] = Int64GetDatum((int64) row->layer.expected);
	values[5] = Float8GetDatum(row->layer.fpp);
	SRF_RETURN_NEXT(calls, HeapTupleGetDatum(heap_form_tuple(calls->tuple_desc,
															 values, nulls)));
}

/*
 * bf_positions(bloomfilter, element): the positions in the first layer, in
 * order of derivation; NULL for an integer that the filter cannot contain.
 */
Datum
bloomext_positions(PG_FUNCTION_ARGS)
{
	BfCall	   *call = bf_call(fcinfo, 0, 1, false);
	const BfFilter *filter = call->probe.filter;
	uint32		hashes = filter->plan.first.hashes;
	uint64		positions[BF_MAX_HASHES];
	Datum		values[BF_MAX_HASHES];
	BfHash		hash;

	if (!bf_call_hash(call, PG_GETARG_DATUM(1), &hash))
		PG_RETURN_NULL();
	bf_hash_reach(filter->plan.strategy, &hash, hashes);
	filter->plan.strategy->positions(&hash, filter->plan.first.bits, 0, hashes,
								positions);
	for (uint32 i = 0; i < hashes; i++)
		values[i] = Int64GetDatum((int64) positions[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(values, hashes, INT8OID,
										  sizeof(int64), FLOAT8PASSBYVAL,
										  TYPALIGN_DOUBLE));
}
