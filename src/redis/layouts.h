/*
 * layouts.h
 *	  How filters are stored in Redis: keys, order of bits, and hashes that
 *	  describe them.
 */
#ifndef BLOOMEXT_LAYOUTS_H
#define BLOOMEXT_LAYOUTS_H

#include "fmgr.h"

#include "strategy/plan.h"

#define BF_MAX_FIELDS		16

/* Number of shards of a filter, and which of them is meant. */
typedef struct BfSpread
{
	int			shards;			/* 0: not sharded */
	int			number;			/* from 0 */
} BfSpread;

#define BF_ALL_SHARDS		(-1)

/* A window of time: see driver_window.c. */
typedef struct BfWindow
{
	int			slices;			/* that make up its span; 0: not a window */
	int64_t		length;			/* of a slice, in ms */
} BfWindow;

#define BF_WINDOW_SLICES	30	/* the most, and the default */
#define BF_WINDOW_SHORTEST	1000	/* slice in ms: nobody could turn faster */
/* Slices that are asked: see driver_window.c. */
#define BF_WINDOW_LIVE(slices)	((slices) + 2)
#define BF_WINDOW_WORDS		500000	/* of a piece, except for the last one */
#define BF_WINDOW_PIECES	4096	/* the most */

struct BfLayout;

/* A hash next to a filter. */
typedef struct BfHashShape
{
	const char *suffix;			/* of its key */
	const char *fields[BF_MAX_FIELDS];	/* terminated by NULL */
	int			guards;			/* number of leading fields that must not
								 * change */
	const char *sign[2];		/* fields by which a hash found there is
								 * recognized; NULL: no other program has one
								 * of its name */
	/* Write the values of the fields; read a plan from values (or NULLs). */
	void		(*write) (const struct BfLayout *layout, const BfPlan *plan,
						  char **values);
	bool		(*read) (char *const *values, BfPlan *plan, BfError *error);
} BfHashShape;

/*
 * The hashes that a layout may have: one that describes a filter, which does
 * not exist without it; and one of ours that notes the kind of the elements,
 * if the former does not record that or is not needed.
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
	char	   *key;			/* NULL: cannot exist */
	bool		there;			/* it is about this filter, or is to be */
	char	   *values[BF_MAX_FIELDS];	/* of its fields, or NULLs */
} BfRemoteHash;

/* A layout.  Its keys are KEY with suffixes: see bf_suffixed_key(). */
typedef struct BfLayout
{
	const char *name;
	const struct BfDriver *driver;
	uint32_t	strategies;		/* supported ones: a mask of 1 << id */
	uint32_t	default_for;	/* a mask like strategies */
	bool		grows;			/* may have many layers, and is default for
								 * filters that do */
	/* Whether it can hold a filter; NULL: all of its strategies. */
	bool		(*accept) (const BfPlan *plan, BfError *error);

	/* Precedes the number of a layer's string; NULL: KEY is the only one. */
	const char *layer_suffix;
	/* The string with the newest layer's number; NULL: there is one layer. */
	const char *cursor_suffix;
	const BfHashShape *hash[BF_HASHES]; /* NULL: none */

	/* The format of its string; NULL: bits in SETBIT's order. */
	const BfStream *stream;
	/* Others write the string without the hash; readers know m and k. */
	bool		bare;
	/* A string ends with its last set bit; without any, it does not exist. */
	bool		trimmed;
	/* For each position a word, in pieces, with a bit for each slice of time. */
	bool		window;
	/* Redis's type for it, if it has commands of its own; or NULL. */
	const char *native_type;
	/* The command that reads its header, with the key and 0. */
	const char *native_header;
} BfLayout;

extern const struct BfDriver bf_driver_string;
extern const struct BfDriver bf_driver_growing;
extern const struct BfDriver bf_driver_native;
extern const struct BfDriver bf_driver_window;

/* layout_table.c */
extern const BfLayout bf_layouts[];
extern const int bf_layout_count;

extern const BfLayout *bf_layout_by_name(const char *name);
extern const BfLayout *bf_layout_argument(FunctionCallInfo fcinfo,
										  int argument,
										  BfSpread *spread);
extern const BfLayout *bf_layout_default(const BfPlan *plan, bool window);
extern void bf_layout_check(const BfLayout *layout, const BfPlan *plan);

/* layouts.c */
extern const BfHashShape bf_own_hash;
extern const BfHashShape bf_growing_hash;
extern const BfHashShape bf_redisson_hash;
extern const BfHashShape bf_window_hash;

extern void bf_layout_check_bare(const BfLayout *layout);
extern void bf_layout_check_growth(const BfLayout *layout,
								   const BfPlan *plan);
extern void bf_layout_check_window(const BfLayout *layout, int slices);
extern void bf_layout_check_live(const BfLayout *layout, const BfPlan *plan);
extern bool bf_layout_owns(const BfLayout *layout, BfHashRole role,
						   char *const *values);
extern void bf_layout_write(const BfLayout *layout, const BfPlan *plan,
							uint8_t *head, BfRemoteHash *hash);
extern BfHashRole bf_layout_kind_role(const BfLayout *layout);
extern bool bf_layout_is_kind_field(int field);
extern bool bf_layout_is_unbound(char *const *values);
extern void bf_layout_set_kind(char **values, BfBinding kind);
extern const char *bf_layout_whole(char *const *values);
extern void bf_layout_set_whole(char **values, const char *id, int number);
extern bool bf_layout_is_whole(const char *whole, const char *id, int number);
extern char *bf_layout_witness(char *const *values);
extern void bf_layout_set_witness(char **values, char *witness);
extern int	bf_layout_witness_field(const BfHashShape *shape);
extern bool bf_layout_is_filled(char *const *values);
extern void bf_layout_set_filled(char **values);
extern bool bf_layout_is_mirrored(char *const *values);
extern void bf_layout_set_mirrored(char **values);
extern void bf_layout_set_layers(char **values, uint32_t layers);
extern uint32_t bf_layout_least_layers(char *const *values);
extern BfWindow bf_layout_window(const BfLayout *layout,
								 char *const *values);
extern void bf_layout_set_window(char **values, BfWindow window);
extern const char *bf_layout_window_id(const BfLayout *layout,
									   char *const *values);
extern uint32_t bf_layout_strings(const BfLayout *layout, const BfPlan *plan);
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

/* The suffix of the hash that lists the shards of a filter. */
#define BF_SHARDS_SUFFIX	":bloomext-shards"

extern bool bf_read_number(const char *text, uint64_t least, uint64_t most,
						   uint64_t *number);

#endif							/* BLOOMEXT_LAYOUTS_H */
