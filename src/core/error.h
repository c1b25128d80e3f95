/*
 * error.h
 *	  How the code below the server reports what is wrong.
 *
 * core/ and strategy/ know neither ereport nor palloc.  A function that can
 * fail returns false and fills a BfError; the datatype's code turns that into
 * an ereport with the SQLSTATE of the code's row in its own table.
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
	BF_ERROR_MALFORMED			/* bytes that are no filter */
} BfErrorCode;

typedef struct BfError
{
	BfErrorCode code;
	char		message[160];
} BfError;

/*
 * Record an error and return false, so that callers can
 * `return bf_fail(...)`.
 */
__attribute__((format(printf, 3, 4)))
static inline bool
bf_fail(BfError *error, BfErrorCode code, const char *format,...)
{
	va_list		args;

	error->code = code;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return false;
}

#endif							/* BLOOMEXT_ERROR_H */
