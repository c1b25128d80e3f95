/*
 * layouts.h
 *	  How filters are stored in Redis: keys, order of bits, and hashes that
 *	  describe them.
 */
#ifndef BLOOMEXT_LAYOUTS_H
#define BLOOMEXT_LAYOUTS_H

#include "fmgr.h"

#include "strategy/plan.h"

#define BF_MAX_FIELDS		13

/* Over how many shards a filter is spread, and which of them is meant. */
typedef struct BfSpread
{
	int			shards;			/* 0: none */
	int			number;			/* from 0 on */
} BfSpread;

#define BF_ALL_SHARDS		(-1)

struct BfLayout;

/* A hash beside a filter. */
typedef struct BfHashShape
{
	const char *suffix;			/* of its key */
	const char *fields[BF_MAX_FIELDS];	/* up to a NULL */
	int			guards;			/* so many of them, the first, must not change */
	const char *sign[2];		/* fields by which one is known that is there; NULL:
								 * nobody else has one of its name */
	/* Values of the fields; and a plan out of such values (or NULLs). */
	void		(*write) (const struct BfLayout *layout, const BfPlan *plan,
						  char **values);
	bool		(*read) (char *const *values, BfPlan *plan, BfError *error);
} BfHashShape;

/*
 * The hashes that a layout may have: one that describes a filter, without which
 * there is none; and one of ours that notes of what kind the elements are, where
 * the former does not say it or is not needed.
 */
typedef enum BfHashRole
{
	BF_CONFIG,
	BF_NOTE
} BfHashRole;

#define BF_HASHES	(BF_NOTE + 1)

/* A hash of a filter in Redis. */
typedef struct BfRemoteHash
{
	char	   *key;			/* NULL: there can be none */
	bool		there;			/* it is about this filter; or is to be */
	char	   *values[BF_MAX_FIELDS];	/* of its fields, or NULLs */
} BfRemoteHash;

/*
 * A layout.  Its keys are named by what follows the filter's own, KEY; see
 * bf_suffixed_key().
 */
typedef struct BfLayout
{
	const char *name;
	const struct BfDriver *driver;
	uint32_t	strategies;		/* that it can hold: a mask of 1 << id */
	uint32_t	default_for;	/* the same */
	bool		grows;			/* may have, and is default for, many layers */
	/* Whether it can hold a filter of such a strategy; NULL: it can. */
	bool		(*accept) (const BfPlan *plan, BfError *error);

	/* Before the number of a layer's string; NULL: KEY is the only one. */
	const char *layer_suffix;
	/* The string that says which layer is the newest; NULL: there is one. */
	const char *cursor_suffix;
	const BfHashShape *hash[BF_HASHES]; /* NULL: there is none */

	/* The stream that its string is; NULL: bits in SETBIT's order. */
	const BfStream *stream;
	/* Others write it without the hash: it is read by who knows m and k. */
	bool		bare;
	/* A string ends with its highest bit set, and one without is not there. */
	bool		trimmed;
	/* The type that Redis has for it, with commands of its own; or NULL. */
	const char *native_type;
	/* Whose header is read by this, with the key and 0. */
	const char *native_header;
} BfLayout;

extern const struct BfDriver bf_driver_string;
extern const struct BfDriver bf_driver_growing;
extern const struct BfDriver bf_driver_native;

extern const BfLayout bf_layouts[];
extern const int bf_layout_count;

extern const BfLayout *bf_layout_by_name(const char *name);
extern const BfLayout *bf_layout_argument(FunctionCallInfo fcinfo,
										  int argument,
										  BfSpread *spread);
extern const BfLayout *bf_layout_default(const BfPlan *plan);
extern void bf_layout_check_bare(const BfLayout *layout);
extern void bf_layout_check_growth(const BfLayout *layout,
								   const BfPlan *plan);
extern void bf_layout_check_live(const BfLayout *layout, const BfPlan *plan);
extern void bf_layout_check(const BfLayout *layout, const BfPlan *plan);
extern bool bf_layout_owns(const BfLayout *layout, BfHashRole role,
						   char *const *values);
extern void bf_layout_write(const BfLayout *layout, const BfPlan *plan,
							uint8_t *head, BfRemoteHash *hash);
extern BfHashRole bf_layout_kind_role(const BfLayout *layout);
extern bool bf_layout_is_kind_field(int field);
extern bool bf_layout_is_unbound(char *const *values);
extern void bf_layout_set_kind(char **values, BfBinding kind);
extern const char *bf_layout_whole(char *const *values);
extern void bf_layout_set_whole(char **values, const char *id);
extern char *bf_layout_witness(char *const *values);
extern void bf_layout_set_witness(char **values, char *witness);
extern int	bf_layout_witness_field(const BfHashShape *shape);
extern bool bf_layout_is_filled(char *const *values);
extern void bf_layout_set_filled(char **values);
extern bool bf_layout_is_mirrored(char *const *values);
extern void bf_layout_set_mirrored(char **values);
extern void bf_layout_set_layers(char **values, uint32_t layers);
extern uint32_t bf_layout_least_layers(char *const *values);
extern int	bf_hash_fields(const BfHashShape *shape);
extern uint32_t bf_layout_head(const BfLayout *layout);
extern BfBitOrder bf_layout_order(const BfLayout *layout);
extern uint64_t bf_layout_bytes(const BfLayout *layout, const BfLayer *layer);
extern bool bf_layout_is_bare(const BfLayout *layout, const BfPlan *plan,
							  int64_t bytes);
extern uint64_t bf_layout_used_bytes(const BfLayout *layout,
									 const BfLayer *layer,
									 const uint8_t *bits);
extern void bf_layout_offsets(const BfLayout *layout, uint64_t *positions,
							  uint32_t count);

extern char *bf_suffixed_key(const char *key, const char *suffix);
extern char *bf_shard_key(const char *key, int shard);
extern char *bf_random_name(void);
extern char *bf_temporary_key(const char *key, uint32_t number);

/* The suffix of the hash that says how many shards a filter has. */
#define BF_SHARDS_SUFFIX	":bloomext-shards"

extern bool bf_read_number(const char *text, uint64_t least, uint64_t most,
						   uint64_t *number);

#endif							/* BLOOMEXT_LAYOUTS_H */
