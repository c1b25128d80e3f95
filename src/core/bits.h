/*
 * bits.h
 *	  Bit arrays in the order bloomext stores them, and in the orders of others.
 *
 * The stored order is that of Guava's stream: big-endian 64-bit words, where
 * bit i is bit i % 64 of word i / 64.  Reading or setting a bit accesses one
 * byte, so alignment does not matter, and the bits of a Guava stream can be
 * copied as they are.
 *
 *	  stored  bit i is mask 1 << (i & 7) of byte (i >> 3) ^ 7
 *	  redis   bit i is mask 0x80 >> (i & 7) of byte i >> 3	(SETBIT)
 *	  bitset  bit i is mask 1 << (i & 7) of byte i >> 3	(java.util.BitSet)
 *
 * The length of an array is a multiple of 8 bytes; bits beyond the array's
 * size are zero.  Loops over whole arrays pause (pause.h); those that look at
 * an array's end only do not.
 *
 * In a packed array, each word is replaced by a byte, bit i of which is set
 * if byte i of the word is not zero, followed by the bytes that are not zero.
 */
#ifndef BLOOMEXT_BITS_H
#define BLOOMEXT_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum BfBitOrder
{
	BF_ORDER_REDIS,
	BF_ORDER_BITSET,
	BF_ORDER_STORED
} BfBitOrder;

/* A loop over two arrays, which changes the first. */
typedef void (*BfArrayLoop) (uint8_t *into, const uint8_t *from, size_t bytes);

/* The longest string that Redis holds. */
#define BF_REDIS_MAX_BYTES	((uint64_t) 512 * 1024 * 1024)

/* The byte that holds a bit: what a probe must read of a stored filter. */
static inline uint64_t
bf_bit_byte(uint64_t bit)
{
	return (bit >> 3) ^ 7;
}

static inline uint8_t
bf_bit_mask(uint64_t bit)
{
	return (uint8_t) (1 << (bit & 7));
}

static inline bool
bf_bit_get(const uint8_t *bits, uint64_t bit)
{
	return (bits[bf_bit_byte(bit)] & bf_bit_mask(bit)) != 0;
}

/* Set a bit; true when that changed it. */
static inline bool
bf_bit_set(uint8_t *bits, uint64_t bit)
{
	uint8_t    *byte = bits + bf_bit_byte(bit);
	uint8_t		mask = bf_bit_mask(bit);
	bool		changed = (*byte & mask) == 0;

	*byte |= mask;
	return changed;
}

/*
 * A cell is one bit, or the four bits of a counter.  Cells of 4 bits have the
 * same order as bits: cell i is bits 4i to 4i + 3, of one byte.
 */
#define BF_CELL_BIT			1
#define BF_CELL_COUNTER		4
#define BF_COUNTER_MAX		15

static inline uint8_t
bf_counter_get(const uint8_t *cells, uint64_t cell)
{
	uint64_t	bit = cell * BF_CELL_COUNTER;

	return (cells[bf_bit_byte(bit)] >> (bit & 7)) & BF_COUNTER_MAX;
}

static inline void
bf_counter_put(uint8_t *cells, uint64_t cell, uint8_t value)
{
	uint64_t	bit = cell * BF_CELL_COUNTER;
	uint8_t    *byte = cells + bf_bit_byte(bit);
	int			shift = bit & 7;

	*byte = (uint8_t) ((*byte & ~(BF_COUNTER_MAX << shift)) | value << shift);
}

/* The byte that holds a cell. */
static inline uint64_t
bf_cell_byte(uint64_t cell, uint8_t cell_bits)
{
	return bf_bit_byte(cell * cell_bits);
}

/* Whether a cell, of which `byte` is the byte, is not zero. */
static inline bool
bf_cell_in_byte(uint8_t byte, uint64_t cell, uint8_t cell_bits)
{
	return ((byte >> (cell * cell_bits & 7)) & ((1 << cell_bits) - 1)) != 0;
}

static inline bool
bf_cell_get(const uint8_t *cells, uint64_t cell, uint8_t cell_bits)
{
	return bf_cell_in_byte(cells[bf_cell_byte(cell, cell_bits)], cell,
						   cell_bits);
}

/* Whether bytes, of which there is one at least, are all zero. */
static inline bool
bf_bits_are_zero(const uint8_t *bits, size_t bytes)
{
	return bits[0] == 0 && memcmp(bits, bits + 1, bytes - 1) == 0;
}

extern uint64_t bf_bits_count(const uint8_t *bits, size_t bytes);
extern uint64_t bf_cells_count(const uint8_t *cells, size_t bytes,
							   uint8_t cell_bits);
extern bool bf_cells_cover(const uint8_t *cells, const uint8_t *others,
						   size_t bytes, uint8_t cell_bits);
extern void bf_counters_add(uint8_t *into, const uint8_t *from, size_t bytes);
extern void bf_counters_min(uint8_t *into, const uint8_t *from, size_t bytes);
extern void bf_counters_to_bits(const uint8_t *cells, uint64_t count,
								uint8_t *bits);
extern void bf_bits_or(uint8_t *into, const uint8_t *from, size_t bytes);
extern void bf_bits_and(uint8_t *into, const uint8_t *from, size_t bytes);
extern uint64_t bf_bits_packed(const uint8_t *bits, size_t bytes);
extern size_t bf_bits_pack(const uint8_t *bits, size_t bytes, uint8_t *packed);
extern bool bf_bits_or_packed(uint8_t *into, size_t bytes,
							  const uint8_t *packed, size_t length);
extern bool bf_bits_tail_is_zero(const uint8_t *bits, size_t bytes,
								 uint64_t used);
extern uint64_t bf_bits_end(const uint8_t *bits, size_t bytes);
extern void bf_bits_to_order(BfBitOrder order, const uint8_t *stored,
							 uint8_t *foreign, size_t foreign_bytes);
extern void bf_bits_from_order(BfBitOrder order, const uint8_t *foreign,
							   size_t foreign_bytes, uint8_t *stored);

#endif							/* BLOOMEXT_BITS_H */
