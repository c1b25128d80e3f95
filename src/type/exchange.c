/*
 * exchange.c
 *	  bf_export and bf_import: the formats of other systems.
 *
 * There are two kinds of formats: self-describing streams, which a strategy
 * defines (BfStream), and bare bit strings in one of two orders.  A layer of
 * any strategy can be written as a bit string, and read from one if its m and
 * k are given.  Input is copied only after its length was checked against its
 * header.  The resulting value is checked like any other.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "compat.h"
#include "type/arguments.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_export);
PG_FUNCTION_INFO_V1(bloomext_export_layer);
PG_FUNCTION_INFO_V1(bloomext_to_bytea);
PG_FUNCTION_INFO_V1(bloomext_import);
PG_FUNCTION_INFO_V1(bloomext_import_sized);
PG_FUNCTION_INFO_V1(bloomext_import_bits);
PG_FUNCTION_INFO_V1(bloomext_from_bytea);

static const struct
{
	const char *name;
	BfBitOrder	order;
}			bit_strings[] = {
	{"redis", BF_ORDER_REDIS},
	{"bitset", BF_ORDER_BITSET}
};

/* A format: a stream, or else a bit string in an order. */
typedef struct Format
{
	const BfStream *stream;
	BfBitOrder	order;
} Format;

/* Raise that a format is unknown, or not supported by the function. */
static void
refuse_format(const char *name, bool streams, bool strings)
{
	StringInfoData known;
	const BfStrategy *strategy;
	const BfStream *last = NULL;

	initStringInfo(&known);
	for (size_t i = 0; streams && (strategy = bf_strategy_at(i)) != NULL; i++)
	{
		const BfStream *stream = strategy->stream;

		if (stream != NULL &&
			(last == NULL || strcmp(stream->name, last->name) != 0))
			bf_append_name(&known, stream->name);
		last = stream;
	}
	for (int i = 0; strings && i < lengthof(bit_strings); i++)
		bf_append_name(&known, bit_strings[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown bloom filter format \"%s\"", name),
			 errhint("Supported formats are: %s.", known.data)));
}

/* Find a format by name, among streams, bit strings, or both. */
static Format
find_format(text *argument, bool streams, bool strings)
{
	char	   *name = text_to_cstring(argument);
	Format		format = {NULL, BF_ORDER_REDIS};

	if (streams && (format.stream = bf_stream_by_name(name)) != NULL)
		return format;
	for (int i = 0; strings && i < lengthof(bit_strings); i++)
	{
		if (strcmp(bit_strings[i].name, name) == 0)
		{
			format.order = bit_strings[i].order;
			return format;
		}
	}
	refuse_format(name, streams, strings);
	return format;
}

/* The format to export a filter in: an argument, or that of its strategy. */
static Format
export_format(FunctionCallInfo fcinfo, int argument, const BfFilter *filter)
{
	if (PG_ARGISNULL(argument))
		return (Format) {filter->plan.strategy->stream, filter->plan.strategy->order};
	return find_format(PG_GETARG_TEXT_PP(argument), true, true);
}

/* Export a filter as its strategy's stream, which must have the name. */
static bytea *
export_stream(const BfFilter *filter, const char *name)
{
	const BfStream *stream = filter->plan.strategy->stream;
	BfError		error;
	uint64		length;
	int			size;
	bytea	   *result;

	if (stream == NULL || strcmp(stream->name, name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filter of strategy \"%s\" cannot be exported in format \"%s\"",
						filter->plan.strategy->name, name),
				 stream != NULL ?
				 errhint("Use format \"%s\".", stream->name) :
				 errhint("Omit the format, or use \"redis\" or \"bitset\".")));
	if (!stream->measure(filter, &length, &error))
		bf_raise(&error);
	size = bf_fit_length(length);
	result = palloc(size);
	SET_VARSIZE(result, size);
	bf_stream_write(filter, (uint8 *) VARDATA(result));
	return result;
}

/* Export a layer's bits in an order, padded to whole bytes. */
static bytea *
export_bits(const BfFilter *filter, const BfLayer *layer, BfBitOrder order)
{
	size_t		bytes = (layer->bits + 7) / 8;
	bytea	   *result = palloc(bytes + VARHDRSZ);

	SET_VARSIZE(result, bytes + VARHDRSZ);
	bf_bits_to_order(order, filter->bytes + layer->offset,
					 (uint8 *) VARDATA(result), bytes);
	return result;
}

/* Export a filter: as a stream, or the bits of its only layer. */
static bytea *
export_filter(const BfFilter *filter, Format format)
{
	if (format.stream != NULL)
		return export_stream(filter, format.stream->name);
	if (filter->plan.header.layers != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a bit string holds one layer, not %u",
						filter->plan.header.layers),
				 errhint("Use bf_export_layer to export a single layer.")));
	return export_bits(filter, &filter->plan.first, format.order);
}

