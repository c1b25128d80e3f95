/*
 * What memory takes on this machine: nanoseconds a read at places that are random, each
 * known when the one before was read, in as many megabytes as each argument says; and
 * nanoseconds for 64 bytes of the last one's from end to end.  A line of each.
 *
 * In huge pages, where the system gives them, as filters are.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define LINE	8				/* words in a line of a cache */
#define READS	4000000

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* A circle through all lines, in an order that no prefetcher knows. */
static void
make_circle(uint64_t *words, uint64_t lines)
{
	uint64_t	seed = 88172645463325252ULL;

	for (uint64_t i = 0; i < lines; i++)
		words[i * LINE] = i;
	for (uint64_t i = lines - 1; i > 0; i--)
	{
		uint64_t	j,
					other;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		j = seed % i;
		other = words[j * LINE];
		words[j * LINE] = words[i * LINE];
		words[i * LINE] = other;
	}
}

int
main(int argc, char **argv)
{
	volatile uint64_t seen;

	for (int i = 1; i < argc; i++)
	{
		uint64_t	size = strtoull(argv[i], NULL, 10) << 20,
					at = 0,
				   *words = aligned_alloc(2 << 20, (size + (2 << 20) - 1) >> 21 << 21);
		double		start;

		if (words == NULL || size == 0)
			return 1;
		madvise(words, size, MADV_HUGEPAGE);
		make_circle(words, size / 64);
		start = now();
		for (int j = 0; j < READS; j++)
			at = words[at * LINE];
		seen = at;
		printf("%.1f\n", (now() - start) / READS);
		if (i == argc - 1)
		{
			start = now();
			for (uint64_t j = 0; j < size / 8; j++)
				at += words[j];
			seen = at;
			printf("%.2f\n", (now() - start) / (size / 64));
		}
		free(words);
	}
	(void) seen;
	return 0;
}
