/*
 * strategy.h
 *	  What the rest of the code knows about an implementation of Bloom filters.
 *
 * A strategy is the sizing rule, the hash and the index derivation of one
 * existing implementation.  Each implementation has one file, with one or
 * more structs BfStrategy, which are listed in registry.c.  Code outside this
 * folder does not test which strategy it has: whatever differs between them
 * is a field of the struct.  A set of strategies is a mask.
 */
#ifndef BLOOMEXT_STRATEGY_H
#define BLOOMEXT_STRATEGY_H

#include "core/error.h"
#include "core/format.h"

/* Strategy ids and funnel ids are part of the stored format: never reuse one. */
#define BF_STRATEGY_GUAVA		1
#define BF_STRATEGY_GUAVA32		2
#define BF_STRATEGY_REDISSON	3
#define BF_STRATEGY_MAGNUSS		4
#define BF_STRATEGY_TALE2009	5
#define BF_STRATEGY_CASSANDRA	6
#define BF_STRATEGY_REDISBLOOM	7
#define BF_STRATEGY_SPARK1		8
#define BF_STRATEGY_SPARK2		9
#define BF_STRATEGY_BITSANDBLOOMS	10
#define BF_STRATEGY_PARQUET		11

/* How an element becomes bytes. */
typedef enum BfFunnel
{
	BF_FUNNEL_UNBOUND = 0,		/* the first element decides */
	BF_FUNNEL_UTF8 = 1,			/* text, as UTF-8 */
	BF_FUNNEL_UTF16 = 2,		/* text, as UTF-16 code units */
	BF_FUNNEL_BYTES = 3,		/* bytea and uuid, as they are */
	BF_FUNNEL_INT = 4,			/* 4 bytes, little-endian */
	BF_FUNNEL_LONG = 5			/* 8 bytes, little-endian */
} BfFunnel;

#define BF_FUNNEL_LAST	BF_FUNNEL_LONG

/*
 * What elements mean, which their funnel does not record: other programs take
 * a filter of dates for one of integers.  Ids are part of the stored format.
 */
typedef enum BfMeaning
{
	BF_MEANING_UNKNOWN = 0,		/* made elsewhere, or before there was an id */
	BF_MEANING_DATE = 1,
	BF_MEANING_TIMESTAMP = 2,
	BF_MEANING_TIMESTAMPTZ = 3,
	BF_MEANING_OID = 4,
	BF_MEANING_BOOLEAN = 5,
	BF_MEANING_CHAR = 6,
	BF_MEANING_INET = 7,
	BF_MEANING_MACADDR = 8,
	BF_MEANING_TEXT = 9,
	BF_MEANING_BPCHAR = 10,		/* char(n): text without its trailing blanks */
	BF_MEANING_BYTEA = 11,
	BF_MEANING_UUID = 12,
	BF_MEANING_INTEGER = 13,
	BF_MEANING_OPEN = 14		/* no element yet: the first one decides */
} BfMeaning;

#define BF_MEANING_LAST	BF_MEANING_OPEN

/* What the elements of a filter are. */
typedef struct BfBinding
{
	BfFunnel	funnel;
	BfMeaning	meaning;
} BfBinding;

/* The kinds of SQL values that can be elements. */
typedef enum BfKind
{
	BF_KIND_TEXT,
	BF_KIND_BYTEA,
	BF_KIND_INT2,
	BF_KIND_INT4,
	BF_KIND_INT8,
	BF_KIND_UUID
} BfKind;

#define BF_KINDS	(BF_KIND_UUID + 1)

/* The most digests that a hash takes. */
#define BF_MAX_DIGESTS	64

/* The most words that a hash takes. */
#define BF_MAX_WORDS	4

/*
 * The hash of an element: the strategy's number of words, called h1, h2 and so
 * on.  A strategy that hashes again for every few positions has digests
 * instead, which are computed when they are needed, once each: until then the
 * caller keeps the bytes of the element, and provides room for BF_MAX_DIGESTS
 * digests.
 */
typedef struct BfHash
{
	uint64_t	word[BF_MAX_WORDS];
	const uint8_t *data;
	size_t		length;
	uint32_t	(*digests)[4];
	uint32_t	ndigests;
} BfHash;

/*
 * Make two words of two 32-bit hashes, h1 and h2 in word[0] and word[1].  Each
 * word contains both, as code that sorts, samples or spreads hashes relies on
 * some bits of a word being random.
 */
