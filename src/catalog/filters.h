/*
 * filters.h
 *	  Which live filters answer for a relation, and what their "no" is worth.
 *
 *	  lookup_cache.c	what a call site found out before, and still holds
 *	  resolve.c			which filters does the relation that was named stand for?
 *	  index_key.c		which column or expression are they over?
 *	  rows.c			are the rows of all its tables where their filters are?
 *	  rights.c			may the user be told?
 *	  visibility.c		does a filter know every row that this snapshot can see?
 *	  epoch.c			until when may all of that be believed?
 *
 * The header is not called as the folder is: PostgreSQL has a catalog/catalog.h.
 */
#ifndef BLOOMEXT_FILTERS_H
#define BLOOMEXT_FILTERS_H

#include "nodes/execnodes.h"

#include "pages/layers.h"

/* epoch.c */
extern void bf_epoch_init(void);
extern uint64 bf_epoch(void);
extern uint64 bf_definitions(void);

/* index_key.c */
typedef struct BfSubject
{
	Oid			index;
	Oid			table;
	const char *column;			/* or NULL */
	Node	   *expression;		/* or NULL */
} BfSubject;

extern BfSubject *bf_subject_of(Relation index);
extern bool bf_subject_equals(const BfSubject *left, const BfSubject *right);
extern const char *bf_subject_name(const BfSubject *subject);
extern const char *bf_subject_list(const List *subjects);
extern bool bf_subject_is_named(Relation index, const char *name);

/* What keeps a filter's "no" from being sure. */
typedef enum BfDoubt
{
	BF_SURE = 0,				/* a "no" is one */
	BF_NOT_VALID,				/* the index is not valid (yet) */
	BF_OLD_SNAPSHOT,			/* may see rows from before the index */
	BF_EMPTIED,					/* by a transaction that was rolled back */
	BF_FUTURE					/* built by transactions still to come */
} BfDoubt;

/* visibility.c */
extern FullTransactionId bf_full_xid(TransactionId xid);
extern BfDoubt bf_live_lasting_doubt(Relation index, const BfLive *live);
extern BfDoubt bf_live_doubt(Relation index, const BfLive **live);
extern const char *bf_doubt_text(BfDoubt doubt);
extern const char *bf_doubt_hint(BfDoubt doubt);
extern bool bf_live_was_undone(Relation table, const BfLive *live);
extern bool bf_live_holds_elements(Relation index);
extern const char *bf_live_column_hint(Relation index);
extern const char *bf_live_maybe(Relation index);
extern void bf_live_check_column(Relation index);

/* rows.c */
typedef struct BfPlace
{
	Oid			table;
	const char *elsewhere;		/* NULL: its rows are in itself; or where, in
								 * words to follow "rows of ... are" */
	bool		leaving;		/* being detached, itself or with a table above */
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
extern bool bf_rights_may_read_column(Oid named, Relation index);
extern bool bf_rights_may_plan(Oid named, Relation index, Oid user);
extern bool bf_rights_may_see_statistics(Oid table, AttrNumber column);
extern void bf_rights_refuse(Oid table);
extern void bf_rights_keep(const List *leaves, Oid named, const List *own,
						   bool whole);

/* resolve.c */
typedef struct BfLeaf
{
	BfPlace		place;
	List	   *indexes;		/* OIDs of filters over the same; locked */
	BfLastAsked last;			/* of the one asked last */
} BfLeaf;

/* What is asked of a relation. */
typedef struct BfQuestion
{
	Oid			rel;
	const BfElementType *element;	/* NULL: none */
	const char *column;			/* or an expression's index; NULL: any */
	bool		all;			/* all filters there are */
} BfQuestion;

extern List *bf_resolve(const BfQuestion *question);
extern List *bf_resolve_certain(const BfQuestion *question);
extern List *bf_resolve_sure(Oid rel);
extern List *bf_resolve_index(Oid index);

/* lookup_cache.c */
typedef struct BfKnown BfKnown;

/* What a call site asked last; good for an epoch. */
typedef struct BfLastKnown
{
	BfKnown    *known;
	uint64		epoch;
} BfLastKnown;

extern const List *bf_known_leaves(const BfQuestion *question,
								   BfLastKnown *last);

#endif							/* BLOOMEXT_FILTERS_H */
