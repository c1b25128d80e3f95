/*
 * pieces.c
 *	  Long work in bounded pieces, with a check for interrupts between.
 *
 * A value may have 1 GB, an element as well, and a filter 1,024 layers of 255
 * hashes; a query over them must end when somebody cancels it.  core/ and
 * strategy/ cannot look for that, so their loops take a piece and are called
 * again, here and nowhere else: at most BF_PIECE bytes, or BF_BATCH elements'
 * positions in a layer, lie between two checks.
 *
 * What PostgreSQL and the C library do in one call stays one: detoasting,
 * memcpy, memset, memcmp, and hash_any, the hash of a whole filter (1 GB: some
 * 0.2 to 2 s).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "type/pieces.h"

/* bf_hash_bytes() of a long element */
void
bf_hash_long(const BfStrategy *strategy, const uint8 *data, Size length,
			 BfHash *hash)
{
	BfLongHash	run;
	uint32		share;

	if (strategy->words == 0)
	{
		strategy->hash(data, length, hash);
		return;
	}
	share = bf_function_words(strategy);
	for (uint32 i = 0; i * share < strategy->words; i++)
	{
		bf_longhash_start(&run, strategy->functions[i], data, length,
						  i == 0 ? strategy->seed : hash->word[0]);
		while (!bf_longhash_take(&run, BF_PIECE))
			CHECK_FOR_INTERRUPTS();
		memcpy(&hash->word[i * share], run.result.wide, share * sizeof(uint64));
	}
	if (strategy->joins_hashes)
		bf_hash_join(hash);
}

/* Compute a digest of a hash's element. */
static void
digest(const BfStrategy *strategy, const BfHash *hash, uint32 number,
	   uint32 *words)
{
	BfLongHash	run;

	CHECK_FOR_INTERRUPTS();
	if (hash->length <= BF_PIECE)
	{
		strategy->digest(number, hash->data, hash->length, words);
		return;
	}
	bf_longhash_start(&run, strategy->functions[0], hash->data, hash->length,
					  number);
	while (!bf_longhash_take(&run, BF_PIECE))
		CHECK_FOR_INTERRUPTS();
	memcpy(words, run.result.narrow, sizeof(run.result.narrow));
}

/* bf_hash_reach() of a hash that has digests */
void
bf_hash_digest(const BfStrategy *strategy, BfHash *hash, uint32 hashes)
{
	uint32		wanted = (hashes + strategy->hashes_a_digest - 1) /
		strategy->hashes_a_digest;

	if (hash->digests == NULL)
		hash->digests = palloc(BF_MAX_DIGESTS * sizeof(hash->digests[0]));
	for (; hash->ndigests < wanted; hash->ndigests++)
		digest(strategy, hash, hash->ndigests, hash->digests[hash->ndigests]);
}

/* Whether a layer holds all positions of an element. */
static inline bool
is_in_layer(const BfFilter *filter, const BfLayer *layer, BfHash *hash)
{
	bf_hash_reach(filter->plan.strategy, hash, layer->hashes);
	return bf_layer_contains(filter, layer, hash);
}

