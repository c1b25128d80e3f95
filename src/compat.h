/*
 * compat.h
 *	  Every difference between the PostgreSQL versions that bloomext builds for.
 */
#ifndef BLOOMEXT_COMPAT_H
#define BLOOMEXT_COMPAT_H

#include "utils/tuplesort.h"

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* 15 named the flag that asks a tuplesort for a second pass. */
#if PG_VERSION_NUM < 150000
#define TUPLESORT_RANDOMACCESS	true
#endif

/* 16 lets tuplesort_getdatum() hand out its own memory. */
static inline bool
compat_tuplesort_getdatum(Tuplesortstate *state, Datum *value, bool *isnull)
{
#if PG_VERSION_NUM >= 160000
	return tuplesort_getdatum(state, true, false, value, isnull, NULL);
#else
	return tuplesort_getdatum(state, true, value, isnull, NULL);
#endif
}

/* 16 made BufFile's reader and writer speak of void and size_t. */
#if PG_VERSION_NUM < 160000
#define BufFileReadExact(file, data, size) \
	do { \
		if (BufFileRead(file, data, size) != (size)) \
			ereport(ERROR, \
					(errcode_for_file_access(), \
					 errmsg("could not read from temporary file: %m"))); \
	} while (0)
#endif

#endif							/* BLOOMEXT_COMPAT_H */
