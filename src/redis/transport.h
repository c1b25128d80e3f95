/*
 * transport.h
 *	  The interface between bloomext.so and bloomext_hiredis.so.
 *
 * bloomext.so encodes commands and evaluates replies; bloomext_hiredis.so,
 * built from src/hiredis/, contains all that needs hiredis: it connects,
 * carries bytes, with or without TLS, and parses replies.  It is loaded when a
 * session first connects to Redis, so that the rest works where hiredis is not
 * installed.
 *
 * No function of bloomext_hiredis.so waits, is interrupted or raises an
 * error: one that fails says so by its result, and leaves the reason in the
 * link.  None calls a function of bloomext.so.
 *
 * The two libraries may come from different releases, at least in a session
 * that began before an upgrade.  So the struct of functions starts with
 * fields that show whether both were built from the same version of this
 * file.
 */
#ifndef BLOOMEXT_TRANSPORT_H
#define BLOOMEXT_TRANSPORT_H

/* Must be increased with any change of what follows, or of its meaning. */
#define BF_TRANSPORT_VERSION	1

#define BF_TRANSPORT_MAGIC		0xb1003e87

/* Where the library is; tests have their own. */
#ifndef BF_TRANSPORT_LIBRARY
#define BF_TRANSPORT_LIBRARY	"$libdir/bloomext_hiredis"
#endif
#define BF_TRANSPORT_SYMBOL		"bloomext_hiredis_transport"

typedef enum BfReplyType
{
	BF_REPLY_OTHER,				/* not returned by any command of ours */
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
	size_t		len;			/* of str, which is zero-terminated as well */
	char	   *str;			/* also of a status or an error */
	size_t		elements;
	struct BfReply **element;
} BfReply;

/* A connection, as far as bloomext.so sees it. */
typedef struct BfLink
{
	pgsocket	fd;				/* non-blocking */
	size_t		unread;			/* received bytes that belong to no reply
								 * yet */
	char		problem[256];	/* why the last function failed */
} BfLink;

/* Parameters of TLS; NULL if not given. */
typedef struct BfTlsOptions
{
	const char *host;			/* expected in the certificate */
	bool		host_is_address;
	const char *ca;				/* names of files */
	const char *cert;
	const char *key;
} BfTlsOptions;

/* What both libraries must agree on; always the start of the struct. */
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
	 * Start to connect to a socket at a path or, if that is NULL, to a host.
	 * Returns NULL if out of memory; on failure, a link with its problem set.
	 * Only resolving the name of a host blocks.
	 */
	BfLink	   *(*connect) (const char *path, const char *host, int port);
	void		(*close) (BfLink *link);

	/*
	 * Start TLS on a connected link; the first writes and reads do the
	 * handshake.  NULL: hiredis has no TLS.
	 */
	bool		(*start_tls) (BfLink *link, const BfTlsOptions *options);

	/* Read what is available; returns its length, 0 if nothing is, or -1. */
	ssize_t		(*read) (BfLink *link);

	/*
	 * Write as much as possible; returns its length, 0 if nothing is, or -1.
	 * After a 0, the same bytes must be passed again when the socket is
	 * writable; or, if TLS has to read first, only when it is readable.
	 */
	ssize_t		(*write) (BfLink *link, const void *bytes, size_t length);
	bool		(*must_read) (BfLink *link);

	/*
	 * Make a reply of what was read: NULL if it is not complete yet.  False if
	 * it is invalid, or larger than any that we request.
	 */
	bool		(*parse) (BfLink *link, BfReply **reply);
	void		(*free_reply) (BfReply *reply);
} BfTransport;

typedef const BfTransport *(*BfTransportFunction) (void);

/* The symbol that bloomext_hiredis.so exports. */
extern PGDLLEXPORT const BfTransport *bloomext_hiredis_transport(void);

/* The functions, loading the library if necessary. */
extern const BfTransport *bf_transport(void);

#endif							/* BLOOMEXT_TRANSPORT_H */
