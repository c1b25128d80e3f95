/*
 * format.h
 *	  The bytes of a bloomfilter value, and the one decoder that reads them.
 *
 * A value is a header, one descriptor per layer, and the bit arrays of the
 * layers, in the same order.  All fields are little-endian (doc/format.md has
 * a worked example):
 *
 *	  header (32 bytes)				layer descriptor (40 bytes)
 *	   0 2	"bf"					 0 8  bits (m)
 *	   2 1	version, 1				 8 8  expected insertions
 *	   3 1	strategy id				16 8  false positive probability (double)
 *	   4 1	funnel id, 0: unbound	24 8  elements counted into the layer
 *	   5 1	bits a cell: 1 or 4		32 4  hashes (k)
 *	   6 1	meaning id, 0: none		36 4  reserved, 0
 *	   7 1	reserved, 0
 *	   8 4	expansion
 *	  12 4	layers
 *	  16 8	expected insertions (n)
 *	  24 8	false positive probability (p, double; 0: n and p are unknown)
 *
 * A layer of m cells takes m * cell bits, rounded up to 8 bytes.  The length
 * of a value must be exactly what follows from its header and descriptors.
 * The decoder allocates nothing, and returns the first layer only: a further
 * layer is decoded, from checked bytes, whenever it is visited.
 */
#ifndef BLOOMEXT_FORMAT_H
#define BLOOMEXT_FORMAT_H

#include <stddef.h>

#include "core/error.h"
#include "core/bits.h"

#define BF_FORMAT_VERSION	1
#define BF_HEADER_SIZE		32
#define BF_LAYER_SIZE		40
#define BF_MAX_LAYERS		1024
#define BF_MAX_HASHES		255

/* RedisBloom's maximum. */
#define BF_MAX_EXPANSION	32768

/* What follows the header: enough of a value to know its size. */
#define BF_PREFIX_SIZE(layers) \
	((size_t) BF_HEADER_SIZE + (size_t) (layers) * BF_LAYER_SIZE)

typedef struct BfHeader
{
	uint64_t	expected;		/* requested n; 0 if fpp is 0 */
	double		fpp;			/* requested p at n; 0: n and p are unknown */
	uint32_t	expansion;
	uint32_t	layers;
	uint8_t		strategy;
	uint8_t		funnel;
	uint8_t		cell_bits;
	uint8_t		meaning;		/* of the elements, beyond the funnel's */
} BfHeader;

typedef struct BfLayer
{
	uint64_t	bits;			/* m, in cells */
	uint64_t	expected;
	double		fpp;
	uint64_t	counted;		/* elements, for strategies that count them */
	uint32_t	hashes;			/* k */
	uint64_t	offset;			/* of its bits from the value's first byte */
	uint64_t	bytes;			/* its bits' length */
	uint32_t	index;			/* among its filter's layers, from 0 */
} BfLayer;

extern uint64_t bf_layer_bytes(uint64_t bits, uint8_t cell_bits);
extern bool bf_sizing_is_valid(uint64_t expected, double fpp, uint64_t bits);
extern bool bf_format_layers(const uint8_t *bytes, size_t available,
							 uint32_t *layers, BfError *error);
extern bool bf_format_decode(const uint8_t *bytes, size_t available,
							 uint64_t length, BfHeader *header, BfLayer *first,
							 BfError *error);
extern void bf_format_next_layer(const uint8_t *bytes, const BfHeader *header,
								 BfLayer *layer);
extern bool bf_format_size(const BfHeader *header, BfLayer *layers,
						   uint64_t *length, BfError *error);
extern void bf_format_encode(const BfHeader *header, const BfLayer *layers,
							 uint8_t *bytes);
extern void bf_format_bind(uint8_t *bytes, uint8_t funnel, uint8_t meaning);
extern void bf_format_set_counted(uint8_t *bytes, uint32_t index,
								  uint64_t counted);

#endif							/* BLOOMEXT_FORMAT_H */
