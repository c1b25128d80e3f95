/*
 * bloomext.c
 *	  The module: its magic.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;
