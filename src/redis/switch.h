/*
 * switch.h
 *	  Put keys that were written aside in the place of a filter's.
 */
#ifndef BLOOMEXT_SWITCH_H
#define BLOOMEXT_SWITCH_H

#include "redis/remote.h"

/* After so many ms, temporary keys that nobody put in place are gone. */
#define BF_TEMPORARY_TTL	(10 * 60 * 1000)

extern void bf_switch(const BfRemote *remote, char **temporary,
					  uint32 old_layers, int64 ttl);

#endif							/* BLOOMEXT_SWITCH_H */
