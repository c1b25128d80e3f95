/*
 * redis_baseline.c
 *	  What a client of hiredis takes: redis_baseline SOCKET BYTES reads one of
 *	  these words a line, and answers each by nanoseconds.
 *		set		a SET of so many bytes
 *		setbit	a SETBIT at a time, getbit likewise
 *		madd	an element of BF.MADD, in arrays of 1,000 (RedisBloom)
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis.h>

#define SAMPLE	50000
#define BATCH	1000

/* The bits of a filter of a million elements at 0.01. */
#define BITS	9585064

static redisContext *redis;

/* Nanoseconds, from some time on. */
static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Send a command and wait for its answer, which must be no error. */
static void
run(int argc, const char **argv, const size_t *length)
{
	redisReply *reply = redisCommandArgv(redis, argc, argv, length);

	if (reply == NULL || reply->type == REDIS_REPLY_ERROR)
	{
		fprintf(stderr, "%s\n", reply ? reply->str : redis->errstr);
		exit(1);
	}
	freeReplyObject(reply);
}

/* The second time, as then memory is at hand. */
static double
whole(size_t bytes)
{
	char	   *value = malloc(bytes);
	const char *argv[] = {"SET", "baseline:large", value};
	size_t		length[] = {3, 14, bytes};
	double		start;

	if (value == NULL)
		exit(1);
	memset(value, 'x', bytes);
	run(3, argv, length);
	start = now();
	run(3, argv, length);
	start = now() - start;
	free(value);
	return start;
}

/* A bit at a time, at random. */
static double
one_by_one(const char *verb, int argc)
{
	char		offset[32];
	const char *argv[] = {verb, "baseline", offset, "1"};
	size_t		length[] = {6, 8, 0, 1};
	double		start = now();

	for (int i = 0; i < SAMPLE; i++)
	{
		length[2] = sprintf(offset, "%d", rand() % BITS);
		run(argc, argv, length);
	}
	return (now() - start) / SAMPLE;
}

/* New elements each time, to a filter that is new. */
static double
in_arrays(void)
{
	static char titles[BATCH][32];
	const char *reserve[] = {"BF.RESERVE", "madd", "0.01", "1000000"};
	const char *drop[] = {"DEL", "madd"};
	const char *argv[BATCH + 2] = {"BF.MADD", "madd"};
	double		start;

	run(2, drop, NULL);
	run(4, reserve, NULL);
	start = now();
	for (int i = 0; i < SAMPLE; i += BATCH)
	{
		for (int j = 0; j < BATCH; j++)
		{
			sprintf(titles[j], "Title number %d", i + j);
			argv[j + 2] = titles[j];
		}
		run(BATCH + 2, argv, NULL);
	}
	return (now() - start) / SAMPLE;
}

int
main(int argc, char **argv)
{
	char		word[16];

	if (argc != 3 || (redis = redisConnectUnix(argv[1])) == NULL || redis->err)
		return 1;
	while (scanf("%15s", word) == 1)
	{
		bool		is_get = strcmp(word, "getbit") == 0;

		printf("%f\n", strcmp(word, "set") == 0 ? whole(strtoul(argv[2], NULL, 10)) :
			   strcmp(word, "madd") == 0 ? in_arrays() :
			   one_by_one(is_get ? "GETBIT" : "SETBIT", is_get ? 3 : 4));
		fflush(stdout);
	}
	return 0;
}
