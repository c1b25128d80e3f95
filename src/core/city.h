/*
 * city.h
 *	  CityHash64 of version 1.1, without a seed.
 */
#ifndef BLOOMEXT_CITY_H
#define BLOOMEXT_CITY_H

#include "core/longhash.h"

/* The first wide result is the hash; there is no seed. */
extern const BfHashFunction bf_city;

extern uint64_t bf_city_64(const uint8_t *data, size_t length);

#endif							/* BLOOMEXT_CITY_H */
