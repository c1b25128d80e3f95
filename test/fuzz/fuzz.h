/*
 * fuzz.h
 *	  What the fuzz targets share: an input taken piece by piece, and all that
 *	  is done with a filter that opened.
 *
 * A target is one file with LLVMFuzzerTestOneInput().  What it requires is
 * checked by REQUIRE, which ends the program as a sanitizer's report does.
 */
#ifndef BLOOMEXT_FUZZ_H
#define BLOOMEXT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "strategy/filter.h"
#include "vectors.h"

/* All that there are, for an input to choose from. */
#define STRATEGIES	11

/* An input; beyond its end there are zeros. */
typedef struct Input
{
	const uint8_t *at;
	size_t		left;
} Input;

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where what is made is written, for replay.c; by default, nowhere. */
extern FILE *made;

extern uint64_t take(Input *input, int bytes);
extern double take_double(Input *input);

extern uint8_t *make_filter(BfPlan *plan, BfFilter *filter);
extern void open_slices(const uint8_t *bytes, size_t length);
extern void exercise(const uint8_t *bytes, size_t length);
extern void round_trip(const BfStream *stream, const BfFilter *filter);

#define REQUIRE(ok) \
	do { \
		if (!(ok)) \
		{ \
			fprintf(stderr, "%s:%d: required: %s\n", __FILE__, __LINE__, #ok); \
			abort(); \
		} \
	} while (0)

#endif							/* BLOOMEXT_FUZZ_H */
