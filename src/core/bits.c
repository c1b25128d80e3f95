/*
 * bits.c
 *	  Whole bit arrays: counting, combining, and the bit orders of others.
 *
 * Loops over bits take a 64-bit word at a time: compilers, at -O2, make a
 * loop over bytes take one byte per cycle.  The code is the same for all
 * instruction sets.
 */
#include <string.h>

#include "core/bits.h"
#include "core/bytes.h"
#include "core/pause.h"

/* Count the bits set; bytes is a multiple of 8. */
uint64_t
bf_bits_count(const uint8_t *bits, size_t bytes)
{
	uint64_t	count = 0;

	bf_for_bytes(i, 8, bytes)
	{
		uint64_t	x = bf_load_le64(bits + i);

		/* The classic parallel sum: vectorises, unlike a library call. */
		x -= (x >> 1) & UINT64_C(0x5555555555555555);
		x = (x & UINT64_C(0x3333333333333333)) +
			((x >> 2) & UINT64_C(0x3333333333333333));
		x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
		count += (x * UINT64_C(0x0101010101010101)) >> 56;
	}
	return count;
}

/* Count the cells that are not zero. */
uint64_t
bf_cells_count(const uint8_t *cells, size_t bytes, uint8_t cell_bits)
{
	uint64_t	count = 0;

	if (cell_bits == BF_CELL_BIT)
		return bf_bits_count(cells, bytes);
	bf_for_bytes(i, 1, bytes)
		count += ((cells[i] & 0x0f) != 0) + ((cells[i] & 0xf0) != 0);
	return count;
}

/* Add the counters of another array of the same size; full ones stay full. */
void
bf_counters_add(uint8_t *into, const uint8_t *from, size_t bytes)
{
	bf_for_bytes(i, 1, bytes)
	{
		int			low = (into[i] & 0x0f) + (from[i] & 0x0f);
		int			high = (into[i] >> 4) + (from[i] >> 4);

		if (low > BF_COUNTER_MAX)
			low = BF_COUNTER_MAX;
		if (high > BF_COUNTER_MAX)
			high = BF_COUNTER_MAX;
		into[i] = (uint8_t) (high << 4 | low);
	}
}

/* Keep the smaller of two counters, cell by cell. */
void
bf_counters_min(uint8_t *into, const uint8_t *from, size_t bytes)
{
	bf_for_bytes(i, 1, bytes)
	{
		uint8_t		low = into[i] & 0x0f;
		uint8_t		high = into[i] & 0xf0;

		if ((from[i] & 0x0f) < low)
			low = from[i] & 0x0f;
		if ((from[i] & 0xf0) < high)
			high = from[i] & 0xf0;
		into[i] = high | low;
	}
}

/* Set a bit, of an array of zeros, for each counter that is not zero. */
void
bf_counters_to_bits(const uint8_t *cells, uint64_t count, uint8_t *bits)
{
	bf_for_bytes(i, 1, count)
	{
		if (bf_counter_get(cells, i) != 0)
			bf_bit_set(bits, i);
	}
}

/* The lowest bit of each counter of a word that is not zero. */
static inline uint64_t
nonzero_counters(uint64_t word)
{
	word |= word >> 1;
	word |= word >> 2;
	return word & UINT64_C(0x1111111111111111);
}

/*
 * Whether each cell that is not zero in another array of the same size, a
 * multiple of 8 bytes, is not zero in this one.
 */
bool
bf_cells_cover(const uint8_t *cells, const uint8_t *others, size_t bytes,
			   uint8_t cell_bits)
{
	uint64_t	missing = 0;

	bf_for_bytes(i, 8, bytes)
	{
		uint64_t	own = bf_load_le64(cells + i);
		uint64_t	other = bf_load_le64(others + i);

		if (cell_bits == BF_CELL_COUNTER)
		{
			own = nonzero_counters(own);
			other = nonzero_counters(other);
		}
		missing |= other & ~own;
	}
	return missing == 0;
}

/* Add the bits of another array of the same size, a multiple of 8 bytes. */
void
bf_bits_or(uint8_t *into, const uint8_t *from, size_t bytes)
{
	bf_for_bytes(i, 8, bytes)
		bf_store_le64(into + i, bf_load_le64(into + i) | bf_load_le64(from + i));
}

/* Keep only the bits that another array, likewise, has too. */
void
bf_bits_and(uint8_t *into, const uint8_t *from, size_t bytes)
{
	bf_for_bytes(i, 8, bytes)
		bf_store_le64(into + i, bf_load_le64(into + i) & bf_load_le64(from + i));
}

