/*
 * replay.c
 *	  Give a fuzz target files, where there is no libFuzzer: on another processor
 *	  (make fuzzreplay).
 *
 * Usage: fuzz-TARGET OUT FILE...  The bytes of filters and streams that it makes
 * go to OUT; they are the same on each processor.
 */
#include "fuzz.h"

static uint8_t *
read_file(const char *path, size_t *length)
{
	FILE	   *file = fopen(path, "rb");
	uint8_t    *bytes;

	REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
	*length = (size_t) ftell(file);
	bytes = allocate(*length);
	rewind(file);
	REQUIRE(fread(bytes, 1, *length, file) == *length);
	fclose(file);
	return bytes;
}

int
main(int argc, char **argv)
{
	REQUIRE(argc > 2);
	made = fopen(argv[1], "wb");
	REQUIRE(made != NULL);
	for (int i = 2; i < argc; i++)
	{
		size_t		length;
		uint8_t    *bytes = read_file(argv[i], &length);

		REQUIRE(LLVMFuzzerTestOneInput(bytes, length) == 0);
		free(bytes);
	}
	REQUIRE(fclose(made) == 0);
	printf("%d passed, 0 failed\n", argc - 2);
	return 0;
}
