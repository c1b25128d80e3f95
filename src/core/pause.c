/*
 * pause.c
 *	  What long work calls every now and then.
 *
 * See pause.h.
 */
#include "core/pause.h"

/* Without a server there is nobody to be heard. */
static void
go_on(void)
{
}

void		(*bf_pause) (void) = go_on;
