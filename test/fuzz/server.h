/*
 * server.h
 *	  As much of a server as the fuzz targets of type/ and redis/ want.
 */
#ifndef BLOOMEXT_FUZZ_SERVER_H
#define BLOOMEXT_FUZZ_SERVER_H

#include "postgres.h"

#include "fmgr.h"

/* The most arguments of a function that is called by call(). */
#define MAX_ARGUMENTS	9

extern int	run(void (*statement) (void *arg), void *arg);
extern void end_session(void);
extern void pass_time(long ms);

extern Datum call(PGFunction function, int arguments, const Datum *values);
extern Datum text_datum(const char *text);

#endif							/* BLOOMEXT_FUZZ_SERVER_H */
