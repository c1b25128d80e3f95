/*
 * link.c
 *	  The functions of bloomext_hiredis.so: see redis/transport.h.
 *
 * hiredis makes the socket, reads from it and parses what it has read; with
 * TLS it also writes.  Without TLS, bytes are written directly from the
 * caller's memory.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "fmgr.h"

#include "hiredis/link.h"

PG_MODULE_MAGIC;

/* Maximum length of a line in a reply: lengths, numbers, and errors. */
#define MAX_LINE		(64 * 1024)

static void
set_problem(BfLink *link, const char *problem)
{
	strlcpy(link->problem, problem, sizeof(link->problem));
}

/* Store why a link was lost, which TLS may know better. */
static void
set_loss(BfHiredis *hiredis, const char *problem)
{
	BfLink	   *link = &hiredis->link;

	if (!hiredis->tls || !bf_tls_reason(link->problem, sizeof(link->problem)))
		set_problem(link, problem);
}

static void
link_close(BfLink *link)
{
	redisFree(((BfHiredis *) link)->context);
	free(link);
}

static BfLink *
link_connect(const char *path, const char *host, int port)
{
	BfHiredis  *hiredis = calloc(1, sizeof(BfHiredis));

	if (hiredis == NULL)
		return NULL;
	hiredis->context = path ? redisConnectUnixNonBlock(path) :
		redisConnectNonBlock(host, port);
	if (hiredis->context == NULL)
	{
		free(hiredis);
		return NULL;
	}
	if (hiredis->context->err != 0)
		set_problem(&hiredis->link, hiredis->context->errstr);
	hiredis->link.fd = hiredis->context->fd;
	(void) fcntl(hiredis->link.fd, F_SETFD, FD_CLOEXEC);
	bf_reply_make_by(hiredis);
	return &hiredis->link;
}

/* Count received bytes that belong to no reply yet. */
static void
count_unread(BfHiredis *hiredis)
{
	const redisReader *reader = hiredis->context->reader;

	hiredis->link.unread = reader->len - reader->pos;
}

#ifdef BF_HIREDIS_SSL

static bool
link_start_tls(BfLink *link, const BfTlsOptions *options)
{
	BfHiredis  *hiredis = (BfHiredis *) link;

	hiredis->tls = true;
	if (bf_tls_start(hiredis->context, options))
		return true;
	set_loss(hiredis, "TLS: unknown error.");
	return false;
}

#endif							/* BF_HIREDIS_SSL */

static ssize_t
link_read(BfLink *link)
{
	BfHiredis  *hiredis = (BfHiredis *) link;
	redisContext *context = hiredis->context;
	size_t		before = link->unread;

	if ((hiredis->tls ? bf_tls_read(context) :
		 redisBufferRead(context)) != REDIS_OK)
	{
		set_loss(hiredis, context->errstr);
		return -1;
	}
	count_unread(hiredis);
	return link->unread - before;
}

static ssize_t
link_write(BfLink *link, const void *bytes, size_t length)
{
	BfHiredis  *hiredis = (BfHiredis *) link;
	ssize_t		written = hiredis->tls ?
		bf_tls_write(hiredis->context, bytes, length) :
		send(link->fd, bytes, length, 0);

	if (written >= 0)
		return written;
	if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
		return 0;
	set_loss(hiredis, strerror(errno));
	return -1;
}

static bool
link_must_read(BfLink *link)
{
	const BfHiredis *hiredis = (BfHiredis *) link;

	return hiredis->tls && bf_tls_must_read(hiredis->context);
}

/* Whether a line is too long: hiredis searches all of it each time. */
static bool
line_is_endless(const redisReader *reader)
{
	return reader->len - reader->pos > MAX_LINE &&
		memmem(reader->buf + reader->pos, MAX_LINE, "\r\n", 2) == NULL;
}

static bool
link_parse(BfLink *link, BfReply **reply)
{
	BfHiredis  *hiredis = (BfHiredis *) link;
	redisReader *reader = hiredis->context->reader;
	void	   *object = NULL;

	if (redisReaderGetReply(reader, &object) != REDIS_OK)
	{
		set_problem(link, reader->err == REDIS_ERR_OOM ?
					"The reply is larger than any that was requested." :
					reader->errstr);
		return false;
	}
	if (object == NULL && line_is_endless(reader))
	{
		set_problem(link, "A line of the reply is longer than any that was requested.");
		return false;
	}
	if (object != NULL)
		hiredis->elements = hiredis->objects = 0;
	count_unread(hiredis);
	*reply = object;
	return true;
}

const BfTransport *
bloomext_hiredis_transport(void)
{
	static const BfTransport transport = {
		.format = BF_TRANSPORT_FORMAT,
		.connect = link_connect,
		.close = link_close,
#ifdef BF_HIREDIS_SSL
		.start_tls = link_start_tls,
#endif
		.read = link_read,
		.write = link_write,
		.must_read = link_must_read,
		.parse = link_parse,
		.free_reply = bf_reply_free
	};

	return &transport;
}
