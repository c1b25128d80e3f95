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
 * Each leaf (a table that the relation stands for) has its own pages in
 * memory, so those of later leaves are prefetched while earlier ones are
 * examined.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
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
PG_FUNCTION_INFO_V1(bloomext_live_contains_each);
PG_FUNCTION_INFO_V1(bloomext_live_contains_all);
PG_FUNCTION_INFO_V1(bloomext_live_new);

/* What a call site keeps. */
typedef struct Site
{
	BfElementType element;
	BfLastLookup last;
	const List *leaves;			/* of the current call */
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
	BfLookupElement asked = {.element = &site->element,.value = value};
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
	site = bf_call_site(fcinfo, 1, array, sizeof(Site));
	*question = (BfQuestion) {
		.rel = PG_GETARG_OID(0),
		.element = &site->element
	};
	if (!PG_ARGISNULL(2) && NameStr(*PG_GETARG_NAME(2))[0] != '\0')
		question->column = NameStr(*PG_GETARG_NAME(2));
	return site;
}

/* The call site of such a function, with its leaves. */
static Site *
site_of_call(FunctionCallInfo fcinfo, bool array)
{
	BfQuestion	question;
	Site	   *site = question_of_call(fcinfo, array, &question);

	if (site != NULL)
		site->leaves = bf_lookup_cache_leaves(&question, &site->last);
	return site;
}

/* bf_live_contains(table or index, element, column) */
Datum
bloomext_live_contains(PG_FUNCTION_ARGS)
{
	Site	   *site = site_of_call(fcinfo, false);

	if (site == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(any_leaf_contains(site, PG_GETARG_DATUM(1)));
}

/* An iteration over an array of elements */
typedef struct Walk
{
	const Site *site;
	ArrayIterator iterator;
	MemoryContext scratch;		/* reset for each element */
} Walk;

/* Begin to iterate over an array. */
static void
start_walk(Walk *walk, const Site *site, ArrayType *array)
{
	walk->site = site;
	walk->iterator = array_create_iterator(array, 0, NULL);
	walk->scratch = AllocSetContextCreate(CurrentMemoryContext,
										  "live filter elements",
										  ALLOCSET_DEFAULT_SIZES);
}

/* Look up the next element that is not NULL; false after the last. */
static bool
probe_next(Walk *walk, bool *answer)
{
	MemoryContext caller = MemoryContextSwitchTo(walk->scratch);
	bool		more;
	Datum		element;

	MemoryContextReset(walk->scratch);
	more = bf_elements_next(walk->iterator, &element);
	if (more)
		*answer = any_leaf_contains(walk->site, element);
	MemoryContextSwitchTo(caller);
	return more;
}

/* bf_live_contains_each(table or index, elements, column) -> boolean[] */
Datum
bloomext_live_contains_each(PG_FUNCTION_ARGS)
{
	Site	   *site = site_of_call(fcinfo, true);
	ArrayType  *array;
	ArrayType  *answers;
	char	   *next;
	bool		answer;
	Walk		walk;

	if (site == NULL)
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(1);
	answers = bf_answers_make(array);
	next = ARR_DATA_PTR(answers);
	start_walk(&walk, site, array);
	while (probe_next(&walk, &answer))
		*next++ = answer;
	PG_RETURN_ARRAYTYPE_P(answers);
}

/* bf_live_contains_all(table or index, elements, column): NULLs are skipped */
Datum
bloomext_live_contains_all(PG_FUNCTION_ARGS)
{
	Site	   *site = site_of_call(fcinfo, true);
	bool		answer;
	Walk		walk;

	if (site == NULL)
		PG_RETURN_NULL();
	start_walk(&walk, site, PG_GETARG_ARRAYTYPE_P(1));
	while (probe_next(&walk, &answer))
	{
		if (!answer)
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

	/* A partitioned table without partitions has no rows, and no meaning. */
	if (first == NULL)
		return BF_MEANING_UNKNOWN;
	index = relation_open(linitial_oid(first->indexes), NoLock);
	bf_element_type(index->rd_opcintype[0], InvalidOid, &own);
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

/*
 * bf_live_new(table or index, elements, column): the elements that are
 * certainly in no row, each once.  If no "no" can be certain it raises an
 * error, as an empty result would be taken for an answer: 0A000 if rows are
 * elsewhere, 55000 for other reasons.
 */
Datum
bloomext_live_new(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = bf_set_start(fcinfo, 1);
	bool		nulls[1] = {false};
	BfQuestion	question;
	Site	   *site = question_of_call(fcinfo, true, &question);
	ArrayType  *array;
	BfOnce		once;
	Walk		walk;
	int64		asked = 0;
	int64		found = 0;
	bool		answer;
	Datum		value;

	if (site == NULL)
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(1);
	site->leaves = bf_resolve_certain(&question);
	bf_once_start(&once, &site->element, meaning_of_leaves(site->leaves), array);
	start_walk(&walk, site, array);
	while (probe_next(&walk, &answer))
	{
		asked++;
		found += answer;
		if (bf_once_next(&once, !answer, &value))
			tuplestore_putvalues(set->setResult, set->setDesc, &value, nulls);
	}
	if (found > asked / 2)
		warn_if_over_full(site->leaves);
	PG_RETURN_NULL();
}
