/*
 * murmur3_32.h
 *	  MurmurHash3 x86 32, with the tail that Spark gives it.
 */
#ifndef BLOOMEXT_MURMUR3_32_H
#define BLOOMEXT_MURMUR3_32_H

#include "core/longhash.h"

/* The first wide result is the hash. */
extern const BfHashFunction bf_murmur3_spark_function;

extern uint32_t bf_murmur3_spark(const uint8_t *data, size_t length,
								 uint32_t seed);

#endif							/* BLOOMEXT_MURMUR3_32_H */
