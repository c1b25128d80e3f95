/*
 * redis_write.h
 *	  Writing whole filters to Redis: in place, or under temporary names first.
 */
#ifndef BLOOMEXT_REDIS_WRITE_H
#define BLOOMEXT_REDIS_WRITE_H

#include "redis/remote.h"

/* redis_write.c */

/* The contents of a layer's string, under its own or a temporary key. */
typedef struct BfImage
{
	const BfRemote *remote;
	const char *key;
	const uint8 *bits;			/* of the layer, as in a value; or NULL */
	uint64		bytes;			/* of the string */
	int64		ttl;			/* ms; 0: none */
	bool		hashes;			/* write or remove the hashes of remote */
	uint8	   *buffer;			/* for bytes in another order */
} BfImage;

/* Size of that buffer, and number of bytes of a string that are read back. */
#define BF_IMAGE_BUFFER		((size_t) 64 * 1024)
#define BF_SAMPLE			64

extern BfImage bf_image_of_layer(const BfRemote *remote,
								 const BfFilter *filter, uint32 layer);
extern const void *bf_image_bytes(void *arg, uint64 offset, size_t *length);
extern void bf_image_testify(BfRemote *remote, const BfFilter *filter);
extern void bf_image_sample(const BfImage *image, uint8 *sample);
extern void bf_image_write(BfImage *image);
extern bool bf_image_refresh(const BfImage *image, uint64 *sent);

/* temporary.c */
extern bool bf_temporary_room(const BfRemote *remote, uint64 bytes);
extern uint64 bf_temporary_mirror(const BfRemote *remote, BfImage *images,
								  uint32 count, bool whole, uint32 old_layers,
								  int64 ttl);
extern void bf_temporary_begin(BfUnit *unit, const char *key,
							   const char *verb);
extern void bf_temporary_finish(BfPipeline *pipeline, const BfImage *images,
								uint32 count);
extern void bf_temporary_replace(BfPipeline *pipeline, const BfRemote *remote,
								 const BfImage *images, uint32 count,
								 uint32 old_layers, int64 ttl);

#endif							/* BLOOMEXT_REDIS_WRITE_H */