static inline void
bf_hash_join(BfHash *hash)
{
	uint64_t	h1 = hash->word[0];
	uint64_t	h2 = hash->word[1];

	hash->word[0] = h1 << 32 | h2;
	hash->word[1] = h2 << 32 | h1;
}

/* Get one of the two hashes back. */
static inline uint32_t
bf_hash_half(const BfHash *hash, int half)
{
	return (uint32_t) (hash->word[half] >> 32);
}

struct BfFilter;
struct BfPlan;

/*
 * A stream of another implementation that describes itself (it contains size
 * and number of hashes): a head, then the layers' bits, one after another in
 * an order.  Streams of several strategies with one name are variants of a
 * format: the inspect() of each takes all variants, and sets the plan's
 * strategy to that of the variant found.
 */
typedef struct BfStream
{
	const char *name;
	BfBitOrder	order;
	size_t		head_size;		/* bytes before the bits, */
	size_t		layer_head_size;	/* and further ones for each layer; */
	/* or, where they depend on the size, these: head_size is the least. */
	size_t		(*measure_head) (const struct BfPlan *plan);
	/* Number of bytes of a filter's stream; false if it has none. */
	bool		(*measure) (const struct BfFilter *filter, uint64_t *length,
							BfError *error);
	void		(*write_head) (const struct BfFilter *filter, uint8_t *stream);
	/*
	 * Check a stream and plan the filter that holds it.  The plan's array has
	 * room for BF_MAX_LAYERS, if the stream's layers have heads.
	 */
	bool		(*inspect) (const uint8_t *stream, size_t length,
							struct BfPlan *plan, BfError *error);
} BfStream;

/* How a derivation removes the sign of a word. */
typedef enum BfFold
{
	BF_FOLD_NONE,				/* the word is unsigned */
	BF_FOLD_COMPLEMENT,			/* ~c where c is negative */
	BF_FOLD_NEGATE				/* -c where c is negative */
} BfFold;

/*
 * The k words of an element, from two words h1 and h2 of its hash; positions
 * are the words modulo m.
 */
typedef struct BfDerivation
{
	uint8_t		word_bits;		/* sums are modulo 2^word_bits */
	BfFold		fold;
	bool		squares;		/* h1 + i * h2 + i * i */
	bool		alternating;	/* h1, h1 + h2, 2 h1 + h2, 2 h1 + 2 h2, ... */
	bool		never_wraps;	/* sums are exact: the words might be those modulo m */
} BfDerivation;

/*
 * A strategy whose elements have all of their positions in one block each, of
 * the bits as they are stored.  Probabilities are those of blocks that fill
 * unevenly, which a fill to the power of k is not.
 */
typedef struct BfBlocks
{
	uint32_t	bytes;			/* of a block */
	/* Where the block of an element starts, in bytes. */
	uint64_t	(*find) (const BfHash *hash, uint64_t bits);
	void		(*add) (uint8_t *block, const BfHash *hash);
	bool		(*test) (const uint8_t *block, const BfHash *hash);
	/*
	 * The probability that some other element is found when there are this
	 * many, as filters are sized by it; and what it is with what coincides
	 * by the hash.
	 */
	double		(*fpp) (double elements, uint64_t bits);
	double		(*real_fpp) (double elements, uint64_t bits);
	/* The number of elements up to which `fpp` is kept. */
	double		(*capacity) (double fpp, uint64_t bits);
	/* The sum of the probabilities of blocks, by their bits. */
	double		(*sum_fpp) (const uint8_t *bits, size_t bytes);
} BfBlocks;

