/*
 * link.h
 *	  A link with what hiredis needs for it, and TLS if hiredis supports that.
 */
#ifndef BLOOMEXT_LINK_H
#define BLOOMEXT_LINK_H

#include "hiredis/hiredis_compat.h"
#include "redis/transport.h"

typedef struct BfHiredis
{
	BfLink		link;			/* what bloomext.so sees of it */
	redisContext *context;
	bool		tls;
	size_t		elements;		/* of a reply, nested arrays included */
	size_t		objects;		/* those of them that take memory of their
								 * own */
} BfHiredis;

extern void bf_reply_make_by(BfHiredis *hiredis);
extern void bf_reply_free(BfReply *reply);

#ifdef BF_HIREDIS_SSL
extern bool bf_tls_start(redisContext *context, const BfTlsOptions *options);
extern bool bf_tls_reason(char *reason, size_t size);
extern int	bf_tls_read(redisContext *context);
extern ssize_t bf_tls_write(redisContext *context, const void *bytes,
							size_t length);
extern bool bf_tls_must_read(const redisContext *context);
#else
#define bf_tls_reason(reason, size)	false
#define bf_tls_read(context)		REDIS_ERR
#define bf_tls_write(context, bytes, length) (-1)
#define bf_tls_must_read(context)	false
#endif

#endif							/* BLOOMEXT_LINK_H */
