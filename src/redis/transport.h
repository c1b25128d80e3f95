/*
 * transport.h
 *	  The interface between bloomext.so and bloomext_hiredis.so.
 *
 * The former encodes commands and evaluates replies; the latter, built from
 * src/hiredis/, contains all that needs hiredis: it connects, carries bytes,
 * with or without TLS, and parses replies.  It is loaded when a session first
 * connects to Redis, so that all else works where hiredis is not installed.
 *
 * Nothing in it waits, is interrupted or raises an error: a function that
 * fails returns so, and leaves the reason in the link.  It calls nothing of
 * bloomext.so.
 *
 * The two may come from different releases, at least in a session that began
 * before an upgrade.  So the struct of functions starts with what shows
 * whether both were built from the same version of this file.
 */
#ifndef BLOOMEXT_TRANSPORT_H
#define BLOOMEXT_TRANSPORT_H

/* To be raised with any change of what follows, or of what it means. */
#define BF_TRANSPORT_VERSION	1

#define BF_TRANSPORT_MAGIC		0xb1003e87

/* Where it is, but for tests that have their own. */
#ifndef BF_TRANSPORT_LIBRARY
#define BF_TRANSPORT_LIBRARY	"$libdir/bloomext_hiredis"
#endif
#define BF_TRANSPORT_SYMBOL		"bloomext_hiredis_transport"

typedef enum BfReplyType
{
	BF_REPLY_OTHER,				/* what no command of ours asks for */
	BF_REPLY_STRING,
	BF_REPLY_ARRAY,
	BF_REPLY_INTEGER,
	BF_REPLY_NIL,
	BF_REPLY_STATUS,
	BF_REPLY_ERROR
} BfReplyType;

typedef struct BfReply
{
	BfReplyType type;
	long long	integer;
	size_t		len;			/* of str, which ends with a zero as well */
	char	   *str;			/* also of a status, or an error */
	size_t		elements;
	struct BfReply **element;
} BfReply;

/* A connection, as far as bloomext.so sees it. */
typedef struct BfLink
{
	pgsocket	fd;				/* non-blocking */
	size_t		unread;			/* bytes that came and are of no reply yet */
	char		problem[256];	/* why the last function failed */
} BfLink;

/* What TLS is to be proved with; each is NULL where there is none. */
typedef struct BfTlsOptions
{
	const char *host;			/* whose certificate is expected */
	bool		host_is_address;
	const char *ca;				/* files */
	const char *cert;
	const char *key;
} BfTlsOptions;

/* All that both have to agree in; it is and stays what the struct starts with. */
typedef struct BfTransportFormat
{
	uint32		magic;
	uint32		version;
	uint32		transport_size;
	uint32		link_size;
	uint32		reply_size;
	uint32		tls_options_size;
} BfTransportFormat;

#define BF_TRANSPORT_FORMAT \
	{ \
		BF_TRANSPORT_MAGIC, BF_TRANSPORT_VERSION, sizeof(BfTransport), \
		sizeof(BfLink), sizeof(BfReply), sizeof(BfTlsOptions) \
	}

typedef struct BfTransport
{
	BfTransportFormat format;

	/*
	 * Start to connect, to a socket at a path or, if that is NULL, to a host.
	 * Returns NULL where memory is out, and where it fails a link that has a
	 * problem from the start.  Only the name of a host is waited for.
	 */
	BfLink	   *(*connect) (const char *path, const char *host, int port);
	void		(*close) (BfLink *link);

	/*
	 * Start TLS on a link that is connected; the handshake is done by the first
	 * writes and reads.  NULL: hiredis has no TLS.
	 */
	bool		(*start_tls) (BfLink *link, const BfTlsOptions *options);

	/* Read what there is; returns how much, 0 where nothing is, or -1. */
	ssize_t		(*read) (BfLink *link);

	/*
	 * Write as much as goes; returns how much, 0 where nothing does, or -1.
	 * After a 0 the same bytes come again, when the socket can be written to;
	 * or, if TLS has to read before it writes, only when it can be read.
	 */
	ssize_t		(*write) (BfLink *link, const void *bytes, size_t length);
	bool		(*must_read) (BfLink *link);

	/*
	 * Make a reply of what was read: NULL where more has to come.  False where
	 * it never will be one, or is larger than any that we ask for.
	 */
	bool		(*parse) (BfLink *link, BfReply **reply);
	void		(*free_reply) (BfReply *reply);
} BfTransport;

typedef const BfTransport *(*BfTransportFunction) (void);

/* bloomext_hiredis.so's: what has that name. */
extern PGDLLEXPORT const BfTransport *bloomext_hiredis_transport(void);

/* bloomext.so's: the functions, of a library that is loaded by then. */
extern const BfTransport *bf_transport(void);

#endif							/* BLOOMEXT_TRANSPORT_H */