typedef struct BfStrategy
{
	uint8_t		id;
	const char *name;

	/*
	 * The bits and hashes for n expected insertions at probability p, exactly
	 * as the original computes them; false if it refuses, or should.
	 */
	bool		(*size) (int64_t expected, double fpp, BfLayer *layer,
						 BfError *error);
	/* Is n = 0 refused, rather than treated as another n? */
	bool		needs_elements;
	/*
	 * The bits that the originals give them by default, where `size` is not
	 * that rule because it does not keep p; NULL: it is.
	 */
	uint64_t	(*usual_bits) (int64_t expected, double fpp);
	/* Likewise from buckets (bits) per element; NULL: it has no such rule. */
	bool		(*size_by_buckets) (int64_t expected, int32_t buckets,
									BfLayer *layer, BfError *error);
	/* The bits of a filter are a multiple of this, and limited. */
	uint32_t	bits_multiple;
	uint64_t	max_bits;
	/* The hashes that every filter has; 0: any number. */
	uint32_t	fixed_hashes;

	/*
	 * The funnel that an element of each kind binds; unbound: not supported.
	 * An integer kind with a funnel for text is hashed as its decimal text.
	 */
	BfFunnel	funnels[BF_KINDS];
	/* Further funnels that bf_create may name: a mask of 1 << funnel. */
	uint32_t	other_funnels;
	/*
	 * Funnel utf16 is big-endian after a byte order mark, FE FF (but '' is no
	 * bytes at all), not little-endian without one.
	 */
	bool		utf16_is_marked;
	/*
	 * Meanings, as masks of 1 << meaning: those that no element may have; and,
	 * by funnel, those of elements that others write in several ways, so that
	 * only a filter that is known to have such elements takes them.
	 */
	uint32_t	refused_meanings;
	uint32_t	ambiguous_meanings[BF_FUNNEL_LAST + 1];
	/*
	 * Funnel int takes integers up to 2^32 - 1, by their low 32 bits, as others
	 * have filters of unsigned ones that do not tell.
	 */
	bool		int_may_be_unsigned;

	void		(*hash) (const uint8_t *data, size_t length, BfHash *hash);
	/* The number of words that replace the element; 0: there are digests. */
	uint32_t	words;
	/* The digest of a number, and the number of hashes in it. */
	void		(*digest) (uint32_t number, const uint8_t *data, size_t length,
						   uint32_t digest[4]);
	uint32_t	hashes_a_digest;
	/*
	 * Positions number first .. first + count - 1 of an element, whose digests
	 * have been computed: at most BF_MAX_HASHES.
	 */
	void		(*positions) (const BfHash *hash, uint64_t bits,
							  uint32_t first, uint32_t count,
							  uint64_t *positions);

	/*
	 * Above this number of bits, positions are too narrow, and this strategy
	 * is to be used instead; NULL: they never are.
	 */
	uint64_t	wide_from;
	const struct BfStrategy *wide;
	/* How positions derive; NULL: independently of each other. */
	const BfDerivation *derivation;
	/* Do positions derive in a way that no BfDerivation describes? */
	bool		derivation_is_unknown;
	/* Positions are in a block an element; NULL: anywhere. */
	const BfBlocks *blocks;

	/*
	 * Can an index keep such a filter up to date?  That takes hashes of two
	 * words and bits in words, and no counting of elements.
	 */
	bool		can_be_live;

	/* Is there a variant whose cells count, to remove elements from? */
	bool		has_counters;
	/*
	 * Do layers count the new elements put into them, and accept no more of
	 * them than they expect?  Otherwise their bits determine when they are
	 * full.
	 */
	bool		counts_elements;

	/* The original's own stream; NULL: a bare bit string in `order`. */
	const BfStream *stream;
	BfBitOrder	order;
} BfStrategy;

extern const BfStream bf_guava_stream;

extern const BfStrategy bf_guava;
extern const BfStrategy bf_guava32;
extern const BfStrategy bf_redisson;
extern const BfStrategy bf_magnuss;
extern const BfStrategy bf_tale2009;
extern const BfStrategy bf_cassandra;
extern const BfStrategy bf_redisbloom;
extern const BfStrategy bf_spark1;
extern const BfStrategy bf_spark2;
extern const BfStrategy bf_bitsandblooms;
extern const BfStrategy bf_parquet;

extern double bf_redisbloom_bits(uint64_t entries, double error_rate);

extern const BfStrategy *bf_strategy_by_id(uint8_t id);
extern const BfStrategy *bf_strategy_by_name(const char *name);
extern const BfStrategy *bf_strategy_at(size_t index);
extern const BfStream *bf_stream_by_name(const char *name);
extern bool bf_strategy_takes_funnel(const BfStrategy *strategy,
									 BfFunnel funnel);
extern bool bf_strategy_size(const BfStrategy *strategy, int64_t expected,
							 double fpp, BfLayer *layer, BfError *error);
extern bool bf_strategy_accepts(const BfStrategy *strategy, uint64_t bits,
								uint32_t hashes, BfError *error);
extern const char *bf_funnel_name(BfFunnel funnel);
extern bool bf_funnel_by_name(const char *name, BfFunnel *funnel);
extern const char *bf_meaning_name(BfMeaning meaning);
extern bool bf_meaning_by_name(const char *name, BfMeaning *meaning);

#endif							/* BLOOMEXT_STRATEGY_H */
