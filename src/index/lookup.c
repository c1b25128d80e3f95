/*
 * lookup.c
 *	  bf_live_contains and related functions: does any row of the table have an
 *	  element?
 *
 * The deferred elements of this transaction are examined before the layers
 * (layer.c), as an element only moves from deferred to a layer.
 *
 * What the first argument stands for is cached (lookup_cache.c).  An element
 * is hashed once for all filters that use the same hash.
 *
 * A row is asked for as the element that its fields make (row.c).  Its type may
 * be another one at each call, and for each element of an array: record.  So
 * the filters for it are found once its type is known.  A plan hands over the
 * fields of ROW(...) themselves (row_support.c).
 *
 * Each leaf (a table that the relation stands for) has its own pages in
 * memory, so those of later leaves are prefetched while earlier ones are
 * examined.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "index/index.h"
#include "type/arguments.h"
#include "type/once.h"

/* Seconds between checks of filters that answer "maybe" often. */
#define LOOK_EVERY	10

/* The distance, in leaves, at which memory is prefetched. */
#define LOOK_AHEAD	4

PG_FUNCTION_INFO_V1(bloomext_live_contains);
PG_FUNCTION_INFO_V1(bloomext_live_contains_fields);
PG_FUNCTION_INFO_V1(bloomext_live_contains_each);
PG_FUNCTION_INFO_V1(bloomext_live_contains_all);
PG_FUNCTION_INFO_V1(bloomext_live_new);

/* What a call site keeps about rows. */
typedef struct Rows
{
	BfRowType	type;			/* of the last row */
	BfRowTarget target;			/* what it is made into for the leaves */
	BfLastLookup aimed;			/* the lookup that `target` is for */
} Rows;

/* What a call site keeps. */
typedef struct Site
{
	BfElementType element;		/* of rows: of what they are made into */
	BfLastLookup last;
	const List *leaves;			/* of the current call */
	Rows	   *rows;			/* NULL: it is not asked for rows */
} Site;

/*
 * Whether a filter holds a hash; the caller has checked its column.  The
 * newest layer comes first, as it is the largest and so the most likely one.
 * The catalogs are not accessed after the layers are read.
 */
bool
bf_live_probe(Relation index, const BfHashPair *pair)
{
	BfLive	   *live;

	if (bf_deferred_contains(index, pair))
		return true;
	live = bf_live_current(index);
	for (uint32 i = live->nlayers; i-- > 0;)
	{
		if (bf_live_layer_contains(index, live, &live->layers[i], pair))
			return true;
	}
	return false;
}

/*
 * Whether the parts of an element are those of a filter.  They are, as it was
 * found for them; but elements of other parts would have other hashes.
 */
static bool
has_same_parts(const BfLookupElement *asked, const BfLive *live)
{
	if (asked->parts == NULL ? live->parts.count == 0 :
		bf_parts_are_equal(asked->parts, &live->parts))
		return true;
	if (!asked->quietly)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("live filters hold elements of different types")));
	return false;
}

/*
 * Hash an element for a filter: on a column of type char(n), 'a ' equals 'a'.
 * False if it must not be hashed, as that could raise an error.  `live` may be
 * invalid after this, as converting text can read catalogs.
 */
static bool
hash_for(BfLookupElement *asked, const BfLive *live)
{
	const BfStrategy *strategy = live->plan.strategy;
	BfFunnel	funnel = live->plan.header.funnel;
	bool		ignores_blanks = live->element.ignores_blanks;
	BfElementType element;
	BfHash		hash;

	if (!has_same_parts(asked, live))
		return false;
	if (asked->strategy == strategy && asked->funnel == funnel &&
		asked->ignores_blanks == ignores_blanks)
		return true;
	element = *asked->element;
	bf_element_bind(strategy, funnel, &element);
	element.ignores_blanks |= ignores_blanks;
	if (asked->quietly &&
		!bf_element_is_hashable(funnel, &element, asked->value))
		return false;
	asked->fits = bf_element_hash(strategy, funnel, &element, asked->value,
								  &hash);
	asked->pair = bf_pair_of(&hash);
	asked->strategy = strategy;
	asked->funnel = funnel;
	asked->ignores_blanks = ignores_blanks;
	return true;
}

