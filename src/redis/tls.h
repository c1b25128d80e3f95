/*
 * tls.h
 *	  TLS to Redis servers, where hiredis has it.
 */
#ifndef BLOOMEXT_TLS_H
#define BLOOMEXT_TLS_H

#include "redis/hiredis_compat.h"
#include "redis/options.h"

extern void bf_tls_start(redisContext *context, const BfServer *server);
#ifdef BF_HIREDIS_SSL
extern const char *bf_tls_reason(const char *otherwise);
extern int	bf_tls_read(redisContext *context);
extern ssize_t bf_tls_write(redisContext *context, const char *bytes,
							size_t length);
extern int	bf_tls_wants(redisContext *context);
#else
#define bf_tls_reason(otherwise)	(otherwise)
#define bf_tls_read(context)		REDIS_ERR
#define bf_tls_write(context, bytes, length) (-1)
#define bf_tls_wants(context)		0
#endif

#endif							/* BLOOMEXT_TLS_H */
