/*
 * value.c
 *	  Fuzz the one decoder: bytes as a value, whole and by slices.
 */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	open_slices(data, size);
	exercise(data, size);
	return 0;
}
