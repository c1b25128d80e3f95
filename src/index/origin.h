/*
 * origin.h
 *	  Where a transaction's rows went, and which filters are to know them.
 *
 * The names of a table and of its index may come to mean other files, and the files
 * may get other names, until the transaction that inserted a row commits.  So an
 * origin has both, and is traced anew whenever the catalogs changed.
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
	Oid			element;		/* the type that the operator class is for */

	/* Found out by the catalogs of an epoch. */
	uint64		definitions;	/* 0: not yet */
	bool		is_home;		/* has the index its file? */
	Oid			owner;			/* what else has that; or invalid */
	Oid			heir;			/* else the table that has the rows' file */
} BfOrigin;

extern bool bf_file_is_new(RelFileLocator file);
extern void bf_origin_of(Relation table, Relation index, BfOrigin *origin);
extern bool bf_origin_is_home(BfOrigin *origin);
extern Oid	bf_origin_owner(BfOrigin *origin);
extern bool bf_origin_concerns(BfOrigin *origin, Relation index);
extern List *bf_origin_candidates(BfOrigin *origin);

#endif							/* BLOOMEXT_ORIGIN_H */
