/*
 * redis_errors.h
 *	  What an error of Redis means.
 */
#ifndef BLOOMEXT_REDIS_ERRORS_H
#define BLOOMEXT_REDIS_ERRORS_H

#define BF_ERRCODE_REDIS_FULL			MAKE_SQLSTATE('3', '8', 'R', '0', '1')
#define BF_ERRCODE_REDIS_REPLICA		MAKE_SQLSTATE('3', '8', 'R', '0', '2')
#define BF_ERRCODE_REDIS_NOT_SERVING	MAKE_SQLSTATE('3', '8', 'R', '0', '3')
#define BF_ERRCODE_REDIS_ACCOUNT		MAKE_SQLSTATE('3', '8', 'R', '0', '4')
#define BF_ERRCODE_REDIS_CANNOT_SAVE	MAKE_SQLSTATE('3', '8', 'R', '0', '5')
#define BF_ERRCODE_REDIS_CLIENTS		MAKE_SQLSTATE('3', '8', 'R', '0', '6')

typedef struct BfRedisError
{
	const char *code;			/* the first word of the error */
	int			sqlstate;
	const char *hint;			/* NULL: none */
	const char *text;			/* the part that may be shown */
} BfRedisError;

extern BfRedisError bf_redis_error_read(const char *error, bool quotes);
extern bool bf_redis_error_is_readonly(const char *error);

#endif							/* BLOOMEXT_REDIS_ERRORS_H */
