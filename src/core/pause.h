/*
 * pause.h
 *	  The pauses of long work.
 *
 * A text may have 1 GB, and so may a filter, and users must be able to cancel
 * the functions that process them.  Code below the server cannot check for
 * interrupts, so it calls bf_pause, which does nothing by default.  In the
 * server, _PG_init() sets bf_pause to a function that checks for interrupts.
 *
 * A call of bf_pause may raise an error, and then does not return.  So it is
 * called only where nothing is left behind: in core/ and strategy/, which
 * allocate nothing, and where all that is written is the caller's own memory.
 *
 *	- bf_for_bytes(): before each piece of an array, or of data to hash, of
 *	  BF_PIECE bytes or more.  For shorter data it is never called, and so not
 *	  for a page of a live filter, whose bits are counted under the lock of
 *	  its buffer (pages/fill_sample.c).  There it would do nothing, as
 *	  PostgreSQL holds interrupts off under a lock.
 *	- bf_for_long(): between the pieces of longer data to hash.
 *	- strategy/filter.c, fill.c: for each layer that is looked at, counted,
 *	  written to a stream or read from one, and before each digest.  Such
 *	  filters are values in memory, never pages of a live filter.
 *	- advise/cover.c and real_fpp.c: in sums and simulations.
 *
 * A single call of the C library (memset, memcmp) is not interrupted.
 */
#ifndef BLOOMEXT_PAUSE_H
#define BLOOMEXT_PAUSE_H

#include <stdbool.h>
#include <stddef.h>

extern void (*bf_pause) (void);

/* Bytes that may be processed without a pause: some 100 us to 2 ms. */
#define BF_PIECE	((size_t) 1024 * 1024)

/* Where the piece ends that starts at byte `start` of `bytes`; pause before it. */
static inline size_t
bf_piece_end(size_t start, size_t bytes)
{
	if (bytes >= BF_PIECE)
		bf_pause();
	return bytes - start > BF_PIECE ? start + BF_PIECE : bytes;
}

/* Loop over pieces of bytes, from `start` to before `end`, with pauses. */
#define bf_for_pieces(start, end, bytes) \
	for (size_t start = 0, end; \
		 start < (bytes) && (end = bf_piece_end(start, bytes), true); \
		 start = end)

/*
 * for (size_t i = 0; i < bytes; i += step), with pauses.  The step divides
 * BF_PIECE.  These are two loops: leave them by return, not by break.
 */
#define bf_for_bytes(i, step, bytes) \
	bf_for_pieces(i##_start, i##_end, bytes) \
		for (size_t i = i##_start; i < i##_end; i += (step))

/*
 * Likewise for a function that keeps its state in registers and calls no
 * other.  To call one, even once in a million, it would save registers each
 * time (measured: 5 % of the instructions of MurmurHash3 of a title).  So long
 * data is hashed by a separate function, piece by piece except for the last
 * one.
 */
#define bf_is_long(length)	__builtin_expect((length) > BF_PIECE, 0)
#define bf_apart			__attribute__((noinline))
#define bf_for_long(data, left) \
	for (; bf_is_long(left); \
		 (data) += BF_PIECE, (left) -= BF_PIECE, bf_pause())

#endif							/* BLOOMEXT_PAUSE_H */