/*
 * Whether an open, locked filter may contain an element.  If it may lack rows
 * that the active snapshot can see, the answer is true, and *doubt says why.
 * What is examined is noted in *last, unless NULL.
 */
bool
bf_live_may_contain(Relation index, BfLookupElement *asked, BfLookupHint *last,
					BfDoubt *doubt)
{
	const BfLive *live;

	*doubt = bf_live_doubt(index, &live);
	if (*doubt != BF_SURE)
		return true;
	if (last != NULL)
		bf_layer_note_lookup(last, live);
	/* Monitoring must not take the index for an unused one. */
	pgstat_count_index_scan(index);
	/* For serializability, an element that is absent was read as well. */
	PredicateLockRelation(index, GetActiveSnapshot());
	if (!hash_for(asked, live))
		return true;
	return asked->fits && bf_live_probe(index, &asked->pair);
}

/* Whether a locked filter may contain an element. */
static bool
index_contains(Oid oid, BfLookupElement *asked, BfLookupHint *last,
			   BfDoubt *doubt)
{
	Relation	index = relation_open(oid, NoLock);
	bool		found = bf_live_may_contain(index, asked, last, doubt);

	relation_close(index, NoLock);
	return found;
}

/* Warn, once per session and reason, that a leaf never answers "no". */
static void
warn_of_leaf(const BfLeaf *leaf, BfDoubt doubt)
{
	static uint32 warned;		/* one bit per doubt; BF_SURE: no filter */
	const char *table = get_rel_name(leaf->place.table);

	if ((warned & (1 << doubt)) != 0 || table == NULL)
		return;
	warned |= 1 << doubt;
	ereport(WARNING,
			(errmsg("bf_live_contains reports every element as present in \"%s\"",
					table),
			 leaf->place.elsewhere != NULL ?
			 errdetail("Its rows are %s.", leaf->place.elsewhere) :
			 doubt == BF_SURE ?
			 errdetail("\"%s\" has no matching live filter.", table) :
			 errdetail("Its live filter %s.", bf_doubt_text(doubt)),
			 doubt != BF_SURE ? errhint("%s", bf_doubt_hint(doubt)) : 0));
}

/* Whether a leaf may have an element: not if any of its filters denies it. */
static bool
leaf_contains(BfLeaf *leaf, BfLookupElement *asked)
{
	BfDoubt		doubt = BF_SURE;
	bool		knows = false;
	ListCell   *cell;

	if (leaf->place.elsewhere == NULL)
	{
		foreach(cell, leaf->indexes)
		{
			if (!index_contains(lfirst_oid(cell), asked, &leaf->last, &doubt))
				return false;
			knows |= doubt == BF_SURE;
		}
	}
	if (!knows)
		warn_of_leaf(leaf, doubt);
	return true;
}

/* Prefetch memory for the lookup of an element in a leaf. */
static void
look_ahead(const List *leaves, int number, const BfLookupElement *asked)
{
	const BfLeaf *leaf;

	if (number >= list_length(leaves) ||
		asked->strategy == NULL || !asked->fits)
		return;
	leaf = list_nth(leaves, number);
	bf_layer_look_ahead(&leaf->last, &asked->pair);
}

/* Whether any leaf may have an element. */
static bool
any_leaf_contains(const Site *site, Datum value)
{
	BfLookupElement asked = {
		.element = &site->element,
		.parts = site->rows == NULL ? NULL : &site->rows->target.parts,
		.value = value
	};
	ListCell   *cell;

	foreach(cell, site->leaves)
	{
		look_ahead(site->leaves, foreach_current_index(cell) + LOOK_AHEAD,
				   &asked);
		CHECK_FOR_INTERRUPTS();
		if (leaf_contains(lfirst(cell), &asked))
			return true;
	}
	return false;
}

/* Make a call site for rows. */
static Site *
make_site_of_rows(MemoryContext context)
{
	Site	   *site = MemoryContextAllocZero(context, sizeof(Site));

	site->rows = MemoryContextAllocZero(context, sizeof(Rows));
	site->rows->type.context = AllocSetContextCreate(context,
													 "type of rows to look up",
													 ALLOCSET_SMALL_SIZES);
	site->rows->target.context = context;
	bf_element_type(BYTEAOID, InvalidOid, &site->element);
	return site;
}