/* Open a filter for export: a counting one as a plain one. */
static void
open_plain(Datum datum, BfFilter *filter)
{
	bf_value_open(datum, filter);
	if (filter->plan.header.cell_bits == BF_CELL_COUNTER)
	{
		BfValue		plain;

		bf_value_plain(filter, &plain);
		*filter = plain.filter;
	}
}

/* bf_export(bloomfilter, format) */
Datum
bloomext_export(PG_FUNCTION_ARGS)
{
	BfFilter	filter;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	open_plain(PG_GETARG_DATUM(0), &filter);
	PG_RETURN_BYTEA_P(export_filter(&filter,
									export_format(fcinfo, 1, &filter)));
}

/* bf_export_layer(bloomfilter, layer, format): layers count from 0 */
Datum
bloomext_export_layer(PG_FUNCTION_ARGS)
{
	BfFilter	filter;
	BfLayer		layer;
	BfPlan		plan;
	BfValue		alone;
	int32		wanted;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	bf_refuse_null(fcinfo, 1, "layer");
	wanted = PG_GETARG_INT32(1);
	open_plain(PG_GETARG_DATUM(0), &filter);
	if (wanted < 0 || wanted >= (int64) filter.plan.header.layers)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layer %d does not exist", wanted),
				 errdetail("The filter has layers 0 to %u.",
						   filter.plan.header.layers - 1)));
	layer = bf_filter_layer(&filter, wanted);

	/* Write the layer as a filter of one layer. */
	plan = filter.plan;
	plan.header.layers = 1;
	plan.header.expected = layer.expected;
	plan.header.fpp = layer.fpp;
	plan.first = layer;
	bf_value_make(&plan, &alone);
	memcpy(alone.bytes + alone.filter.plan.first.offset,
		   filter.bytes + layer.offset, layer.bytes);
	PG_RETURN_BYTEA_P(export_filter(&alone.filter,
									export_format(fcinfo, 2, &filter)));
}

/* bloomfilter::bytea is bf_export(f, 'guava') */
Datum
bloomext_to_bytea(PG_FUNCTION_ARGS)
{
	BfFilter	filter;

	open_plain(PG_GETARG_DATUM(0), &filter);
	PG_RETURN_BYTEA_P(export_stream(&filter, "guava"));
}

/* Make a value from a stream, bound to a funnel. */
static struct varlena *
import_stream(bytea *data, const BfStream *stream, const char *funnel)
{
	BfValue		value;

	bf_value_of_stream(stream, DatumGetBfBytes(data), VARSIZE_ANY_EXHDR(data),
					   &value);
	bf_value_bind(&value, bf_funnel_named(funnel, value.filter.plan.strategy),
				  BF_MEANING_UNKNOWN);
	return value.varlena;
}

/* bf_import(data, format, funnel): formats that describe themselves */
Datum
bloomext_import(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"format", "funnel"};
	Format		format;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	bf_refuse_nulls(fcinfo, 1, names, lengthof(names));
	format = find_format(PG_GETARG_TEXT_PP(1), true, false);
	PG_RETURN_POINTER(import_stream(PG_GETARG_BYTEA_PP(0), format.stream,
									text_to_cstring(PG_GETARG_TEXT_PP(2))));
}

/* bytea::bloomfilter is bf_import(b, 'guava', 'utf8') */
Datum
bloomext_from_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(import_stream(PG_GETARG_BYTEA_PP(0),
									bf_stream_by_name("guava"),
									"utf8"));
}

/*
 * Make a value from a bit string.  The third and fourth arguments are n and p
 * (`sized`), or m and k.
 */
static Datum
import_bits(FunctionCallInfo fcinfo, const char *const names[5], bool sized)
{
	Format		format;
	const BfStrategy *strategy;
	BfFunnel	funnel;
	BfPlan		plan;
	BfValue		value;
	bytea	   *data;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	bf_refuse_nulls(fcinfo, 1, names, 5);
	format = find_format(PG_GETARG_TEXT_PP(1), false, true);
	strategy = bf_strategy_argument(fcinfo, 4);
	funnel = bf_funnel_argument(fcinfo, 5, strategy);
	if (sized)
		bf_value_plan(strategy, PG_GETARG_INT64(2), PG_GETARG_FLOAT8(3),
					  funnel, 0, &plan);
	else
		bf_value_plan_bits(strategy, PG_GETARG_INT64(2), PG_GETARG_INT32(3),
						   funnel, &plan);
	bf_value_make(&plan, &value);
	data = PG_GETARG_BYTEA_PP(0);
	bf_value_set_bits(&value, &value.filter.plan.first, format.order,
					  DatumGetBfBytes(data), VARSIZE_ANY_EXHDR(data));
	PG_RETURN_POINTER(value.varlena);
}

/* bf_import(data, format, expected, fpp, strategy, funnel): bit strings */
Datum
bloomext_import_sized(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"format", "expected", "fpp", "strategy", "funnel"
	};

	return import_bits(fcinfo, names, true);
}

/* bf_import_bits(data, format, bits, hashes, strategy, funnel) */
Datum
bloomext_import_bits(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"format", "bits", "hashes", "strategy", "funnel"
	};

	return import_bits(fcinfo, names, false);
}
