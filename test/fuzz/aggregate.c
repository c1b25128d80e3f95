/*
 * aggregate.c
 *	  Fuzz the aggregates' functions that take partial states of other processes,
 *	  which in a cluster of nodes may be anybody's: deserialize, combine, finish.
 *
 * An input is a byte of flags, two numbers of two bytes, how long the first and the
 * second state are, and then these and a third.  What comes out of it is a value, that
 * holds what the states do, and a state again.
 */
#include "fuzz.h"

#include <string.h>

#include "server.h"

#include "nodes/execnodes.h"
#include "strategy/partial.h"
#include "agg/agg.h"
#include "type/value.h"

#define HAS_EXPRESSION	0x01	/* the executor calls, not another aggregate */
#define IS_PARTIAL		0x02	/* and somebody else will finish */
#define IS_MERGE		0x04	/* of filters, which are their own states */
#define INTERSECTS		0x08
#define TRAVELS			0x10	/* what was combined is serialized in between */

#define REPEATS			0x20	/* all of them come often */

#define STATES			3
#define ROUNDS			16

/* Values up to this length are worth more than being opened. */
#define SHORT_VALUE		65536

extern Datum bloomext_agg_deserialize(PG_FUNCTION_ARGS);
extern Datum bloomext_agg_serialize(PG_FUNCTION_ARGS);
extern Datum bloomext_agg_combine(PG_FUNCTION_ARGS);
extern Datum bloomext_agg_final(PG_FUNCTION_ARGS);
extern Datum bloomext_merge_deserialize(PG_FUNCTION_ARGS);
extern Datum bloomext_merge_serialize(PG_FUNCTION_ARGS);
extern Datum bloomext_merge_final(PG_FUNCTION_ARGS);
extern Datum bloomext_union_agg_combine(PG_FUNCTION_ARGS);
extern Datum bloomext_intersection_agg_combine(PG_FUNCTION_ARGS);

typedef struct States
{
	uint8_t		flags;
	uint8_t    *bytes[STATES];
	size_t		length[STATES];
} States;

/* In the place of agg.c: there is an aggregate, of which nothing is known. */
MemoryContext
bf_agg_context(FunctionCallInfo fcinfo)
{
	return CurrentMemoryContext;
}

MemoryContext
bf_agg_result_context(FunctionCallInfo fcinfo)
{
	return CurrentMemoryContext;
}

char *
bf_agg_name(FunctionCallInfo fcinfo)
{
	return pstrdup("bf_agg");
}

bool
bf_agg_arguments(FunctionCallInfo fcinfo, List **arguments)
{
	return false;
}

bool
bf_agg_evaluate(FunctionCallInfo fcinfo, const List *arguments, int argument,
				Datum *value)
{
	return false;
}

void
bf_agg_refuse_row(const char *aggregate)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s", aggregate)));
	pg_unreachable();
}

/* A value that was made of states is one. */
static void
check_value(Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	BfFilter	filter;
	BfError		error;

	REQUIRE(bf_filter_open((uint8 *) VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value),
						   VARSIZE_ANY_EXHDR(value), &filter, &error));
	if (filter.length <= SHORT_VALUE)
		exercise(filter.bytes, filter.length);
}

/* Combine a state, if there is one, with another. */
static Datum
combine_states(PGFunction combine, Datum into, Datum from)
{
	LOCAL_FCINFO(fcinfo, 2);

	InitFunctionCallInfoData(*fcinfo, &call_site, 2, InvalidOid, call_context, NULL);
	fcinfo->args[0] = (NullableDatum) {into, into == (Datum) 0};
	fcinfo->args[1] = (NullableDatum) {from, false};
	return combine(fcinfo);
}

static void
aggregate(void *arg)
{
	States	   *states = arg;
	bool		merges = (states->flags & IS_MERGE) != 0;
	PGFunction	deserialize = merges ? bloomext_merge_deserialize : bloomext_agg_deserialize;
	PGFunction	serialize = merges ? bloomext_merge_serialize : bloomext_agg_serialize;
	PGFunction	combine = !merges ? bloomext_agg_combine :
		(states->flags & INTERSECTS) ? bloomext_intersection_agg_combine : bloomext_union_agg_combine;
	Datum		into = (Datum) 0;
	static AggState state = {.ss.ps.type = T_AggState};
	int			count = (states->flags & REPEATS) ? ROUNDS * STATES : STATES;

	state.aggsplit = (states->flags & IS_PARTIAL) ? AGGSPLITOP_SKIPFINAL : 0;
	call_site.fn_expr = (states->flags & HAS_EXPRESSION) ? (Node *) &state : NULL;
	call_context = (Node *) &state;
	for (int n = 0; n < count; n++)
	{
		int			i = n % STATES;
		Datum		data = bytes_datum(states->bytes[i], states->length[i]);
		Datum		from;

		if (states->length[i] == 0)
			continue;
		from = call(deserialize, 1, &data);
		into = combine_states(combine, into, from);
		if ((states->flags & TRAVELS) && into != (Datum) 0 &&
			(n < STATES || n + 1 == count))
		{
			data = call(serialize, 1, &into);
			data = PointerGetDatum(pg_detoast_datum_copy((struct varlena *) DatumGetPointer(data)));
			into = combine_states(combine, (Datum) 0, call(deserialize, 1, &data));
		}
	}
	if (into != (Datum) 0)
		check_value(call(merges ? bloomext_merge_final : bloomext_agg_final, 1, &into));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};
	States		states = {take(&input, 1)};
	int			sqlstate;

	for (int i = 0; i + 1 < STATES; i++)
		states.length[i] = take(&input, 2);
	states.length[STATES - 1] = SIZE_MAX;
	for (int i = 0; i < STATES; i++)
	{
		states.length[i] = Min(states.length[i], input.left);
		states.bytes[i] = copy_bytes(input.at, states.length[i]);
		input.at += states.length[i];
		input.left -= states.length[i];
	}
	/* Of filters, the bytes are those of values, which may be stored ones. */
	may_be_damaged = (states.flags & IS_MERGE) != 0;
	sqlstate = run(aggregate, &states);
	REQUIRE(sqlstate == 0 || sqlstate == ERRCODE_INVALID_BINARY_REPRESENTATION ||
			sqlstate == ERRCODE_INVALID_PARAMETER_VALUE ||
			sqlstate == ERRCODE_FEATURE_NOT_SUPPORTED ||
			sqlstate == ERRCODE_PROGRAM_LIMIT_EXCEEDED ||
			sqlstate == ERRCODE_OUT_OF_MEMORY ||
			(may_be_damaged && sqlstate == ERRCODE_DATA_CORRUPTED));
	for (int i = 0; i < STATES; i++)
		free(states.bytes[i]);
	return 0;
}
