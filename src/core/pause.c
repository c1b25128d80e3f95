/*
 * pause.c
 *	  The pauses of long work: see pause.h.
 */
#include "core/pause.h"

/* Without a server there is nothing to check for. */
static void
go_on(void)
{
}

void		(*bf_pause) (void) = go_on;
