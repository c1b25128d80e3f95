/*
 * stream.c
 *	  Fuzz the import of a stream that describes itself, STREAM.
 */
#include "fuzz.h"

#include "hashes.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const BfStream *stream = bf_stream_by_name(STREAM);
	uint8_t    *bytes = copy_bytes(data, size);
	BfLayer    *layers = allocate(sizeof(BfLayer) * BF_MAX_LAYERS);
	BfPlan		plan = {.layers = layers};
	BfFilter	filter;
	BfError		error;

	if (stream->inspect(bytes, size, &plan, &error))
	{
		uint8_t    *value = make_filter(&plan, &filter);

		bf_stream_read(bytes, &filter, value);
		/* Bits beyond the last are a value's affair. */
		if (bf_filter_open(value, filter.length, filter.length, &filter, &error))
		{
			exercise(value, filter.length);
			round_trip(filter.plan.strategy->stream, &filter);
		}
		free(value);
	}
	else
		REQUIRE((error.code == BF_ERROR_MALFORMED ||
				 error.code == BF_ERROR_UNSUPPORTED) && error.message[0] != '\0');
	free(layers);
	free(bytes);
	return 0;
}
