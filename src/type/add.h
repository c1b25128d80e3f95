/*
 * add.h
 *	  Add hashed elements to values of any kind of filter.
 */
#ifndef BLOOMEXT_ADD_H
#define BLOOMEXT_ADD_H

#include "type/value.h"

extern void bf_value_add(BfValue *value, BfHash *hashes, Size count);
extern bool bf_value_put(BfValue *value, BfHash *hash);

#endif							/* BLOOMEXT_ADD_H */
