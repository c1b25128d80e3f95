/*
 * format.c
 *	  The stored format against hostile bytes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/format.h"
#include "strategy/filter.h"
#include "vectors.h"

/*
 * Open untrusted bytes.  What opens must be canonical: encoding what was read
 * gives the same prefix, and the layers fill the value exactly.
 */
static bool
open_untrusted(const uint8_t *bytes, size_t length)
{
	BfFilter	filter;
	BfError		error;
	BfLayer    *layers;
	uint8_t    *prefix;
	uint32_t	count = 0;
	uint64_t	end;
	size_t		prefix_size;

	memset(&error, 0, sizeof(error));
	if (!bf_filter_open(bytes, length, length, &filter, &error))
	{
		CHECK(error.code == BF_ERROR_MALFORMED, "a decoder's error of another kind");
		CHECK(error.message[0] != '\0', "a decoder's error without a message");
		return false;
	}
	prefix_size = BF_PREFIX_SIZE(filter.plan.header.layers);
	end = prefix_size;
	CHECK(prefix_size <= length, "opened beyond its length");
	layers = allocate(filter.plan.header.layers * sizeof(BfLayer));
	bf_foreach_layer(layer, &filter)
	{
		CHECK(layer.offset == end, "layer %u at %" PRIu64, layer.index, layer.offset);
		CHECK(layer.hashes >= 1 && layer.hashes <= BF_MAX_HASHES && layer.bits >= 1,
			  "layer %u opened with %u hashes", layer.index, layer.hashes);
		CHECK(layer.bytes * 8 >= layer.bits * filter.plan.header.cell_bits &&
			  layer.bytes <= length, "layer %u of %" PRIu64 " bytes", layer.index, layer.bytes);
		end += layer.bytes;
		layers[count++] = layer;
	}
	CHECK(count == filter.plan.header.layers && end == length,
		  "layers end at %" PRIu64 " of %zu", end, length);
	prefix = allocate(prefix_size);
	bf_format_encode(&filter.plan.header, layers, prefix);
	CHECK(memcmp(prefix, bytes, prefix_size) == 0, "opened, but not canonical");
	free(prefix);
	free(layers);
	return true;
}

/* A value of one or two layers of 64 * words bits, some of them set. */
static uint8_t *
make_layered(uint32_t count, uint64_t words, uint64_t *length)
{
	BfHeader	header;
	BfLayer		layers[2];
	BfError		error;
	uint8_t    *value;

	if (count > 2)
		die("too many layers");
	memset(&header, 0, sizeof(header));
	memset(layers, 0, sizeof(layers));
	header.strategy = BF_STRATEGY_GUAVA;
	header.funnel = BF_FUNNEL_UTF8;
	header.cell_bits = BF_CELL_BIT;
	header.layers = count;
	header.expansion = count - 1;
	header.expected = 10;
	header.fpp = 0.03;
	for (uint32_t i = 0; i < count; i++)
	{
		layers[i].bits = 64 * words;
		layers[i].hashes = 5;
		layers[i].expected = 10;
		layers[i].fpp = 0.03;
	}
	if (!bf_format_size(&header, layers, length, &error))
		die("bf_format_size: %s", error.message);
	value = allocate(*length);
	memset(value, 0x5a, *length);
	bf_format_encode(&header, layers, value);
	return value;
}

/* Every truncation, and bytes too many. */
static void
test_truncations(uint32_t layers)
{
	uint64_t	length;
	uint8_t    *value = make_layered(layers, 2, &length);
	size_t		prefix = BF_PREFIX_SIZE(layers);

	CHECK(open_untrusted(value, length), "%u layers do not open", layers);
	for (uint64_t cut = 0; cut < length; cut++)
	{
		uint8_t    *bytes = copy_bytes(value, cut);
		BfFilter	filter;
		BfError		error;

		CHECK(!open_untrusted(bytes, cut), "%" PRIu64 " bytes open", cut);

		/* The first bytes of a longer value, as slices of a toasted one. */
		if (cut > 0)
		{
			bool		ok = bf_filter_open(bytes, cut, length, &filter, &error);

			CHECK(ok == (cut >= prefix), "the first %" PRIu64 " bytes", cut);
			CHECK(!ok || !filter.whole, "%" PRIu64 " bytes pass for all", cut);
		}
		free(bytes);
	}
	for (uint64_t more = 1; more <= 16; more++)
	{
		uint8_t    *bytes = allocate(length + more);

		memset(bytes, 0, length + more);
		memcpy(bytes, value, length);
		CHECK(!open_untrusted(bytes, length + more),
			  "%" PRIu64 " trailing bytes are accepted", more);
		free(bytes);
	}
	free(value);
}

/* Every change of one byte, to all other values, and of all pairs of 0/ff. */
static void
test_mutations(uint32_t layers)
{
	uint64_t	length;
	uint8_t    *value = make_layered(layers, 2, &length);
	size_t		prefix = BF_PREFIX_SIZE(layers);
	size_t		accepted = 0;

	for (uint64_t at = 0; at < length; at++)
	{
		for (int to = 0; to < 256; to++)
		{
			uint8_t    *bytes = copy_bytes(value, length);
			bool		ok;

			bytes[at] = to;
			ok = open_untrusted(bytes, length);
			accepted += ok;
			CHECK(ok || at < prefix, "a change of bit byte %" PRIu64 " is refused", at);

			/* Magic, version, widths, reserved bytes, layer counts: no other. */
			if (at == 6)
				CHECK(ok == (to <= BF_MEANING_LAST), "meaning %d is %s", to,
					  ok ? "accepted" : "refused");
			else if (at < 3 || (at >= 5 && at < 8) || (at >= 12 && at < 16) ||
				(at >= BF_HEADER_SIZE && at < BF_HEADER_SIZE + 8) ||
				(at >= BF_HEADER_SIZE + 36 && at < BF_HEADER_SIZE + 40))
				CHECK(ok == (to == value[at]), "byte %" PRIu64 " = %d is %s",
					  at, to, ok ? "accepted" : "refused");
			free(bytes);
		}
	}
	CHECK(accepted > 256 * (length - prefix), "only %zu changes accepted", accepted);
	for (uint64_t at = 0; at < prefix; at++)
	{
		for (uint64_t at2 = at + 1; at2 < prefix; at2++)
		{
			for (int to = 0; to < 4; to++)
			{
				uint8_t    *bytes = copy_bytes(value, length);

				bytes[at] = to & 1 ? 0xff : 0;
				bytes[at2] = to & 2 ? 0xff : 0;
				(void) open_untrusted(bytes, length);
				free(bytes);
			}
		}
	}
	free(value);
}

