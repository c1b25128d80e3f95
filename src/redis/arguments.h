/*
 * arguments.h
 *	  What the functions over Redis have in common: server, key, ttl.
 */
#ifndef BLOOMEXT_ARGUMENTS_H
#define BLOOMEXT_ARGUMENTS_H

#include "fmgr.h"

extern Oid	bf_server_argument(FunctionCallInfo fcinfo, int argument);
extern char *bf_key_argument(FunctionCallInfo fcinfo, int argument);
extern int64 bf_ttl_argument(FunctionCallInfo fcinfo, int argument);

#endif							/* BLOOMEXT_ARGUMENTS_H */
