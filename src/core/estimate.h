/*
 * estimate.h
 *	  Estimates from the number of bits set in a filter.
 */
#ifndef BLOOMEXT_ESTIMATE_H
#define BLOOMEXT_ESTIMATE_H

#include <stdint.h>

extern double bf_estimate_fpp(uint64_t bits_set, uint64_t bits,
							  uint32_t hashes);
extern double bf_estimate_count(uint64_t bits_set, uint64_t bits,
								uint32_t hashes);
extern double bf_estimate_capacity(double fpp, uint64_t bits,
								   uint32_t hashes);

#endif							/* BLOOMEXT_ESTIMATE_H */
