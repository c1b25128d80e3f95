/*
 * parts.h
 *	  Elements of several columns: their parts, and the bytes that these make.
 */
#ifndef BLOOMEXT_PARTS_H
#define BLOOMEXT_PARTS_H

#include "type/element_type.h"

/*
 * A part: the fields of BfElementType that its bytes depend on.  The meaning
 * of a literal of no type yet (parts.c) is BF_MEANING_UNKNOWN.
 */
typedef struct BfPart
{
	uint8		kind;			/* BfKind */
	uint8		form;			/* BfForm */
	uint8		meaning;		/* BfMeaning */
	bool		ignores_blanks;
} BfPart;

/* The parts of an element, one for each column */
typedef struct BfParts
{
	uint32		count;			/* 0: it is the value of a single column */
	BfPart		part[INDEX_MAX_KEYS];
} BfParts;

/* Room on the stack, so that a short element is not allocated */
typedef union BfPartsRoom
{
	int32		align;			/* as its length has */
	char		bytes[256];
} BfPartsRoom;

extern void bf_parts_describe(const Oid *types, int count,
							  BfElementType *element, BfParts *parts);
extern void bf_parts_add(BfParts *parts, const BfElementType *element);
extern bool bf_parts_are_equal(const BfParts *left, const BfParts *right);
extern bool bf_parts_take(const BfParts *parts, const BfParts *asked);
extern void bf_parts_check_count(int count);
extern char *bf_parts_name(const BfParts *parts);
extern bool bf_parts_are_hashable(const BfParts *parts, const Datum *values);
extern Datum bf_parts_bytes(const BfParts *parts, const Datum *values,
							BfPartsRoom *room);

/*
 * The element of the values of an index's columns, perhaps in `room`; false if
 * it has none, as a column is NULL.
 */
static inline bool
bf_parts_element(const BfParts *parts, const Datum *values, const bool *isnull,
				 BfPartsRoom *room, Datum *element)
{
	if (parts->count == 0)
	{
		*element = values[0];
		return !isnull[0];
	}
	for (uint32 i = 0; i < parts->count; i++)
	{
		if (isnull[i])
			return false;
	}
	*element = bf_parts_bytes(parts, values, room);
	return true;
}

#endif							/* BLOOMEXT_PARTS_H */
