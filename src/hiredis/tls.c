/*
 * tls.c
 *	  TLS to Redis servers, if hiredis supports it (1.0 and newer).
 *
 * hiredis verifies the chain of a certificate but not its host, so the session
 * is made here, with the name or address of the host to be verified.
 *
 * TLS may have to read before it can write, and until then hiredis keeps the
 * bytes that it was given.  So we hand bytes over in pieces, each when the
 * previous one has been written.
 *
 * OpenSSL's error queue says what is wrong with a certificate, but hiredis
 * does not use it, and entries left by others would be taken for ours.  So we
 * clear the queue before each read and write, and look into it after one that
 * failed.
 */
#include "postgres.h"

#include "hiredis/link.h"

#ifdef BF_HIREDIS_SSL

#include <poll.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <hiredis_ssl.h>

#define PIECE	((size_t) 64 * 1024)

/* Get OpenSSL's reason for a failure, if there is one. */
bool
bf_tls_reason(char *reason, size_t size)
{
	unsigned long error = ERR_get_error();
	const char *text = NULL;

	/* A system error (an unreadable file) has no text in OpenSSL. */
	if (ERR_GET_LIB(error) == ERR_LIB_SYS)
		text = strerror(ERR_GET_REASON(error));
	else if (error != 0)
		text = ERR_reason_error_string(error);
	if (text != NULL)
		snprintf(reason, size, "TLS: %s.", text);
	return text != NULL;
}

/* Refuse an encrypted key, as nobody can be prompted for its passphrase. */
static int
no_passphrase(char *buffer, int size, int writing, void *arg)
{
	return -1;
}

/* Read trusted authorities, and our certificate; false: see OpenSSL. */
static bool
read_files(SSL_CTX *settings, const BfTlsOptions *options)
{
	bool		ok;

	ok = options->ca ?
		SSL_CTX_load_verify_locations(settings, options->ca, NULL) == 1 :
		SSL_CTX_set_default_verify_paths(settings) == 1;
	if (!ok || options->cert == NULL)
		return ok;
	SSL_CTX_set_default_passwd_cb(settings, no_passphrase);
	return SSL_CTX_use_certificate_chain_file(settings, options->cert) == 1 &&
		SSL_CTX_use_PrivateKey_file(settings, options->key,
									SSL_FILETYPE_PEM) == 1;
}

/* Make a session that requires the host's certificate; NULL: see OpenSSL. */
static SSL *
make_session(SSL_CTX *settings, const BfTlsOptions *options)
{
	const char *host = options->host;
	SSL		   *session;
	bool		ok;

	SSL_CTX_set_verify(settings, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_min_proto_version(settings, TLS1_2_VERSION);
	if (!read_files(settings, options) || (session = SSL_new(settings)) == NULL)
		return NULL;
	if (options->host_is_address)
		ok = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) == 1;
	else
		ok = SSL_set1_host(session, host) == 1 &&
			SSL_set_tlsext_host_name(session, host) == 1;
	if (ok)
		return session;
	SSL_free(session);
	return NULL;
}

/* Start TLS on a connected socket; false: see OpenSSL. */
bool
bf_tls_start(redisContext *context, const BfTlsOptions *options)
{
	SSL_CTX    *settings;
	SSL		   *session = NULL;

	ERR_clear_error();
	settings = SSL_CTX_new(TLS_client_method());
	if (settings != NULL)
		session = make_session(settings, options);
	SSL_CTX_free(settings);		/* the session keeps it */
	if (session != NULL && redisInitiateSSL(context, session) == REDIS_OK)
		return true;
	SSL_free(session);
	return false;
}

/* redisBufferRead() */
int
bf_tls_read(redisContext *context)
{
	ERR_clear_error();
	return redisBufferRead(context);
}

/*
 * Hand bytes over; returns their number, 0 while earlier ones are pending, or
 * -1 with errno set.  After the last piece, wait until it is gone.
 */
ssize_t
bf_tls_write(redisContext *context, const void *bytes, size_t length)
{
	size_t		piece = Min(length, PIECE);
	int			done = 0;

	ERR_clear_error();
	if (sdslen(context->obuf) == 0 &&
		redisAppendFormattedCommand(context, bytes, piece) != REDIS_OK)
	{
		errno = ENOMEM;
		return -1;
	}
	if (redisBufferWrite(context, &done) != REDIS_OK)
	{
		/* The server's reason to close may have arrived before that. */
		context->err = 0;
		(void) bf_tls_read(context);
		errno = ECONNRESET;
		return -1;
	}
	return done ? piece : 0;
}

/* Must a pending write wait until something can be read? */
bool
bf_tls_must_read(const redisContext *context)
{
	struct pollfd socket = {.fd = context->fd, .events = POLLOUT};

	/* If the socket is writable, TLS must be waiting to read. */
	return poll(&socket, 1, 0) == 1 && (socket.revents & POLLOUT);
}

#endif							/* BF_HIREDIS_SSL */
