/*
 * city.h
 *	  CityHash64 of version 1.1, without a seed.
 */
#ifndef BLOOMEXT_CITY_H
#define BLOOMEXT_CITY_H

#include <stddef.h>
#include <stdint.h>

extern uint64_t bf_city_64(const uint8_t *data, size_t length);

#endif							/* BLOOMEXT_CITY_H */
