/*
 * covers.c
 *	  Whether a filter has all elements of another, and a trigger that keeps
 *	  UPDATEs from removing elements from filters.
 *
 * A filter contains an element if all of its bits are set in one layer.  So a
 * filter covers another one if each of its layers has all bits of the other's
 * layer with the same number.  Either filter may have more layers.  A counter
 * counts as a set bit if it is not 0.
 *
 * The trigger is for applications that save all columns of a row, and so
 * would overwrite a filter with an earlier copy, which lacks elements that
 * were added since.  A filter that the UPDATE did not write is recognized by
 * its toast pointer, and not read.
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "type/arguments.h"
#include "type/merge.h"
#include "type/toast_slices.h"

PG_FUNCTION_INFO_V1(bloomext_covers);
PG_FUNCTION_INFO_V1(bloomext_only_grows);

/* A filter to compare: in memory, or its prefix and the stored datum. */
typedef struct Compared
{
	Datum		datum;
	BfFilter	filter;
} Compared;

/* The cache of a call site of bf_only_grows. */
typedef struct Guard
{
	bool		rebuilds;		/* may filters be replaced by any other ones? */
	int			count;
	AttrNumber	columns[FLEXIBLE_ARRAY_MEMBER];
} Guard;

/* Open a filter to compare it with another. */
static void
open_compared(Compared *compared, Datum datum)
{
	compared->datum = datum;
	if (bf_slices_are_stored(datum))
		bf_slice_read_prefix(datum, &compared->filter);
	else
		bf_value_open(datum, &compared->filter);
}

/* Some bytes of a filter; *slice is to be freed after use, unless NULL. */
static const uint8 *
read_part(const Compared *compared, uint64 offset, Size length,
		  struct varlena **slice)
{
	*slice = NULL;
	if (compared->filter.whole)
		return compared->filter.bytes + offset;
	*slice = bf_slice_read(compared->datum, offset, length);
	return DatumGetBfBytes(*slice);
}

/* Whether a part of one filter covers a part of another, from offsets on. */
static bool
part_covers(const Compared *a, uint64 at, const Compared *b, uint64 other_at,
			Size length)
{
	struct varlena *slices[2];
	const uint8 *cells = read_part(a, at, length, &slices[0]);
	const uint8 *others = read_part(b, other_at, length, &slices[1]);
	bool		covers = bf_cells_cover(cells, others, length,
										b->filter.plan.header.cell_bits);

	for (int i = 0; i < 2; i++)
	{
		if (slices[i] != NULL)
			pfree(slices[i]);
	}
	return covers;
}

/* Whether a part of a layer is empty. */
static bool
part_is_empty(const Compared *compared, uint64 at, Size length)
{
	struct varlena *slice;
	const uint8 *cells = read_part(compared, at, length, &slice);
	bool		empty = bf_bits_are_zero(cells, length);

	if (slice != NULL)
		pfree(slice);
	return empty;
}

/* Whether a layer of b is covered by that of a, or empty if a has none. */
static bool
layer_is_covered(const Compared *a, const BfLayer *own, const Compared *b,
				 const BfLayer *layer)
{
	for (uint64 done = 0; done < layer->bytes; done += BF_PIECE)
	{
		Size		length = Min(BF_PIECE, layer->bytes - done);
		uint64		at = layer->offset + done;

		CHECK_FOR_INTERRUPTS();
		if (own->index < a->filter.plan.header.layers ?
			!part_covers(a, own->offset + done, b, at, length) :
			!part_is_empty(b, at, length))
			return false;
	}
	return true;
}

/*
 * Whether one filter looks up texts without trailing blanks, as char(n) has
 * them, and the elements of the other are unknown.
 */
static bool
drops_blanks(const BfHeader *own, const BfHeader *other)
{
	return own->meaning == BF_MEANING_BPCHAR &&
		other->meaning == BF_MEANING_UNKNOWN &&
		other->funnel != BF_FUNNEL_UNBOUND;
}

/* Whether a filter covers a comparable one. */
static bool
covers_all(const Compared *a, const Compared *b)
{
	BfLayer		own = a->filter.plan.first;

	if (drops_blanks(&a->filter.plan.header, &b->filter.plan.header))
		return false;
	bf_foreach_layer(layer, &b->filter)
	{
		if (!layer_is_covered(a, &own, b, &layer))
			return false;
		bf_filter_next_layer(&a->filter, &own);
	}
	return true;
}

/* bf_covers(bloomfilter, bloomfilter): does the first cover the second? */
Datum
bloomext_covers(PG_FUNCTION_ARGS)
{
	Compared	a;
	Compared	b;

	open_compared(&a, PG_GETARG_DATUM(0));
	open_compared(&b, PG_GETARG_DATUM(1));
	if (!bf_value_comparable(&a.filter, &b.filter))
		bf_value_refuse(&a.filter, &b.filter);
	PG_RETURN_BOOL(covers_all(&a, &b));
}

/* Whether two filters are of different sizes or strategies. */
static bool
differ_in_size(const BfPlan *a, const BfPlan *b)
{
	return a->strategy != b->strategy || a->first.bits != b->first.bits ||
		a->first.hashes != b->first.hashes;
}

/*
 * Whether a filter may replace another: it covers that, or differs in size or
 * strategy, as a rebuilt one does.  Another kind, or counters, may be a
 * mistake.
 */
static bool
may_replace(Datum new_filter, Datum old_filter)
{
	Compared	a;
	Compared	b;

	open_compared(&a, new_filter);
	open_compared(&b, old_filter);
	return differ_in_size(&a.filter.plan, &b.filter.plan) ||
		(bf_value_comparable(&a.filter, &b.filter) && covers_all(&a, &b));
}

