/*
 * format.c
 *	  Decode and encode the bytes of a bloomfilter value: see format.h.
 *
 * Bytes that claim to be a value are checked here only, except for the limits
 * of their strategy, which bf_filter_open() checks next.  A size is compared
 * with the length of the bytes before anything that it describes is read.
 * Sums and products of fields cannot overflow: more bits than BF_MAX_BITS and
 * more layers than BF_MAX_LAYERS are refused first.
 */
#include <inttypes.h>
#include <math.h>

#include "core/bytes.h"
#include "core/format.h"

/* Far above what a varlena holds, far below where sums of layers wrap. */
#define BF_MAX_BITS		(UINT64_C(1) << 48)

#define MAGIC			"bf"

/* Field offsets: header, then layer descriptor. */
enum
{
	AT_VERSION = 2,
	AT_STRATEGY = 3,
	AT_FUNNEL = 4,
	AT_CELL_BITS = 5,
	AT_MEANING = 6,
	AT_RESERVED = 7,
	AT_EXPANSION = 8,
	AT_LAYERS = 12,
	AT_EXPECTED = 16,
	AT_FPP = 24
};

enum
{
	AT_LAYER_BITS = 0,
	AT_LAYER_EXPECTED = 8,
	AT_LAYER_FPP = 16,
	AT_LAYER_COUNTED = 24,
	AT_LAYER_HASHES = 32,
	AT_LAYER_RESERVED = 36
};

/* The length in bytes of a layer's bits: whole 64-bit words. */
uint64_t
bf_layer_bytes(uint64_t bits, uint8_t cell_bits)
{
	return (bits * cell_bits + 63) / 64 * 8;
}

/* The exponent of a number in (0,1), as by frexp() if it is not subnormal. */
static inline int
exponent_of(double number)
{
	uint64_t	bits;

	memcpy(&bits, &number, sizeof(bits));
	return (int) (bits >> 52) - 1022;
}

/*
 * Whether n and p are both known, or both zero; and whether there are at least
 * half of the bits that any implementation gives n elements at p, as a filter
 * that grows is sized by n: few bytes must not claim a large n.  The
 * textbook's n times -ln(p) / ln(2)^2 is more than twice the limit checked
 * here, which needs no logarithm, as every call of a function opens a filter.
 */
bool
bf_sizing_is_valid(uint64_t expected, double fpp, uint64_t bits)
{
	double		room = (double) bits + 64;

	if (fpp == 0)
		return expected == 0 && !signbit(fpp);
	if (!(fpp > 0 && fpp < 1) || expected > INT64_MAX)
		return false;
	return (double) expected * (1 - fpp) <= room &&
		(double) expected * -exponent_of(fpp) * M_LN2 <= room;
}

/*
 * Read a descriptor; the caller has checked that the bytes are there, and knows
 * where the layer's bits start.
 */
static void
decode_layer(const uint8_t *bytes, uint32_t index, uint64_t offset,
			 uint8_t cell_bits, BfLayer *layer)
{
	const uint8_t *at = bytes + BF_PREFIX_SIZE(index);

	layer->index = index;
	layer->offset = offset;
	layer->bits = bf_load_le64(at + AT_LAYER_BITS);
	layer->expected = bf_load_le64(at + AT_LAYER_EXPECTED);
	layer->fpp = bf_load_double(at + AT_LAYER_FPP);
	layer->counted = bf_load_le64(at + AT_LAYER_COUNTED);
	layer->hashes = bf_load_le32(at + AT_LAYER_HASHES);
	layer->bytes = bf_layer_bytes(layer->bits, cell_bits);
}

