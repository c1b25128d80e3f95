/*
 * xxh64.h
 *	  XXH64 with seed 0.
 */
#ifndef BLOOMEXT_XXH64_H
#define BLOOMEXT_XXH64_H

#include <stddef.h>
#include <stdint.h>

extern uint64_t bf_xxh64(const uint8_t *data, size_t length);

#endif							/* BLOOMEXT_XXH64_H */
