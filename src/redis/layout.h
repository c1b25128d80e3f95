/*
 * layout.h
 *	  How filters lie in Redis: under which keys, in which order, said by what.
 */
#ifndef BLOOMEXT_LAYOUT_H
#define BLOOMEXT_LAYOUT_H

#include "strategy/strategy.h"

#define BF_MAX_FIELDS		8

/* Filters that one can be spread over. */
#define BF_MAX_SHARDS		1024

/* A field of a layout's hash. */
typedef struct BfField
{
	const char *name;
	bool		guards;			/* must not change while it is relied on */
} BfField;

/*
 * A layout.  A filter in it is one string a layer, which starts with `head`
 * bytes, and perhaps a hash that describes it.
 */
typedef struct BfLayout
{
	const char *name;
	uint32_t	default_for;	/* strategies: a mask of 1 << id */
	bool		grows;			/* may have, and is default for, many layers */

	/* Whether it can hold such a filter. */
	bool		(*accept) (const BfHeader *header, const BfLayer *layers,
						   BfError *error);

	/* The key of a layer, for a filter named `key`. */
	char	   *(*layer_key) (const char *key, uint32_t layer);
	uint32_t	head;			/* bytes before the bits */
	void		(*write_head) (const BfHeader *header, const BfLayer *layer,
							   uint8_t *head);
	bool		stored_order;	/* bits lie as bloomext stores them */
	/* Strings have their full length: one that is missing is not empty. */
	bool		presized;

	/* The key of the hash that describes it. */
	char	   *(*config_key) (const char *key);
	/* Is it written for this filter at all?  NULL: always. */
	bool		(*needs_config) (const BfHeader *header);
	BfField		fields[BF_MAX_FIELDS];	/* up to one without a name */
	/* Values of these fields; and a filter out of such values (or NULLs). */
	void		(*write_config) (const BfHeader *header, const BfLayer *layers,
								 char **values);
	bool		(*read_config) (char *const *values, BfHeader *header,
								BfLayer *first, BfError *error);

	/* The key that says which layer is the newest; NULL: there is one. */
	char	   *(*cursor_key) (const char *key);

	/* The type that Redis has for it, with commands of its own; or NULL. */
	const char *native_type;
} BfLayout;

extern const BfLayout bf_layout_guava;
extern const BfLayout bf_layout_growing;
extern const BfLayout bf_layout_redisson;
extern const BfLayout bf_layout_bitmap;
extern const BfLayout bf_layout_redisbloom;

extern const BfLayout *bf_layout_at(int index);
extern const BfLayout *bf_layout_by_name(const char *name);
extern const BfLayout *bf_layout_argument(const char *text, int *shards);
extern const BfLayout *bf_layout_default(const BfHeader *header);
extern void bf_layout_check(const BfLayout *layout, const BfHeader *header,
							const BfLayer *layers);
extern bool bf_layout_has_config(const BfLayout *layout,
								 const BfHeader *header);
extern int	bf_layout_fields(const BfLayout *layout);
extern uint64_t bf_layout_bytes(const BfLayout *layout, const BfLayer *layer);
extern uint64_t bf_layout_offset(const BfLayout *layout, uint64_t position);
extern char *bf_shard_key(const char *key, int shard);
extern char *bf_shards_key(const char *key);
extern char *bf_temporary_key(const char *key, uint32_t number);
extern char *bf_own_key(const char *key);

extern bool bf_read_number(const char *text, uint64_t *number);
extern bool bf_read_hashes(const char *text, uint32_t *hashes);
extern bool bf_read_rate(const char *text, double *rate);
extern bool bf_read_sizing(const char *expected, const char *fpp,
						   uint64_t bits, BfHeader *header);
extern void bf_write_own(const BfLayout *layout, const BfHeader *header,
						 const BfLayer *layer, char **values);
extern void bf_write_shape(const BfHeader *header, const BfLayer *layer,
						   char **values);
extern bool bf_read_shape(char *const *values, BfHeader *header,
						  BfLayer *layer, BfError *error);

/* Order of the fields that bf_write_shape() and bf_read_shape() deal with. */
enum
{
	BF_SHAPE_BITS,
	BF_SHAPE_HASHES,
	BF_SHAPE_STRATEGY,
	BF_SHAPE_FUNNEL,
	BF_SHAPE_EXPECTED,
	BF_SHAPE_FPP,
	BF_SHAPE_FIELDS,
	BF_OWN_LAYOUT = BF_SHAPE_FIELDS /* in hashes of several layouts' */
};

#define BF_SHAPE_FIELD_LIST \
	[BF_SHAPE_BITS] = {"bits", true}, \
	[BF_SHAPE_HASHES] = {"hashes", true}, \
	[BF_SHAPE_STRATEGY] = {"strategy", true}, \
	[BF_SHAPE_FUNNEL] = {"funnel", true}, \
	[BF_SHAPE_EXPECTED] = {"expected", true}, \
	[BF_SHAPE_FPP] = {"fpp", true}

#define BF_OWN_FIELD_LIST \
	BF_SHAPE_FIELD_LIST, \
	[BF_OWN_LAYOUT] = {"layout", true}

#endif							/* BLOOMEXT_LAYOUT_H */
