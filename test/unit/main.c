/*
 * main.c
 *	  Tests of core/ and strategy/ without a server.
 *
 * Usage: unit VECTORS_DIR.  The expectations come from those files, which were
 * made by running the originals, and from naive re-computations here; never
 * from the code under test.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vectors.h"

/* Every file of a directory was read by some test. */
static void
check_directory(const char *name)
{
	char		path[4096];
	DIR		   *dir;
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/%s", vectors_dir, name);
	dir = opendir(path);
	if (dir == NULL)
		die("cannot open %s", path);
	while ((entry = readdir(dir)) != NULL)
	{
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
		CHECK(was_read(path), "%s is not tested", path);
	}
	closedir(dir);
}

/* But growth/ and several/: those are sql/vectors_growth.sql's and _several's.  Nor are runners/ and the page vectors. */
static void
check_directories(void)
{
	DIR		   *dir = opendir(vectors_dir);
	struct dirent *entry;

	if (dir == NULL)
		die("cannot open %s", vectors_dir);
	while ((entry = readdir(dir)) != NULL)
	{
		if (strchr(entry->d_name, '.') == NULL &&
			strcmp(entry->d_name, "growth") != 0 &&
			strcmp(entry->d_name, "several") != 0 &&
			strcmp(entry->d_name, "runners") != 0)
			check_directory(entry->d_name);
	}
	closedir(dir);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		die("usage: unit VECTORS_DIR");
	vectors_dir = argv[1];
	test_bits();
	test_format();
	test_partial();
	test_registry();
	test_sizing();
	test_hashing();
	test_pauses();
	test_filters();
	test_guava();
	test_spark();
	test_bitsandblooms();
	test_parquet();
	test_chains();
	test_layers();
	check_directories();
	test_real_fpp();
	test_sketch();
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
	return failed > 0;
}
