/*
 * row.h
 *	  Rows that are asked for: what their fields are, and the element that they
 *	  make.
 */
#ifndef BLOOMEXT_ROW_H
#define BLOOMEXT_ROW_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "nodes/pg_list.h"

#include "type/parts.h"

/* A type of rows; `identity` is another one once its definition has changed. */
typedef struct BfRowType
{
	uint64		identity;		/* 0: none */
	Oid			type;
	int32		typmod;
	TupleDesc	fields;
	bool		is_named;		/* do its fields have names to be compared? */
	BfParts		parts;			/* one for each field that is not dropped */
	int16		number[INDEX_MAX_KEYS]; /* of the field of a part, from 0 on */
	MemoryContext context;		/* of `fields`; that of the struct lives longer */
} BfRowType;

/* The element of a filter that rows of a type are made into */
typedef struct BfRowTarget
{
	BfParts		parts;			/* of the filter; count 0: of none */
	BfParts		made;			/* of the rows, as the filter takes them */
	bool		has_literals;	/* are some of them to be read first? */
	Oid			type[INDEX_MAX_KEYS];	/* of the columns */
	FmgrInfo	input[INDEX_MAX_KEYS];	/* of these types; or fn_oid invalid */
	Oid			parameter[INDEX_MAX_KEYS];
	MemoryContext context;		/* of `input` */
} BfRowTarget;

extern bool bf_type_is_row(Oid type);
extern const char *bf_row_default_name(int number);
extern bool bf_row_is_nameless(const char *field, int number);
extern void bf_row_describe_value(BfRowType *row, HeapTupleHeader value);
extern void bf_row_describe_fields(BfRowType *row, List *fields);
extern const char *bf_row_field(const BfRowType *row, int part);
extern void bf_row_aim(BfRowTarget *target, const BfRowType *row,
					   const Oid *types);
extern bool bf_row_deform(const BfRowType *row, HeapTupleHeader value,
						  Datum *values);
extern Datum bf_row_element(const BfRowType *row, BfRowTarget *target,
							Datum *values, BfPartsRoom *room);

#endif							/* BLOOMEXT_ROW_H */
