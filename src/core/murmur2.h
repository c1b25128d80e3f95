/*
 * murmur2.h
 *	  MurmurHash2 as two other programs use it.
 */
#ifndef BLOOMEXT_MURMUR2_H
#define BLOOMEXT_MURMUR2_H

#include <stddef.h>
#include <stdint.h>

extern uint64_t bf_murmur2_64a(const uint8_t *data, size_t length,
							   uint64_t seed);
extern uint32_t bf_murmur2_cassandra(const uint8_t *data, size_t length,
									 uint32_t seed);

#endif							/* BLOOMEXT_MURMUR2_H */
