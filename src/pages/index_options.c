/*
 * index_options.c
 *	  The options of a live filter index, WITH (...), how such an index is
 *	  recognized, by its amoptions callback, and what its elements are.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/amapi.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_index.h"

#include "pages/index_options.h"
#include "type/arguments.h"
#include "type/value.h"

static relopt_kind options_kind;

/* Check WITH (strategy = ...). */
static void
check_strategy_option(const char *value)
{
	const BfStrategy *strategy;
	const BfStrategy *other;
	StringInfoData known;

	if (value == NULL)
		return;
	strategy = bf_strategy_by_name(value);
	if (strategy != NULL && strategy->can_be_live)
		return;

	initStringInfo(&known);
	for (size_t i = 0; (other = bf_strategy_at(i)) != NULL; i++)
	{
		if (other->can_be_live)
			bf_append_name(&known, other->name);
	}
	ereport(ERROR,
			(errcode(strategy == NULL ? ERRCODE_INVALID_PARAMETER_VALUE :
					 ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("strategy \"%s\" is not supported for live filters", value),
			 errhint("Supported strategies are: %s.", known.data)));
}

/* Check WITH (funnel = ...), as far as the strategy does not matter. */
static void
check_funnel_option(const char *value)
{
	if (value != NULL)
		(void) bf_funnel_named(value, NULL);
}

/*
 * Called once, when the module is loaded.  Options take no stronger lock, as
 * they have no effect until the index is rebuilt.
 */
void
bf_options_init(void)
{
	options_kind = add_reloption_kind();
	add_real_reloption(options_kind, "expected",
					   "Number of elements that the filter is sized for",
					   0, 0, BF_MOST_EXPECTED, ShareUpdateExclusiveLock);
	add_real_reloption(options_kind, "fpp",
					   "False positive probability at that number of elements",
					   BF_LIVE_FPP, -DBL_MAX, DBL_MAX,
					   ShareUpdateExclusiveLock);
	add_int_reloption(options_kind, "expansion",
					  "Size of each further layer relative to the one before; 0 for none",
					  -1, 0, BF_MAX_EXPANSION, ShareUpdateExclusiveLock);
	add_string_reloption(options_kind, "strategy",
						 "Implementation that the filter is compatible with",
						 BF_LIVE_STRATEGY, check_strategy_option,
						 ShareUpdateExclusiveLock);
	add_string_reloption(options_kind, "funnel",
						 "How an element becomes bytes",
						 NULL, check_funnel_option, ShareUpdateExclusiveLock);
	add_bool_reloption(options_kind, "plans",
					   "Lets query plans probe the filter before reading the table",
					   false, ShareUpdateExclusiveLock);
	add_real_reloption(options_kind, "absent",
					   "Expected share of absent elements among those that plans probe for",
					   -1, 0, 1, ShareUpdateExclusiveLock);
}

/* Check what ranges of options cannot express. */
static void
check_options(const BfLiveOptions *options)
{
	if (!(options->fpp > 0 && options->fpp < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fpp must lie between 0 and 1, both excluded, but is %g",
						options->fpp),
				 errhint("With 0.0001, the default, one of 10,000 absent elements is reported as present.")));
	if (options->absent >= 0 && !options->plans)
		ereport(NOTICE,
				(errmsg("option \"absent\" has no effect without \"plans\""),
				 errhint("Set plans = on to let query plans use the filter.")));
}

/* amoptions: parse WITH (...). */
bytea *
bflive_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt options[] = {
		{"expected", RELOPT_TYPE_REAL, offsetof(BfLiveOptions, expected)},
		{"fpp", RELOPT_TYPE_REAL, offsetof(BfLiveOptions, fpp)},
		{"expansion", RELOPT_TYPE_INT, offsetof(BfLiveOptions, expansion)},
		{"strategy", RELOPT_TYPE_STRING, offsetof(BfLiveOptions, strategy)},
		{"funnel", RELOPT_TYPE_STRING, offsetof(BfLiveOptions, funnel)},
		{"plans", RELOPT_TYPE_BOOL, offsetof(BfLiveOptions, plans)},
		{"absent", RELOPT_TYPE_REAL, offsetof(BfLiveOptions, absent)}
	};
	BfLiveOptions *parsed = build_reloptions(reloptions, validate, options_kind,
											 sizeof(BfLiveOptions), options,
											 lengthof(options));

	/* A real, as integer options end at 2^31. */
	if (validate && parsed != NULL && parsed->expected != rint(parsed->expected))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"expected\": %g",
						parsed->expected),
				 errdetail("The value must be a whole number.")));
	if (validate && parsed != NULL)
		check_options(parsed);
	return (bytea *) parsed;
}

/* Whether an open index is a live filter: whether it has our amoptions. */
bool
bf_is_live_filter(Relation index)
{
	return index->rd_indam != NULL && index->rd_indam->amoptions == bflive_options;
}

/* Whether an open index is partial: it does not cover all rows. */
bool
bf_is_partial(Relation index)
{
	return !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/* The number of columns, or expressions, of an index. */
int
bf_live_columns(Relation index)
{
	return IndexRelationGetNumberOfKeyAttributes(index);
}

/* The elements of an index, by its operator classes. */
void
bf_live_elements(Relation index, BfElementType *element, BfParts *parts)
{
	bf_parts_describe(index->rd_opcintype, bf_live_columns(index), element, parts);
}

/* The strategy that an index's options name. */
const BfStrategy *
bf_live_strategy(Relation index)
{
	BfLiveOptions *options = (BfLiveOptions *) index->rd_options;

	return bf_strategy_by_name(options == NULL ? BF_LIVE_STRATEGY :
							   GET_STRING_RELOPTION(options, strategy));
}

/* Whether query plans may use an index (gate.c). */
bool
bf_live_is_for_plans(Relation index)
{
	BfLiveOptions *options = (BfLiveOptions *) index->rd_options;

	return options != NULL && options->plans;
}

/* The expected share of absent elements in plans; -1 if unknown. */
double
bf_live_absent(Relation index)
{
	BfLiveOptions *options = (BfLiveOptions *) index->rd_options;

	return options == NULL ? -1 : options->absent;
}

/*
 * The funnel in an index's options, or its elements' default; or 22023.  Rows of
 * several columns become bytes, whatever their columns are.
 */
BfFunnel
bf_live_funnel(Relation index, const BfStrategy *strategy,
			   const BfElementType *element)
{
	BfLiveOptions *options = (BfLiveOptions *) index->rd_options;
	BfFunnel	funnel = BF_FUNNEL_UNBOUND;

	if (options != NULL && options->funnel != 0)
		funnel = bf_funnel_named(GET_STRING_RELOPTION(options, funnel),
								 strategy);
	if (bf_live_columns(index) > 1 && funnel != BF_FUNNEL_UNBOUND &&
		funnel != BF_FUNNEL_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a filter of several columns cannot have funnel \"%s\"",
						bf_funnel_name(funnel)),
				 errdetail("Its elements are rows, and these are hashed as the bytes that bf_element makes of them."),
				 errhint("Leave out the funnel.")));
	return bf_element_bind(strategy, funnel, element);
}
