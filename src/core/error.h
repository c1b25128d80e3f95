/*
 * error.h
 *	  How the code below the server reports errors.
 *
 * core/ and strategy/ use neither ereport nor palloc.  A function that can
 * fail returns false and fills in a BfError, which type/value.c passes to
 * ereport().  The message of the BfError becomes the primary message, after
 * "malformed bloom filter: " if the bytes of a filter are wrong, and its code
 * determines the SQLSTATE.
 */
#ifndef BLOOMEXT_ERROR_H
#define BLOOMEXT_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum BfErrorCode
{
	BF_ERROR_PARAMETER,			/* a parameter outside its range */
	BF_ERROR_LIMIT,				/* a size beyond a limit */
	BF_ERROR_UNSUPPORTED,		/* something that exists, but is not supported
								 * here */
	BF_ERROR_MALFORMED			/* bytes that are not a filter */
} BfErrorCode;

typedef struct BfError
{
	BfErrorCode code;
	char		message[160];
	const char *hint;			/* what to do, or NULL */
} BfError;

/* Record an error; returns false, for `return bf_fail(...)`. */
__attribute__((format(printf, 3, 4)))
static inline bool
bf_fail(BfError *error, BfErrorCode code, const char *format,...)
{
	va_list		args;

	error->code = code;
	error->hint = NULL;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return false;
}

/* Likewise with a hint, a whole sentence. */
#define bf_fail_hint(error, code, advice, ...) \
	(bf_fail(error, code, __VA_ARGS__), (error)->hint = (advice), false)

/* Hint for a filter that would be too large. */
#define BF_HINT_SMALLER		"Expect fewer elements, or allow a higher fpp."

#endif							/* BLOOMEXT_ERROR_H */
