/*
 * server.h
 *	  As much of a server as the fuzz targets of type/ and redis/ want.
 */
#ifndef BLOOMEXT_FUZZ_SERVER_H
#define BLOOMEXT_FUZZ_SERVER_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/nodes.h"

/* The most arguments of a function that is called by call(). */
#define MAX_ARGUMENTS	11

/* May what is stored be? */
extern bool may_be_damaged;

/* Is somebody waiting for us, so that only errors may be said? */
extern bool is_waited_for;

extern int	database_encoding;

/* An argument that is NULL, before others that are not. */
extern char null_argument;
#define NULL_ARGUMENT	PointerGetDatum(&null_argument)

extern int	run(void (*statement) (void *arg), void *arg);
extern const char *what_was_said(void);
extern void end_session(void);
extern void pass_time(long ms);

extern FmgrInfo call_site;
extern Node *call_context;

extern Datum call(PGFunction function, int arguments, const Datum *values);
extern Datum text_datum(const char *text);
extern Datum bytes_datum(const uint8 *bytes, Size length);
extern Datum stored_datum(const uint8 *bytes, Size length, Size said);

#endif							/* BLOOMEXT_FUZZ_SERVER_H */
