/*
 * refresh.h
 *	  Send only what a string in Redis does not have yet.
 */
#ifndef BLOOMEXT_REFRESH_H
#define BLOOMEXT_REFRESH_H

#include "redis/image.h"

extern bool bf_refresh(const BfImage *image, uint64 *sent);

#endif							/* BLOOMEXT_REFRESH_H */