/* The call site of a function of an element, or an array, of any type. */
static Site *
site_of_elements(FunctionCallInfo fcinfo, bool array)
{
	FmgrInfo   *function = fcinfo->flinfo;
	Oid			type;

	if (function->fn_extra != NULL)
		return function->fn_extra;
	type = getBaseType(get_fn_expr_argtype(function, 1));
	if (array)
		type = getBaseType(get_element_type(type));
	if (!OidIsValid(type) || !bf_type_is_row(type))
		return bf_call_site_make(fcinfo, 1, array, sizeof(Site));
	return function->fn_extra = make_site_of_rows(function->fn_mcxt);
}

/* The call site of a function of (relation, column, field, field, ...) */
static Site *
site_of_fields(FunctionCallInfo fcinfo)
{
	FmgrInfo   *function = fcinfo->flinfo;
	const FuncExpr *call = (const FuncExpr *) function->fn_expr;
	Site	   *site = function->fn_extra;

	if (site != NULL)
		return site;
	if (call == NULL || !IsA(call, FuncExpr))
		bf_element_refuse_call();
	site = make_site_of_rows(function->fn_mcxt);
	bf_row_describe_fields(&site->rows->type, list_copy_tail(call->args, 2));
	return function->fn_extra = site;
}

/* The lookup of a call site, whose relation comes first, by a column. */
static BfQuestion
question_of_site(const Site *site, FunctionCallInfo fcinfo, int column)
{
	const char *name = PG_ARGISNULL(column) ? "" : NameStr(*PG_GETARG_NAME(column));

	return (BfQuestion) {
		.rel = PG_GETARG_OID(0),
		.element = site->rows == NULL ? &site->element : NULL,
		.row = site->rows == NULL ? NULL : &site->rows->type,
		.column = name[0] == '\0' ? NULL : name
	};
}

/*
 * The call site of a function of (relation, element or elements, column), and
 * its lookup; NULL if the relation or the element is NULL.
 */
static Site *
question_of_call(FunctionCallInfo fcinfo, bool array, BfQuestion *question)
{
	Site	   *site;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return NULL;
	site = site_of_elements(fcinfo, array);
	*question = question_of_site(site, fcinfo, 2);
	return site;
}

/*
 * What rows are to be made into: what the filters of the leaves hold.  In an
 * epoch, a cached lookup is of one type of rows, and has other filters only if
 * it had none before.
 */
static void
aim_rows(Site *site)
{
	Rows	   *rows = site->rows;
	ListCell   *cell;

	if (site->last.entry != NULL && rows->aimed.entry == site->last.entry &&
		rows->aimed.epoch == site->last.epoch && rows->target.parts.count > 0)
		return;
	rows->aimed = site->last;
	foreach(cell, site->leaves)
	{
		const BfLeaf *leaf = lfirst(cell);
		Relation	index;

		if (leaf->indexes == NIL)
			continue;
		index = relation_open(linitial_oid(leaf->indexes), NoLock);
		bf_row_aim(&rows->target, &rows->type, index->rd_opcintype);
		relation_close(index, NoLock);
		return;
	}
	rows->target.parts.count = 0;
}

/* The element that the fields of a row make, as bf_parts_bytes() makes it. */
static Datum
element_of_fields(Site *site, Datum *fields, BfPartsRoom *room)
{
	Rows	   *rows = site->rows;

	/* No filter will be asked where there is none. */
	return rows->target.parts.count == 0 ? (Datum) 0 :
		bf_row_element(&rows->type, &rows->target, fields, room);
}

/* The element that a row makes; false if one of its fields is NULL. */
static bool
element_of_row(Site *site, HeapTupleHeader row, BfPartsRoom *room,
			   Datum *element)
{
	Datum		fields[INDEX_MAX_KEYS];

	if (!bf_row_deform(&site->rows->type, row, fields))
		return false;
	*element = element_of_fields(site, fields, room);
	return true;
}

