/*
 * add.h
 *	  Put hashed elements into values, whatever kind of filter they are.
 */
#ifndef BLOOMEXT_ADD_H
#define BLOOMEXT_ADD_H

#include "type/value.h"

extern void bf_value_add(BfValue *value, BfHash *hashes, Size count);
extern bool bf_value_put(BfValue *value, BfHash *hash);

#endif							/* BLOOMEXT_ADD_H */