/* Check what a descriptor must hold by itself, whatever the strategy. */
static bool
check_layer(const uint8_t *bytes, const BfLayer *layer, BfError *error)
{
	uint32_t	index = layer->index;

	if (layer->bits == 0 || layer->bits > BF_MAX_BITS)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "layer %u has %" PRIu64 " bits, not 1 to %" PRIu64,
					   index, layer->bits, BF_MAX_BITS);
	if (layer->hashes == 0 || layer->hashes > BF_MAX_HASHES)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "layer %u has %u hash functions, not 1 to %d",
					   index, layer->hashes, BF_MAX_HASHES);
	if (!bf_sizing_is_valid(layer->expected, layer->fpp, layer->bits))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "layer %u has %" PRIu64 " bits for %" PRIu64 " elements with fpp %g",
					   index, layer->bits, layer->expected, layer->fpp);
	if (bf_load_le32(bytes + BF_PREFIX_SIZE(index) + AT_LAYER_RESERVED) != 0)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "reserved bits of layer %u are set", index);
	return true;
}

/*
 * Read the number of layers from a value's first bytes, so that a reader of
 * slices knows the length of the prefix.
 */
bool
bf_format_layers(const uint8_t *bytes, size_t available, uint32_t *layers,
				 BfError *error)
{
	if (available < BF_PREFIX_SIZE(1))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for a header", available);
	if (memcmp(bytes, MAGIC, 2) != 0)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "wrong magic bytes 0x%02x%02x", bytes[0], bytes[1]);
	if (bytes[AT_VERSION] != BF_FORMAT_VERSION)
		return bf_fail(error, BF_ERROR_MALFORMED, "unknown format version %u",
					   bytes[AT_VERSION]);
	*layers = bf_load_le32(bytes + AT_LAYERS);
	if (*layers == 0 || *layers > BF_MAX_LAYERS)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%u layers, not 1 to %d", *layers, BF_MAX_LAYERS);
	return true;
}

/* Read and check the header. */
static bool
decode_header(const uint8_t *bytes, size_t available, BfHeader *header,
			  BfError *error)
{
	if (!bf_format_layers(bytes, available, &header->layers, error))
		return false;

	header->strategy = bytes[AT_STRATEGY];
	header->funnel = bytes[AT_FUNNEL];
	header->cell_bits = bytes[AT_CELL_BITS];
	header->expansion = bf_load_le32(bytes + AT_EXPANSION);
	header->expected = bf_load_le64(bytes + AT_EXPECTED);
	header->fpp = bf_load_double(bytes + AT_FPP);

	if (header->cell_bits != BF_CELL_BIT &&
		header->cell_bits != BF_CELL_COUNTER)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "cells of %u bits, not %d or %d",
					   header->cell_bits, BF_CELL_BIT, BF_CELL_COUNTER);
	header->meaning = bytes[AT_MEANING];
	if (bytes[AT_RESERVED] != 0)
		return bf_fail(error, BF_ERROR_MALFORMED, "reserved bits are set");
	if (header->expansion > BF_MAX_EXPANSION)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "expansion %u, more than %d",
					   header->expansion, BF_MAX_EXPANSION);
	if (header->layers > 1 && header->expansion == 0)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%u layers in a filter of fixed size", header->layers);
	if (header->expansion > 0 && header->cell_bits != BF_CELL_BIT)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "expansion %u of a counting filter", header->expansion);
	return true;
}

/*
 * Check a value of `length` bytes of which the first `available` are at hand
 * (at least the prefix), and return its header and first layer.
 */
bool
bf_format_decode(const uint8_t *bytes, size_t available, uint64_t length,
				 BfHeader *header, BfLayer *first, BfError *error)
{
	uint64_t	size;

	if (!decode_header(bytes, available, header, error))
		return false;
	size = BF_PREFIX_SIZE(header->layers);
	if (available < size)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for the descriptors of %u layers",
					   available, header->layers);

	for (uint32_t i = 0; i < header->layers; i++)
	{
		BfLayer		layer;

		decode_layer(bytes, i, size, header->cell_bits, &layer);
		if (!check_layer(bytes, &layer, error))
			return false;
		size += layer.bytes;
		if (size > length)
			return bf_fail(error, BF_ERROR_MALFORMED,
						   "%" PRIu64 " bytes are too short for %u layers",
						   length, header->layers);
		if (available == length && layer.bits % 64 != 0 &&
			!bf_bits_tail_is_zero(bytes + layer.offset, layer.bytes,
								  layer.bits * header->cell_bits))
			return bf_fail(error, BF_ERROR_MALFORMED,
						   "bits beyond the end of layer %u are set", i);
		if (i == 0)
			*first = layer;
	}
	if (!bf_sizing_is_valid(header->expected, header->fpp, first->bits))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "it is for %" PRIu64 " elements with fpp %g, but has %" PRIu64 " bits",
					   header->expected, header->fpp,
					   first->bits);
	if (size != length)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%" PRIu64 " bytes, but its layers end at %" PRIu64,
					   length, size);
	return true;
}