/* bf_live_contains(table or index, element, column) */
Datum
bloomext_live_contains(PG_FUNCTION_ARGS)
{
	BfQuestion	question;
	Site	   *site = question_of_call(fcinfo, false, &question);
	HeapTupleHeader row;
	BfPartsRoom room;
	Datum		element;

	if (site == NULL)
		PG_RETURN_NULL();
	if (site->rows == NULL)
	{
		site->leaves = bf_lookup_cache_leaves(&question, &site->last);
		PG_RETURN_BOOL(any_leaf_contains(site, PG_GETARG_DATUM(1)));
	}
	row = PG_GETARG_HEAPTUPLEHEADER(1);
	bf_row_describe_value(&site->rows->type, row);
	site->leaves = bf_lookup_cache_leaves(&question, &site->last);
	aim_rows(site);
	if (!element_of_row(site, row, &room, &element))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(any_leaf_contains(site, element));
}

/* bloomfilter_live_contains(table or index, column, field, field, ...) */
Datum
bloomext_live_contains_fields(PG_FUNCTION_ARGS)
{
	BfQuestion	question;
	Site	   *site;
	Datum		fields[INDEX_MAX_KEYS];
	BfPartsRoom room;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	site = site_of_fields(fcinfo);
	question = question_of_site(site, fcinfo, 1);
	site->leaves = bf_lookup_cache_leaves(&question, &site->last);
	aim_rows(site);
	for (uint32 i = 0; i < site->rows->type.parts.count; i++)
	{
		if (PG_ARGISNULL(i + 2))
			PG_RETURN_NULL();
		fields[i] = PG_GETARG_DATUM(i + 2);
	}
	PG_RETURN_BOOL(any_leaf_contains(site, element_of_fields(site, fields, &room)));
}

/* An answer about an element */
typedef enum Answer
{
	SURELY_ABSENT,
	MAYBE_THERE,
	NO_ELEMENT					/* a row with a NULL */
} Answer;

/* An iteration over an array of elements */
typedef struct Walk
{
	Site	   *site;
	const BfQuestion *question;
	bool		certain;		/* shall a "no" be certain in all leaves? */
	uint64		resolved;		/* the type of rows that the leaves are for */
	ArrayIterator iterator;
	MemoryContext context;		/* of the call */
	MemoryContext scratch;		/* reset for each element */
} Walk;

/* Find the leaves for the elements of a walk, or the rows of the same type. */
static void
resolve_walk(Walk *walk)
{
	MemoryContext caller = MemoryContextSwitchTo(walk->context);
	Site	   *site = walk->site;

	site->leaves = walk->certain ? bf_resolve_certain(walk->question) :
		bf_lookup_cache_leaves(walk->question, &site->last);
	if (site->rows != NULL)
	{
		walk->resolved = site->rows->type.identity;
		aim_rows(site);
	}
	MemoryContextSwitchTo(caller);
}

/* Begin to iterate over an array; rows are resolved as they come. */
static void
start_walk(Walk *walk, Site *site, const BfQuestion *question, ArrayType *array,
		   bool certain)
{
	*walk = (Walk) {
		.site = site,
		.question = question,
		.certain = certain,
		.iterator = array_create_iterator(array, 0, NULL),
		.context = CurrentMemoryContext,
		.scratch = AllocSetContextCreate(CurrentMemoryContext,
										 "live filter elements",
										 ALLOCSET_DEFAULT_SIZES)
	};
	if (site->rows == NULL)
		resolve_walk(walk);
}

/* Raise 22023 for rows of several types, where all are to be returned. */
pg_noreturn static void
refuse_types(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("rows of the array are of different types"),
			 errhint("Cast the same fields to the same types in each ROW(...), or use an array of a composite type.")));
}

/* Look up a row. */
static Answer
probe_row(Walk *walk, HeapTupleHeader row)
{
	Rows	   *rows = walk->site->rows;
	BfPartsRoom room;
	Datum		element;

	bf_row_describe_value(&rows->type, row);
	if (walk->resolved != rows->type.identity && walk->resolved != 0 && walk->certain)
		refuse_types();
	if (walk->resolved != rows->type.identity)
		resolve_walk(walk);
	if (!element_of_row(walk->site, row, &room, &element))
		return NO_ELEMENT;
	return any_leaf_contains(walk->site, element) ? MAYBE_THERE : SURELY_ABSENT;
}

