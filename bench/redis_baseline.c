/*
 * redis_baseline.c
 *	  What a client of hiredis takes: a SET of 120 MB (ms, best of 7), and a
 *	  SETBIT or GETBIT at a time (us).  See redis.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <hiredis.h>

#define LARGE	((size_t) 120 * 1000 * 1000)
#define SAMPLE	300000

/* The bits of a filter of a million elements at 0.01. */
#define BITS	9585064

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void
run(redisContext *redis, int argc, const char **argv, const size_t *length)
{
	redisReply *reply = redisCommandArgv(redis, argc, argv, length);

	if (reply == NULL || reply->type == REDIS_REPLY_ERROR)
	{
		fprintf(stderr, "%s\n", reply ? reply->str : redis->errstr);
		exit(1);
	}
	freeReplyObject(reply);
}

static double
one_by_one(redisContext *redis, int argc, const char *verb)
{
	char		offset[32];
	const char *argv[] = {verb, "baseline", offset, "1"};
	size_t		length[] = {6, 8, 0, 1};
	double		start = now();

	for (int i = 0; i < SAMPLE; i++)
	{
		length[2] = sprintf(offset, "%d", rand() % BITS);
		run(redis, argc, argv, length);
	}
	return (now() - start) / SAMPLE * 1e6;
}

int
main(int argc, char **argv)
{
	redisContext *redis = redisConnectUnix(argv[1]);
	char	   *value = calloc(LARGE, 1);
	const char *set[] = {"SET", "large", value};
	size_t		length[] = {3, 5, LARGE};
	double		best = 1e9;

	if (argc != 2 || redis == NULL || redis->err || value == NULL)
		return 1;
	value[LARGE / 2] = 1;
	for (int i = 0; i < 7; i++)
	{
		double		start = now();

		run(redis, 3, set, length);
		if (now() - start < best)
			best = now() - start;
	}
	printf("set=%f\n", best * 1000);
	printf("setbit=%f\n", one_by_one(redis, 4, "SETBIT"));
	printf("getbit=%f\n", one_by_one(redis, 3, "GETBIT"));
	return 0;
}
