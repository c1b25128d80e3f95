/*
 * origin.h
 *	  Where the rows of a transaction went, and which filters have to cover
 *	  them.
 *
 * Until the transaction that inserted a row commits, the table and its index
 * may get other files, and their files may move to other relations.  So an
 * origin records both files, and is traced again whenever the catalogs have
 * changed.
 */
#ifndef BLOOMEXT_ORIGIN_H
#define BLOOMEXT_ORIGIN_H

#include "utils/rel.h"

#include "compat.h"
#include "strategy/strategy.h"

/* Where rows went: a table, and an index of it that is a live filter. */
typedef struct BfOrigin
{
	Oid			table;
	Oid			index;
	Oid			access_method;
	RelFileLocator table_file;
	RelFileLocator index_file;
	bool		is_temporary;
	const BfStrategy *strategy; /* of the hashes */
	BfFunnel	funnel;
	int			columns;
	Oid			types[INDEX_MAX_KEYS];	/* of the operator classes of these */

	/* Determined from the catalogs, as of `definitions`. */
	uint64		definitions;	/* 0: not yet */
	bool		is_home;		/* does the index still have its file? */
	Oid			owner;			/* the index that has that file, or invalid */
	Oid			heir;			/* else the table with the file of the rows */
} BfOrigin;

extern bool bf_file_is_new(RelFileLocator file);
extern void bf_origin_of(Relation table, Relation index, BfOrigin *origin);
extern bool bf_origin_is_home(BfOrigin *origin);
extern Oid	bf_origin_owner(BfOrigin *origin);
extern bool bf_origin_concerns(BfOrigin *origin, Relation index);
extern List *bf_origin_candidates(BfOrigin *origin);

#endif							/* BLOOMEXT_ORIGIN_H */
