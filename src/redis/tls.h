/*
 * tls.h
 *	  TLS to Redis servers, where hiredis has it.
 */
#ifndef BLOOMEXT_TLS_H
#define BLOOMEXT_TLS_H

#include "redis/hiredis_compat.h"
#include "redis/options.h"

extern void bf_tls_start(redisContext *context, const BfServer *server);
extern const char *bf_tls_reason(const char *otherwise);
extern int	bf_tls_read(redisContext *context);
extern ssize_t bf_tls_write(redisContext *context, const char *bytes,
							size_t length);
extern int	bf_tls_wants(redisContext *context);

#endif							/* BLOOMEXT_TLS_H */
