/*
 * filters.h
 *	  Which live filters answer for a relation, and whether their "no" is
 *	  certain.
 *
 *	  lookup_cache.c	what was found before for a relation, and is still valid
 *	  resolve.c			which filters does the named relation stand for?
 *	  index_key.c		which columns or expressions are they on?
 *	  rows.c			are the rows in tables that indexes cover, or kept elsewhere?
 *	  rights.c			is the user allowed to know?
 *	  visibility.c		does a filter hold every row that this snapshot can see?
 *	  epoch.c			until when is all of that valid?
 *
 * The header is not named after its folder, as PostgreSQL has a
 * catalog/catalog.h.
 */
#ifndef BLOOMEXT_FILTERS_H
#define BLOOMEXT_FILTERS_H

#include "nodes/execnodes.h"

#include "pages/layers.h"
#include "type/row.h"

/* epoch.c */
extern void bf_epoch_init(void);
extern uint64 bf_epoch(void);
extern uint64 bf_definitions(void);

/* index_key.c */

/* A column of a key: of the table, or an expression */
typedef struct BfKeyColumn
{
	const char *name;			/* of the column, or of that of the index */
	Node	   *expression;		/* or NULL */
} BfKeyColumn;

typedef struct BfIndexKey
{
	Oid			index;
	Oid			table;
	int			count;			/* of columns */
	BfKeyColumn columns[FLEXIBLE_ARRAY_MEMBER];
} BfIndexKey;

extern BfIndexKey *bf_index_key_of(Relation index);
extern bool bf_index_key_equals(const BfIndexKey *left,
								const BfIndexKey *right);
extern const char *bf_index_key_name(const BfIndexKey *key);
extern const char *bf_index_key_list(const List *keys);
extern bool bf_index_key_is_named(Relation index, const char *name);

/* Why the "no" of a filter is not certain */
typedef enum BfDoubt
{
	BF_SURE = 0,				/* it is certain */
	BF_NOT_VALID,				/* the index is not valid (yet) */
	BF_OLD_SNAPSHOT,			/* may see rows that the build left out */
	BF_EMPTIED,					/* by a transaction that was rolled back */
	BF_FUTURE					/* its horizon is in the future */
} BfDoubt;

/* visibility.c */
extern FullTransactionId bf_full_xid(TransactionId xid);
extern BfDoubt bf_live_lasting_doubt(Relation index, const BfLive *live);
extern BfDoubt bf_live_doubt(Relation index, const BfLive **live);
extern const char *bf_doubt_text(BfDoubt doubt);
extern const char *bf_doubt_hint(BfDoubt doubt);
extern bool bf_live_was_undone(Relation table, const BfLive *live);
extern bool bf_live_holds_elements(Relation index);
extern const char *bf_live_maybe(Relation index);
extern void bf_live_check_columns(Relation index);

/* rows.c */
typedef struct BfPlace
{
	Oid			table;
	const char *elsewhere;		/* NULL: its rows are in itself; or where, in
								 * words to follow "rows of ... are" */
	bool		leaving;		/* being detached, or a table above is */
} BfPlace;

extern BfPlace *bf_rows_place(Oid table, bool alone);
extern bool bf_rows_are_out_of_reach(const BfPlace *place);
extern List *bf_rows_tables(Oid root);
extern List *bf_rows_places(Oid root);
extern bool bf_rows_may_move(void);
extern bool bf_rows_stayed(const List *leaves, bool alone);
extern const char *bf_rows_maybe(const BfPlace *place);

/* rights.c */
extern bool bf_rights_check_table(Oid table);
extern bool bf_rights_may_read_columns(Oid named, Relation index);
extern bool bf_rights_may_plan(Oid named, Relation index, Oid user);
extern bool bf_rights_may_see_statistics(HeapTuple index);
extern void bf_rights_refuse(Oid table);
extern void bf_rights_keep(const List *leaves, Oid named, const List *own,
						   bool whole);

/* resolve.c */
typedef struct BfLeaf
{
	BfPlace		place;
	List	   *indexes;		/* OIDs of filters on the same key; locked */
	BfLookupHint last;			/* of the last lookup */
} BfLeaf;

/* What a lookup is for */
typedef struct BfQuestion
{
	Oid			rel;
	const BfElementType *element;	/* NULL: no element, or a row */
	const BfRowType *row;		/* of several columns; NULL: no row */
	const char *column;			/* or the index on an expression; or NULL */
	bool		all;			/* all filters of the relation */
} BfQuestion;

extern List *bf_resolve(const BfQuestion *question);
extern List *bf_resolve_certain(const BfQuestion *question);
extern List *bf_resolve_sure(Oid rel);
extern List *bf_resolve_index(Oid index);

/* lookup_cache.c */
typedef struct BfCachedLookup BfCachedLookup;

/* The last lookup of a call site; valid for an epoch. */
typedef struct BfLastLookup
{
	BfCachedLookup *entry;
	uint64		epoch;
} BfLastLookup;

extern const List *bf_lookup_cache_leaves(const BfQuestion *question,
										  BfLastLookup *last);

#endif							/* BLOOMEXT_FILTERS_H */
