/*
 * hiredis_compat.h
 *	  All differences between the versions of hiredis, 0.14 to 1.x, that
 *	  bloomext builds for.
 */
#ifndef BLOOMEXT_HIREDIS_COMPAT_H
#define BLOOMEXT_HIREDIS_COMPAT_H

#include <hiredis.h>

/*
 * 1.0 counts the elements of a reply in size_t, and reads doubles and
 * booleans, which no command of ours returns.
 */
#if HIREDIS_MAJOR >= 1
typedef size_t compat_reply_count;

static inline void *
compat_refuse_double(const redisReadTask *task, double value, char *text,
					 size_t length)
{
	return NULL;
}

static inline void *
compat_refuse_bool(const redisReadTask *task, int value)
{
	return NULL;
}

#define COMPAT_REFUSE_RESP3 \
	.createDouble = compat_refuse_double, \
	.createBool = compat_refuse_bool
#else
typedef int compat_reply_count;

#define COMPAT_REFUSE_RESP3
#endif

#endif							/* BLOOMEXT_HIREDIS_COMPAT_H */