/* Whether a column is of the type of filters, or of a domain over it. */
static bool
holds_filters(TupleDesc row, AttrNumber column, Oid filters)
{
	const FormData_pg_attribute *attribute = TupleDescAttr(row, column - 1);

	return !attribute->attisdropped && OidIsValid(filters) &&
		getBaseType(attribute->atttypid) == filters;
}

/* Whether a column is generated, so that triggers BEFORE UPDATE lack it. */
static bool
is_generated(TupleDesc row, AttrNumber column)
{
	return TupleDescAttr(row, column - 1)->attgenerated != '\0';
}

/* The column that a trigger's argument names; raises if it has no filters. */
static AttrNumber
named_column(const TriggerData *trigger, Oid filters)
{
	const char *name = trigger->tg_trigger->tgargs[0];
	TupleDesc	row = RelationGetDescr(trigger->tg_relation);
	int			column = SPI_fnumber(row, name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(trigger->tg_relation))));
	if (!holds_filters(row, column, filters))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is not of type bloomfilter", name)));
	if (is_generated(row, column))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" is a generated column", name),
				 errhint("Create the trigger for the columns from which it is generated.")));
	return column;
}

/* Find all columns of filters except generated ones. */
static void
guard_columns(const TriggerData *trigger, Oid filters, Guard *guard)
{
	TupleDesc	row = RelationGetDescr(trigger->tg_relation);

	for (AttrNumber i = 1; i <= row->natts; i++)
	{
		if (holds_filters(row, i, filters) && !is_generated(row, i))
			guard->columns[guard->count++] = i;
	}
	if (guard->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no updatable column of type bloomfilter",
						RelationGetRelationName(trigger->tg_relation))));
}

/* Evaluate a trigger's arguments. */
static Guard *
make_guard(FunctionCallInfo fcinfo, const TriggerData *trigger)
{
	const Trigger *definition = trigger->tg_trigger;
	Oid			filters = bf_filter_type(fcinfo);
	int			natts = RelationGetNumberOfAttributes(trigger->tg_relation);
	Guard	   *guard = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
											   offsetof(Guard, columns) +
											   natts * sizeof(AttrNumber));

	if (definition->tgnargs > 2 ||
		(definition->tgnargs == 2 &&
		 strcmp(definition->tgargs[1], "rebuild") != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid arguments for trigger \"%s\"", definition->tgname),
				 errhint("Specify no arguments, a column name, or a column name and 'rebuild'.")));
	guard->rebuilds = definition->tgnargs == 2;
	if (definition->tgnargs == 0)
		guard_columns(trigger, filters, guard);
	else
		guard->columns[guard->count++] = named_column(trigger, filters);
	return guard;
}

/* Raise if an UPDATE removes elements from a column's filter. */
static void
check_column(const TriggerData *trigger, AttrNumber column, bool rebuilds)
{
	Relation	table = trigger->tg_relation;
	TupleDesc	row = RelationGetDescr(table);
	bool		was_null;
	bool		is_null;
	Datum		old_filter = slot_getattr(trigger->tg_trigslot, column, &was_null);
	Datum		new_filter = slot_getattr(trigger->tg_newslot, column, &is_null);

	if (was_null ||
		(!is_null && (rebuilds ||
					  datumIsEqual(new_filter, old_filter, false, -1) ||
					  may_replace(new_filter, old_filter))))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("UPDATE would remove elements from the bloom filter in column \"%s\" of table \"%s\"",
					NameStr(TupleDescAttr(row, column - 1)->attname),
					RelationGetRelationName(table)),
			 is_null ? 0 :
			 errdetail("The current filter contains elements that the new one does not; the new one may be an outdated copy."),
			 errhint("Modify the filter in place, as in SET f = bf_add(f, ...), or omit its column from the UPDATE."),
			 errtablecol(table, column)));
}

/* Raise that a trigger is not supported; hint may be NULL. */
pg_noreturn static void
refuse_trigger(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("function \"%s\" %s", "bf_only_grows", message),
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* bf_only_grows([column [, 'rebuild']]): trigger FOR EACH ROW on UPDATE */
Datum
bloomext_only_grows(PG_FUNCTION_ARGS)
{
	const TriggerData *trigger = (const TriggerData *) fcinfo->context;
	const Guard *guard;

	if (!CALLED_AS_TRIGGER(fcinfo))
		refuse_trigger("was not called by trigger manager", NULL);
	if (!TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
		refuse_trigger("must be fired for row", "Create the trigger FOR EACH ROW.");
	if (!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		refuse_trigger("must be fired by UPDATE", NULL);
	if (TRIGGER_FIRED_INSTEAD(trigger->tg_event))
		refuse_trigger("must be fired BEFORE or AFTER UPDATE", "Create the trigger on the view's table.");
	/* A row that moves to another partition is deleted and inserted. */
	if (TRIGGER_FIRED_AFTER(trigger->tg_event) &&
		trigger->tg_relation->rd_rel->relispartition)
		refuse_trigger("must be fired BEFORE UPDATE if the table is a partition",
					   "AFTER UPDATE triggers are not fired for rows that move to another partition; create the trigger BEFORE UPDATE.");
	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra = make_guard(fcinfo, trigger);
	guard = fcinfo->flinfo->fn_extra;
	for (int i = 0; i < guard->count; i++)
		check_column(trigger, guard->columns[i], guard->rebuilds);
	return PointerGetDatum(trigger->tg_newtuple);
}
