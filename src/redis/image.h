/*
 * image.h
 *	  What a string in Redis is to be: its bytes, and what goes with it.
 */
#ifndef BLOOMEXT_IMAGE_H
#define BLOOMEXT_IMAGE_H

#include "redis/remote.h"
#include "strategy/filter.h"

/* A layer, under its own or a temporary key. */
typedef struct BfImage
{
	const BfRemote *remote;
	const char *key;
	const uint8 *bits;			/* of the layer, as a value has them */
	uint64		bytes;			/* of the string */
	int64		ttl;			/* ms; 0: none */
	char	   *config;			/* hash to write or remove with it, or NULL */
} BfImage;

extern BfImage bf_image_of_layer(const BfRemote *remote,
								 const BfFilter *filter, uint32 layer);
extern void bf_image_copy(const BfImage *image, uint64 offset, uint8 *into,
						  size_t length);
extern void bf_image_append_end(BfUnit *unit, const BfImage *image);
extern void bf_image_check(BfConnection *connection, redisReply **result,
						   int count, const BfImage *image);
extern void bf_image_write(BfImage *image);
extern bool bf_image_refresh(const BfImage *image, uint64 *sent);

#endif							/* BLOOMEXT_IMAGE_H */