/* Fields chosen so that a size computed carelessly wraps to the real one. */
static void
test_overflows(void)
{
	static const uint64_t sizes[] = {
		UINT64_C(0), UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 63, UINT64_MAX - 62,
		UINT64_C(1) << 62, UINT64_C(1) << 61, UINT64_C(1) << 60,
		UINT64_C(1) << 48, UINT64_C(1) << 37, UINT64_C(1) << 32,
		(UINT64_C(1) << 63) + 128, (UINT64_C(1) << 62) + 128,
		(UINT64_C(1) << 62) + 32, (UINT64_C(1) << 61) + 128, 192, 64
	};
	static const uint32_t counts[] = {
		0, 2, 3, 1024, 1025, UINT32_C(1) << 31, UINT32_MAX,
		/* 40 * layers wraps to 40 or less in 32 bits */
		UINT32_C(107374183), UINT32_C(536870913), UINT32_C(1073741825)
	};
	uint64_t	length;
	uint8_t    *value = make_layered(1, 2, &length);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		for (int cell_bits = 1; cell_bits <= 4; cell_bits += 3)
		{
			uint8_t    *bytes = copy_bytes(value, length);

			bytes[5] = cell_bits;
			bf_store_le64(bytes + BF_HEADER_SIZE, sizes[i]);
			CHECK(!open_untrusted(bytes, length), "%" PRIu64 " cells of %d open",
				  sizes[i], cell_bits);
			free(bytes);
		}
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
	{
		uint8_t    *bytes = copy_bytes(value, length);

		bf_store_le32(bytes + 8, 1);
		bf_store_le32(bytes + 12, counts[i]);
		CHECK(!open_untrusted(bytes, length), "%u layers open", counts[i]);
		free(bytes);
	}
	free(value);
}

/* Two layers whose sizes add up to the real one modulo 2^64, bits or bytes. */
static void
test_layer_overflows(void)
{
	uint64_t	length;
	uint8_t    *value = make_layered(2, 2, &length);
	uint8_t    *first = value + BF_HEADER_SIZE;
	uint8_t    *second = first + BF_LAYER_SIZE;

	CHECK(open_untrusted(value, length), "two layers do not open");
	for (int shift = 7; shift < 64; shift++)
	{
		uint64_t	big = UINT64_C(1) << shift;

		bf_store_le64(first, big);
		bf_store_le64(second, UINT64_C(256) - big);
		CHECK(open_untrusted(value, length) == (big == 128),
			  "layers of 2^%d and less", shift);
		bf_store_le64(first, UINT64_C(256) - big);
		bf_store_le64(second, big);
		CHECK(open_untrusted(value, length) == (big == 128),
			  "layers of less and 2^%d", shift);
	}
	free(value);
}

/* A nonzero bit beyond a layer's bits can only be an error. */
static void
test_sizing_fields(void)
{
	static const double wrong_fpp[] = {-1, 1, 2, 1e300, -0.0};
	uint64_t	length;
	uint8_t    *value = make_layered(1, 2, &length);
	uint8_t    *bytes;

	for (size_t at = 24; at <= BF_HEADER_SIZE + 16; at += BF_HEADER_SIZE + 16 - 24)
	{
		for (size_t i = 0; i < sizeof(wrong_fpp) / sizeof(wrong_fpp[0]); i++)
		{
			bytes = copy_bytes(value, length);
			bf_store_double(bytes + at, wrong_fpp[i]);
			CHECK(!open_untrusted(bytes, length), "fpp %g opens", wrong_fpp[i]);
			free(bytes);
		}
		bytes = copy_bytes(value, length);
		bf_store_double(bytes + at, NAN);
		CHECK(!open_untrusted(bytes, length), "fpp NaN opens");
		bf_store_double(bytes + at, INFINITY);
		CHECK(!open_untrusted(bytes, length), "infinite fpp opens");
		free(bytes);
	}
	for (size_t at = 16; at <= BF_HEADER_SIZE + 8; at += BF_HEADER_SIZE + 8 - 16)
	{
		bytes = copy_bytes(value, length);
		bf_store_le64(bytes + at, UINT64_C(1) << 63);
		CHECK(!open_untrusted(bytes, length), "a negative n opens");
		free(bytes);
	}
	for (uint32_t hashes = 0; hashes < 600; hashes++)
	{
		bytes = copy_bytes(value, length);
		bf_store_le32(bytes + BF_HEADER_SIZE + 32, hashes);
		CHECK(open_untrusted(bytes, length) == (hashes >= 1 && hashes <= 255),
			  "%u hashes", hashes);
		free(bytes);
	}
	free(value);
}

void
test_format(void)
{
	for (uint32_t layers = 1; layers <= 2; layers++)
	{
		test_truncations(layers);
		test_mutations(layers);
	}
	test_overflows();
	test_layer_overflows();
	test_sizing_fields();
}