/* Look up an element, in a context that is reset. */
static Answer
probe_element(Walk *walk, Datum element)
{
	if (walk->site->rows != NULL)
		return probe_row(walk, DatumGetHeapTupleHeader(element));
	return any_leaf_contains(walk->site, element) ? MAYBE_THERE : SURELY_ABSENT;
}

/* Look up the next element that is not NULL; false after the last. */
static bool
probe_next(Walk *walk, Answer *answer)
{
	MemoryContext caller = MemoryContextSwitchTo(walk->scratch);
	bool		more;
	Datum		element;

	MemoryContextReset(walk->scratch);
	more = bf_elements_next(walk->iterator, &element);
	if (more)
		*answer = probe_element(walk, element);
	MemoryContextSwitchTo(caller);
	return more;
}

/* The answers about an array of rows: NULL for one with a NULL, too. */
static ArrayType *
answers_about_rows(Walk *walk, const ArrayType *array)
{
	int			items = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	Datum	   *answers = palloc(items * sizeof(Datum));
	bool	   *nulls = palloc(items * sizeof(bool));
	Datum		row;

	for (int i = 0; array_iterate(walk->iterator, &row, &nulls[i]); i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(walk->scratch);
		Answer		answer;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(walk->scratch);
		answer = nulls[i] ? NO_ELEMENT : probe_element(walk, row);
		answers[i] = BoolGetDatum(answer == MAYBE_THERE);
		nulls[i] = answer == NO_ELEMENT;
		MemoryContextSwitchTo(caller);
	}
	return construct_md_array(answers, nulls, ARR_NDIM(array), ARR_DIMS(array),
							  ARR_LBOUND(array), BOOLOID, 1, true, TYPALIGN_CHAR);
}

/* bf_live_contains_each(table or index, elements, column) -> boolean[] */
Datum
bloomext_live_contains_each(PG_FUNCTION_ARGS)
{
	BfQuestion	question;
	Site	   *site = question_of_call(fcinfo, true, &question);
	ArrayType  *array;
	ArrayType  *answers;
	char	   *next;
	Answer		answer;
	Walk		walk;

	if (site == NULL)
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(1);
	start_walk(&walk, site, &question, array, false);
	if (site->rows != NULL)
		PG_RETURN_ARRAYTYPE_P(answers_about_rows(&walk, array));
	answers = bf_answers_make(array);
	next = ARR_DATA_PTR(answers);
	while (probe_next(&walk, &answer))
		*next++ = answer == MAYBE_THERE;
	PG_RETURN_ARRAYTYPE_P(answers);
}

/* bf_live_contains_all(table or index, elements, column): NULLs are skipped */
Datum
bloomext_live_contains_all(PG_FUNCTION_ARGS)
{
	BfQuestion	question;
	Site	   *site = question_of_call(fcinfo, true, &question);
	Answer		answer;
	Walk		walk;

	if (site == NULL)
		PG_RETURN_NULL();
	start_walk(&walk, site, &question, PG_GETARG_ARRAYTYPE_P(1), false);
	while (probe_next(&walk, &answer))
	{
		if (answer == SURELY_ABSENT)
			PG_RETURN_BOOL(false);
	}
	PG_RETURN_BOOL(true);
}

/* The meaning of the elements of the filters of leaves. */
static BfMeaning
meaning_of_leaves(const List *leaves)
{
	const BfLeaf *first = leaves == NIL ? NULL : linitial(leaves);
	Relation	index;
	BfElementType own;
	BfParts		parts;

	/* A partitioned table without partitions has no rows, and no meaning. */
	if (first == NULL)
		return BF_MEANING_UNKNOWN;
	index = relation_open(linitial_oid(first->indexes), NoLock);
	bf_live_elements(index, &own, &parts);
	relation_close(index, NoLock);
	return own.meaning;
}

/*
 * Where most lookups found something, a filter may be over-full: check that,
 * at most every LOOK_EVERY seconds, and warn once per session and filter.
 */