/* Advance to the next layer; after the last one, only set the index. */
void
bf_format_next_layer(const uint8_t *bytes, const BfHeader *header,
					 BfLayer *layer)
{
	if (layer->index + 1 < header->layers)
		decode_layer(bytes, layer->index + 1, layer->offset + layer->bytes,
					 header->cell_bits, layer);
	else
		layer->index = header->layers;
}

/*
 * Fill in the layers' indexes, offsets and lengths, and compute the length of
 * the value.  False if a layer, or all of them, exceed the limits of the
 * format.
 */
bool
bf_format_size(const BfHeader *header, BfLayer *layers, uint64_t *length,
			   BfError *error)
{
	if (header->layers == 0 || header->layers > BF_MAX_LAYERS)
		return bf_fail(error, BF_ERROR_LIMIT,
					   "bloom filter has %u layers, not 1 to %d",
					   header->layers, BF_MAX_LAYERS);
	*length = BF_PREFIX_SIZE(header->layers);
	for (uint32_t i = 0; i < header->layers; i++)
	{
		if (layers[i].bits > BF_MAX_BITS)
			return bf_fail_hint(error, BF_ERROR_LIMIT, BF_HINT_SMALLER,
								"bloom filter of %" PRIu64 " bits exceeds the maximum of %" PRIu64,
								layers[i].bits, BF_MAX_BITS);
		layers[i].index = i;
		layers[i].offset = *length;
		layers[i].bytes = bf_layer_bytes(layers[i].bits, header->cell_bits);
		*length += layers[i].bytes;
	}
	return true;
}

/* Write the prefix of a value: header and descriptors. */
void
bf_format_encode(const BfHeader *header, const BfLayer *layers,
				 uint8_t *bytes)
{
	memset(bytes, 0, BF_PREFIX_SIZE(header->layers));
	memcpy(bytes, MAGIC, 2);
	bytes[AT_VERSION] = BF_FORMAT_VERSION;
	bytes[AT_STRATEGY] = header->strategy;
	bytes[AT_FUNNEL] = header->funnel;
	bytes[AT_CELL_BITS] = header->cell_bits;
	bytes[AT_MEANING] = header->meaning;
	bf_store_le32(bytes + AT_EXPANSION, header->expansion);
	bf_store_le32(bytes + AT_LAYERS, header->layers);
	bf_store_le64(bytes + AT_EXPECTED, header->expected);
	bf_store_double(bytes + AT_FPP, header->fpp);

	for (uint32_t i = 0; i < header->layers; i++)
	{
		uint8_t    *at = bytes + BF_PREFIX_SIZE(i);

		bf_store_le64(at + AT_LAYER_BITS, layers[i].bits);
		bf_store_le64(at + AT_LAYER_EXPECTED, layers[i].expected);
		bf_store_double(at + AT_LAYER_FPP, layers[i].fpp);
		bf_store_le64(at + AT_LAYER_COUNTED, layers[i].counted);
		bf_store_le32(at + AT_LAYER_HASHES, layers[i].hashes);
	}
}

/* Bind a value to a funnel and a meaning. */
void
bf_format_bind(uint8_t *bytes, uint8_t funnel, uint8_t meaning)
{
	bytes[AT_FUNNEL] = funnel;
	bytes[AT_MEANING] = meaning;
}

/* Store the number of elements that a layer has counted. */
void
bf_format_set_counted(uint8_t *bytes, uint32_t index, uint64_t counted)
{
	bf_store_le64(bytes + BF_PREFIX_SIZE(index) + AT_LAYER_COUNTED, counted);
}