/* The high bit of each byte of a word that is not zero. */
static inline uint64_t
nonzero_bytes(uint64_t word)
{
	const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);

	return (((word & low) + low) | word) & ~low;
}

/* How long an array is when it is packed; bytes is a multiple of 8. */
uint64_t
bf_bits_packed(const uint8_t *bits, size_t bytes)
{
	uint64_t	length = bytes / 8;

	bf_for_bytes(i, 8, bytes)
		length += ((nonzero_bytes(bf_load_le64(bits + i)) >> 7) *
				   UINT64_C(0x0101010101010101)) >> 56;
	return length;
}

/* Pack an array; returns how long it has become. */
size_t
bf_bits_pack(const uint8_t *bits, size_t bytes, uint8_t *packed)
{
	uint8_t    *out = packed;

	bf_for_bytes(i, 8, bytes)
	{
		uint64_t	set = nonzero_bytes(bf_load_le64(bits + i));

		/* One bit of each byte, multiplied into the highest byte. */
		*out++ = (uint8_t) (((set >> 7) * UINT64_C(0x0102040810204080)) >> 56);
		for (; set != 0; set &= set - 1)
			*out++ = bits[i + (size_t) __builtin_ctzll(set) / 8];
	}
	return (size_t) (out - packed);
}

/*
 * Set the bits of a packed array of `length` bytes in another array of `bytes`
 * bytes; false if the packed array does not end where that does.
 */
bool
bf_bits_or_packed(uint8_t *into, size_t bytes, const uint8_t *packed,
				  size_t length)
{
	const uint8_t *in = packed;
	const uint8_t *end = packed + length;

	bf_for_bytes(i, 8, bytes)
	{
		if (in == end || end - in <= __builtin_popcount(*in))
			return false;
		for (unsigned set = *in++; set != 0; set &= set - 1)
			into[i + (size_t) __builtin_ctz(set)] |= *in++;
	}
	return in == end;
}

/* Whether all bits from number `used` on are zero. */
bool
bf_bits_tail_is_zero(const uint8_t *bits, size_t bytes, uint64_t used)
{
	for (uint64_t bit = used; bit < (uint64_t) bytes * 8; bit++)
	{
		if (bf_bit_get(bits, bit))
			return false;
	}
	return true;
}

/* Reverse the bits of a byte. */
static inline uint8_t
reverse_byte(uint8_t byte)
{
	byte = (uint8_t) ((byte & 0xf0) >> 4 | (byte & 0x0f) << 4);
	byte = (uint8_t) ((byte & 0xcc) >> 2 | (byte & 0x33) << 2);
	return (uint8_t) ((byte & 0xaa) >> 1 | (byte & 0x55) << 1);
}

/* memcpy(), with pauses. */
static void
copy_bits(uint8_t *into, const uint8_t *from, size_t bytes)
{
	bf_for_pieces(start, end, bytes)
		memcpy(into + start, from + start, end - start);
}

/*
 * Write the first foreign_bytes * 8 bits of a stored array in another order.
 * The stored array must be at least as long, rounded up to a word.
 */
void
bf_bits_to_order(BfBitOrder order, const uint8_t *stored,
				 uint8_t *foreign, size_t foreign_bytes)
{
	if (order == BF_ORDER_STORED)
	{
		copy_bits(foreign, stored, foreign_bytes);
		return;
	}
	bf_for_bytes(i, 1, foreign_bytes)
	{
		uint8_t		byte = stored[i ^ 7];

		foreign[i] = order == BF_ORDER_REDIS ? reverse_byte(byte) : byte;
	}
}

/*
 * How many bytes a whole array has up to its highest bit, in orders other than
 * the stored one; 0 where no bit is set.
 */
uint64_t
bf_bits_end(const uint8_t *bits, size_t bytes)
{
	while (bytes > 0 && bf_load_le64(bits + bytes - 8) == 0)
		bytes -= 8;
	while (bytes > 0 && bits[(bytes - 1) ^ 7] == 0)
		bytes--;
	return bytes;
}

/*
 * Store an array that comes in another order.  The stored array must be at
 * least as long, rounded up to a word; bytes beyond the foreign ones are left
 * alone.
 */
void
bf_bits_from_order(BfBitOrder order, const uint8_t *foreign,
				   size_t foreign_bytes, uint8_t *stored)
{
	if (order == BF_ORDER_STORED)
	{
		copy_bits(stored, foreign, foreign_bytes);
		return;
	}
	bf_for_bytes(i, 1, foreign_bytes)
		stored[i ^ 7] = order == BF_ORDER_REDIS ?
			reverse_byte(foreign[i]) : foreign[i];
}
