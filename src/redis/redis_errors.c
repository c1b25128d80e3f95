/*
 * redis_errors.c
 *	  What an error of Redis means: its SQLSTATE, and a hint.
 *
 * An error is recognized by its first word, which is its code.  Errors that
 * have no code of their own have ERR, and are recognized by the words that
 * follow.
 *
 * The SQLSTATEs are subclasses of 38, external routine exception, so that a
 * handler for that condition catches them all.  PostgreSQL's own SQLSTATEs
 * for a server that is full or starting up (53xxx, 57P03) would make pools
 * and drivers believe that the connection to PostgreSQL itself is unusable.
 * If the Redis account lacks a right, the SQLSTATE is 42501, as it is if a
 * role lacks one.
 *
 * To an error within a script Redis adds the name of the script: at the end,
 * or, before Redis 7, at the start, after an ERR.  EXEC puts a code of its
 * own in front of the error for which it failed.  Both additions mean nothing
 * to a user and are removed.
 *
 * The reply to AUTH may quote the password: only its code is kept.
 */
#include "postgres.h"

#include "redis/redis_errors.h"

/* The name of every script of ours. */
#define SCRIPT		"@user_script:"

/* The last occurrence of this precedes the name of a script. */
#define NAME		" script: "

static const BfRedisError answers[] = {
	{"OOM", BF_ERRCODE_REDIS_FULL,
	"Raise maxmemory of Redis, or remove keys."},
	{"READONLY", BF_ERRCODE_REDIS_REPLICA,
	"The server is a read-only replica; use its master as the host."},
	{"LOADING", BF_ERRCODE_REDIS_NOT_SERVING,
	"Try again when Redis has loaded its data."},
	{"MASTERDOWN", BF_ERRCODE_REDIS_NOT_SERVING,
	"The server is a replica without a master; use another host, or set replica-serve-stale-data to yes."},
	{"NOAUTH", BF_ERRCODE_REDIS_ACCOUNT,
	"Set \"password\" in the user mapping, and \"username\" if the account has a name; for sentinels, \"sentinel_password\" and \"sentinel_username\"."},
	{"WRONGPASS", BF_ERRCODE_REDIS_ACCOUNT,
	"Check \"username\" and \"password\" of the user mapping; for sentinels, \"sentinel_username\" and \"sentinel_password\"."},
	{"MISCONF", BF_ERRCODE_REDIS_CANNOT_SAVE,
	"Redis cannot write to its disk, and refuses writes until it can; see its log."},
	{"max number of clients", BF_ERRCODE_REDIS_CLIENTS,
	"Raise maxclients of Redis, or use it from fewer sessions; each keeps its connection."},
	{"NOPERM", ERRCODE_INSUFFICIENT_PRIVILEGE,
	"Allow this to the account of the user mapping, with ACL SETUSER in Redis."},
	/* NOPERM within a script: Redis 6.2 to 7.0, and newer. */
	{"The user executing the script can't", ERRCODE_INSUFFICIENT_PRIVILEGE,
	"Allow this to the account of the user mapping, with ACL SETUSER in Redis."},
	{"ACL failure in script:", ERRCODE_INSUFFICIENT_PRIVILEGE,
	"Allow this to the account of the user mapping, with ACL SETUSER in Redis."},
	{"WRONGTYPE", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"A key that the filter needs holds something else; delete it with DEL in Redis, or choose another key for the filter."},
	{"DENIED", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"Redis has no password, and therefore accepts local connections only; set a password."},
	{"BUSY", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"Redis is busy running a script; wait until it ends, or stop it with SCRIPT KILL."},
	{"NOREPLICAS", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"Redis has fewer replicas than min-replicas-to-write requires."},
	{"CLUSTERDOWN", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"The cluster lacks slots, or most of its masters; see CLUSTER INFO in Redis."},
	{"MOVED", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"The server is a node of a Redis Cluster; set its option \"cluster\"."},
	{"CROSSSLOT", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"The server is a node of a Redis Cluster; set its option \"cluster\"."},
	/* Of lua/window.lua. */
	{"BEHIND", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"Correct the clock of the server; if it is right, it was wrong before, and what was added may be lost: drop the filter with bf_redis_drop, and create it again."},
	/* Scripts use commands that every server has, except for RedisBloom's. */
	{"Unknown Redis command called from", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"Layout \"redisbloom\" requires the module RedisBloom; load it, or use layout \"bitmap\"."},
	/* Of Valkey. */
	{"Unknown command called from", ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
	"Layout \"redisbloom\" requires the module RedisBloom; load it, or use layout \"bitmap\"."}
};

/* What follows a prefix of a text; NULL if the text does not start with it. */
static const char *
skip_prefix(const char *text, const char *words)
{
	size_t		length = strlen(words);

	return strncmp(text, words, length) == 0 ? text + length : NULL;
}

/* The error that caused another one, without the name of a script. */
static char *
find_cause(const char *error)
{
	const char *aborted = skip_prefix(error, "EXECABORT Transaction discarded because of: ");
	const char *script;
	char	   *text;
	char	   *name = NULL;

	if (aborted != NULL)
		error = aborted;
	else if (skip_prefix(error, "ERR Error running script ") != NULL)
	{
		while ((script = strstr(error, SCRIPT)) != NULL)
		{
			error = script + strlen(SCRIPT);
			error += strspn(error, " :0123456789");
		}
		if (*error == '-')
			error++;
	}
	text = pstrdup(error);
	for (char *next = text; (next = strstr(next, NAME)) != NULL; next++)
		name = next;
	if (name != NULL && strstr(name, ", on " SCRIPT) != NULL)
		*name = '\0';
	return text;
}

/* The row of an error; NULL if it has none. */
static const BfRedisError *
find_row(const char *text)
{
	const char *words = skip_prefix(text, "ERR ");

	if (words == NULL)
		words = text;
	for (int i = 0; i < lengthof(answers); i++)
	{
		const char *rest = skip_prefix(words, answers[i].code);

		if (rest != NULL && (*rest == ' ' || *rest == '\0'))
			return &answers[i];
	}
	return NULL;
}

/*
 * Evaluate an error.  If it may quote our command, as the reply to AUTH may,
 * only its code is shown, and an unknown code is about the account.
 */
BfRedisError
bf_redis_error_read(const char *error, bool quotes)
{
	char	   *text = find_cause(error);
	const BfRedisError *row = find_row(text);
	BfRedisError	answer = {
		.code = pnstrdup(text, strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")),
		.sqlstate = ERRCODE_EXTERNAL_ROUTINE_EXCEPTION
	};

	if (row != NULL)
		answer = *row;
	else if (quotes)
	{
		row = find_row("WRONGPASS");
		answer.sqlstate = row->sqlstate;
		answer.hint = row->hint;
	}
	answer.text = quotes ? answer.code : text;
	return answer;
}

/*
 * Does an error say that the server is a read-only replica?  If it became one
 * within a transaction, EXEC returns that error.
 */
bool
bf_redis_error_is_readonly(const char *error)
{
	return bf_redis_error_read(error, false).sqlstate ==
		BF_ERRCODE_REDIS_REPLICA;
}