static void
warn_if_over_full(const List *leaves)
{
	static TimestampTz looked = 0;
	static Oid	looked_at = InvalidOid; /* the first of the leaves */
	static Oid	warned = InvalidOid;
	TimestampTz now = GetCurrentStatementStartTimestamp();
	Oid			first = ((const BfLeaf *) linitial(leaves))->place.table;
	ListCell   *cell;

	if (first == looked_at &&
		!TimestampDifferenceExceeds(looked, now, LOOK_EVERY * 1000))
		return;
	looked = now;
	looked_at = first;
	foreach(cell, leaves)
	{
		const BfLeaf *leaf = lfirst(cell);
		Oid			oid = linitial_oid(leaf->indexes);
		Relation	index;
		bool		is_over_full;

		CHECK_FOR_INTERRUPTS();
		if (oid == warned)
			continue;
		index = relation_open(oid, NoLock);
		is_over_full = bf_live_warn_if_over_full(index);
		relation_close(index, NoLock);
		if (is_over_full)
		{
			warned = oid;
			return;
		}
	}
}

/* BfOnceBytes: the bytes that identify a row; valid until the next probe. */
static void
bytes_of_row(void *state, Datum row, BfElementBytes *bytes)
{
	Walk	   *walk = state;
	MemoryContext caller = MemoryContextSwitchTo(walk->scratch);
	Datum		element;

	if (!element_of_row(walk->site, DatumGetHeapTupleHeader(row), NULL, &element))
		elog(ERROR, "a row without an element is not returned");
	*bytes = (BfElementBytes) {
		.data = (const uint8 *) VARDATA(DatumGetPointer(element)),
		.length = VARSIZE(DatumGetPointer(element)) - VARHDRSZ
	};
	MemoryContextSwitchTo(caller);
}

/* Begin to find repeated elements of a walk over an array. */
static void
start_once(BfOnce *once, Walk *walk, const ArrayType *array)
{
	Site	   *site = walk->site;

	if (site->rows == NULL)
		bf_once_start(once, &site->element, meaning_of_leaves(site->leaves),
					  array);
	else
		bf_once_start_made(once, bytes_of_row, walk, array);
}

/* Return an element, or a row as its fields. */
static void
return_element(ReturnSetInfo *set, const Site *site, Datum element)
{
	bool		nulls[1] = {false};
	HeapTupleData row;

	if (site->rows == NULL)
	{
		tuplestore_putvalues(set->setResult, set->setDesc, &element, nulls);
		return;
	}
	if (set->setResult == NULL)
		bf_set_store(set, site->rows->type.fields);
	row = (HeapTupleData) {
		.t_data = DatumGetHeapTupleHeader(element)
	};
	row.t_len = HeapTupleHeaderGetDatumLength(row.t_data);
	tuplestore_puttuple(set->setResult, &row);
}

/*
 * bf_live_new(table or index, elements, column): the elements that are
 * certainly in no row, each once.  If no "no" can be certain it raises an
 * error, as an empty result would be taken for an answer: 0A000 if rows are
 * elsewhere, 55000 for other reasons.
 */
Datum
bloomext_live_new(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = bf_set_open(fcinfo);
	BfQuestion	question;
	Site	   *site = question_of_call(fcinfo, true, &question);
	ArrayType  *array;
	BfOnce		once;
	Walk		walk;
	int64		asked = 0;
	int64		found = 0;
	Answer		answer;
	Datum		value;

	if (site == NULL)
		PG_RETURN_NULL();
	if (site->rows == NULL)
		bf_set_start(fcinfo, 1);
	array = PG_GETARG_ARRAYTYPE_P(1);
	start_walk(&walk, site, &question, array, true);
	start_once(&once, &walk, array);
	while (probe_next(&walk, &answer))
	{
		asked += answer != NO_ELEMENT;
		found += answer == MAYBE_THERE;
		if (bf_once_next(&once, answer == SURELY_ABSENT, &value))
			return_element(set, site, value);
	}
	if (found > asked / 2)
		warn_if_over_full(site->leaves);
	PG_RETURN_NULL();
}