/* Whether any layer does.  Most filters have one, which needs no copy of it. */
bool
bf_filter_contains(const BfFilter *filter, BfHash *hash)
{
	if (filter->plan.header.layers == 1)
		return is_in_layer(filter, &filter->plan.first, hash);
	bf_foreach_layer(layer, filter)
	{
		if (is_in_layer(filter, &layer, hash))
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/*
 * Look up to BF_BATCH elements up in the layers from one to before another, but
 * for those that are found already.
 */
void
bf_layers_contain_batch(const BfFilter *filter, uint32 from, uint32 until,
						BfHash *hashes, Size count, bool *found)
{
	BfLayer		layer = bf_filter_layer(filter, from);

	for (; layer.index < until; bf_filter_next_layer(filter, &layer))
	{
		CHECK_FOR_INTERRUPTS();
		bf_hashes_reach(filter->plan.strategy, hashes, count, layer.hashes,
						found);
		bf_layer_contains_batch(filter, &layer, hashes, count, found);
	}
}

/* Look elements up, any number of them, with an answer for each. */
void
bf_filter_contains_batch(const BfFilter *filter, BfHash *hashes, Size count,
						 bool *found)
{
	memset(found, 0, count * sizeof(bool));
	for (Size start = 0; start < count; start += BF_BATCH)
		bf_layers_contain_batch(filter, 0, filter->plan.header.layers,
								hashes + start, Min(count - start, BF_BATCH),
								found + start);
}

/* The cells of a layer that are not zero. */
uint64
bf_layer_count(const BfFilter *filter, const BfLayer *layer)
{
	const uint8 *cells = filter->bytes + layer->offset;
	uint64		count = 0;

	for (uint64 done = 0; done < layer->bytes; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		count += bf_cells_count(cells + done,
								Min(layer->bytes - done, BF_PIECE),
								filter->plan.header.cell_bits);
	}
	return count;
}

/* Combine an array with another. */
void
bf_pieces_combine(BfArrayLoop loop, uint8 *into, const uint8 *from, Size bytes)
{
	for (Size done = 0; done < bytes; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		loop(into + done, from + done, Min(bytes - done, BF_PIECE));
	}
}

/* bf_bits_packed() */
uint64
bf_pieces_packed(const uint8 *bits, Size bytes)
{
	uint64		length = 0;

	for (Size done = 0; done < bytes; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		length += bf_bits_packed(bits + done, Min(bytes - done, BF_PIECE));
	}
	return length;
}

/* bf_bits_pack() */
void
bf_pieces_pack(const uint8 *bits, Size bytes, uint8 *packed)
{
	for (Size done = 0; done < bytes; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		packed += bf_bits_pack(bits + done, Min(bytes - done, BF_PIECE), packed);
	}
}

/* bf_bits_or_packed(), of a packed array of just this length */
bool
bf_pieces_or_packed(uint8 *into, Size bytes, const uint8 *packed, Size length)
{
	const uint8 *end = packed + length;

	for (Size done = 0; done < bytes; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		if (!bf_bits_or_packed(into + done, Min(bytes - done, BF_PIECE),
							   &packed, end))
			return false;
	}
	return packed == end;
}

/* bf_counters_to_bits() */
void
bf_pieces_to_bits(const uint8 *cells, uint64 count, uint8 *bits)
{
	for (uint64 done = 0; done < count; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		bf_counters_to_bits(cells + done * BF_CELL_COUNTER / 8,
							Min(count - done, BF_PIECE), bits + done / 8);
	}
}

/* bf_bits_to_order() */
void
bf_pieces_to_order(BfBitOrder order, const uint8 *stored, uint8 *foreign,
				   Size bytes)
{
	for (Size done = 0; done < bytes; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		bf_bits_to_order(order, stored + done, foreign + done,
						 Min(bytes - done, BF_PIECE));
	}
}

/* bf_bits_from_order() */
void
bf_pieces_from_order(BfBitOrder order, const uint8 *foreign, Size bytes,
					 uint8 *stored)
{
	for (Size done = 0; done < bytes; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		bf_bits_from_order(order, foreign + done,
						   Min(bytes - done, BF_PIECE), stored + done);
	}
}

/* Write a filter's stream, of the length that measure() says. */
void
bf_stream_write(const BfFilter *filter, uint8 *bytes)
{
	const BfStream *stream = filter->plan.strategy->stream;
	uint8	   *bits = bytes + bf_stream_head_size(stream, filter->plan.header.layers);

	stream->write_head(filter, bytes);
	bf_foreach_layer(layer, filter)
	{
		bf_pieces_to_order(stream->order, filter->bytes + layer.offset, bits,
						   layer.bytes);
		bits += layer.bytes;
	}
}

/* Read the bits of a stream into the value that inspect() has described. */
void
bf_stream_read(const uint8 *bytes, const BfFilter *filter, uint8 *value)
{
	const BfStream *stream = filter->plan.strategy->stream;
	const uint8 *bits = bytes + bf_stream_head_size(stream, filter->plan.header.layers);

	bf_foreach_layer(layer, filter)
	{
		bf_pieces_from_order(stream->order, bits, layer.bytes,
							 value + layer.offset);
		bits += layer.bytes;
	}
}
