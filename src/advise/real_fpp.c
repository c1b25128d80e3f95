/*
 * real_fpp.c
 *	  The false positive probability that an index derivation really has.
 *
 * The textbook's (1 - e^(-kn/m))^k assumes that the k positions of an element
 * are independent.  But they are derived from two words, so an element has
 * only some m^2 different sets of positions.  Two events that are rare for
 * independent positions are then frequent.  A probe's positions may coincide
 * (if its step is 0 or of small order modulo m, which has a probability of
 * some 1/m).  Or a probe may run along the positions of an element (if one's
 * step is a small multiple of the other's, some n/m^2).  Filters that are
 * small, or have a small p, get most of their false positives from these.
 *
 * What is computed is the probability that n independent elements cover the d
 * distinct positions of a probe, where each element hits J of the d.  Given
 * the distribution of J, the number of positions covered is a Markov chain
 * (cover.c).  It is exact, except that the J positions are taken for a random
 * subset of the d, which is right if at most one element shares a structure
 * with the probe.
 *
 * The distributions of d and of J are found by importance sampling.  For d,
 * we draw two indexes of a probe that are to coincide, and solve for its
 * words.  For J, we draw two indexes of an element and the two positions of
 * the probe that they are to hit, and solve for the element's words.  Then we
 * count what else coincides, and weigh by the reciprocal of the number of
 * draws that would give the same words.  This is unbiased for every m, and
 * needs no list of special cases: common factors of m and the steps, the wrap
 * of the words at 2^63, folded signs and quadratic terms all show in the
 * words themselves.
 *
 * The random numbers are a fixed sequence, so the result is a function of the
 * arguments.  It is accurate to some percent; to 10 % where p is below 1e-5
 * and n below 5; and to a factor of two where an excess is below 1e-9.  It
 * takes 10 to 100 ms, or up to 0.2 s for 64 hashes.  So there is a pause
 * after every draw, which may raise an error, as nothing is held here.
 *
 * The sums of Spark's version 2 never wrap, so they keep more structure than
 * others.  Only their remainder modulo m matters, so words are drawn below m.
 * The few solutions for two positions are found by trying.
 *
 * Redisson adds h2 and h1 in turn.  With g = h1 + h2, its words are h1 + q *
 * g at even indexes, here called sums, and (q + 1) * g at odd indexes, here
 * called multiples.  A multiple coincides with one of another element with
 * probability 1/m, not 1/m^2; the excess that this causes depends on n/m, so
 * it does not vanish in large filters.  Two multiples cannot be solved for
 * together, so draws solve for one.  As several elements may share structure
 * with a probe, its multiples are distinguished: we use inclusion and exclusion
 * over the sets of multiples that no element hits, and a chain for the sums.
 * Multiples of an even g are even modulo an even m, so probes are divided
 * into classes by the low bits of their words.
 *
 * Compared with simulations of Redisson's filters of 5 to 100,000 elements,
 * this is right within 7 % for p down to 1e-4, and within 12 % at 1e-5, where
 * m is a multiple of 8.  All of it is needed.  Without what is particular to
 * alternating sums, the result is half of the true value at 1e-3, and a tenth
 * at 1e-5.  If multiples were not told apart, it would be 0.6 to 1.4 times
 * the true value at 1e-5; without classes, a third; and without pairs of
 * multiples that coincide, 0.8 times for 5 elements at 1e-3.
 *
 * For more than 64 hashes (p below some 1e-19), and for filters with more
 * than MAX_LOAD positions per bit, the result is the textbook's.
 */
#include <math.h>
#include <string.h>

#include "advise/real_fpp.h"
#include "core/modulo.h"
#include "core/pause.h"

/* A filter with more positions than this per bit is full. */
#define MAX_LOAD		50

/* Draws: probes that coincide, probes that do not, elements for a probe. */
#define SELF_DRAWS		4096
#define SELF_PROBES		32		/* examined, by number of positions */
#define PROBES			256
#define PAIR_DRAWS		256		/* for one that does not coincide */
#define SELF_PAIR_DRAWS	64		/* its noise is less than that between probes */

/* Classes of probes: by at most this many low bits of both words. */
#define MAX_TWOS		2
#define CLASS_PROBES	48		/* at least */

/* Logarithm of a negligible probability. */
#define LOG_NOTHING		(-40.0)

/* Slots of the hash table of a probe's positions: few are taken. */
#define SLOTS			1024

typedef struct Model
{
	const BfDerivation *derivation;
	uint64_t	bits;
	uint32_t	hashes;
	uint32_t	sums;			/* the first words have h1 in them, and */
	BfDivisor	divisor;		/* the others are multiples of g */
	uint64_t	mask;			/* of the words */
	int			folded_bits;	/* words are this wide without their sign */
	uint64_t	random;
	double		mean_distinct;	/* positions of an element */
	BfFppWork  *work;
} Model;

/* A probe's distinct positions, and a hash table of their numbers, from 1. */
typedef struct Probe
{
	uint64_t	positions[BF_MAX_COVERED];
	uint32_t	count;
	uint8_t		slots[SLOTS];
} Probe;

/* splitmix64 */
static uint64_t
next_random(Model *model)
{
	uint64_t	z = (model->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/*
 * A random number below a limit, which is small, or near a fraction of 2^64:
 * in neither case is the bias worth 128-bit arithmetic.
 */
static inline uint64_t
random_below(Model *model, uint64_t limit)
{
	if (limit <= UINT32_MAX)
		return (next_random(model) >> 32) * limit >> 32;
	return next_random(model) % limit;
}

/* ---- Words and positions ----------------------------------------------- */

/*
 * Word number i is base * first + step * second + plus, where `first` is h1
 * and `second` is h2, or g for alternating sums, whose multiples come last.
 */
typedef struct Coefficients
{
	uint64_t	base;
	uint64_t	step;
	uint64_t	plus;
} Coefficients;

/* The coefficients of word number i. */
static inline Coefficients
word_coefficients(const Model *model, uint32_t i)
{
	if (i >= model->sums)
		return (Coefficients) {0, i - model->sums + 1, 0};
	return (Coefficients) {
		1, i, model->derivation->squares ? (uint64_t) i * i : 0
	};
}

/* The word of the other sign; both rules undo themselves. */
static inline uint64_t
other_sign(const Model *model, uint64_t word)
{
	return (model->derivation->fold == BF_FOLD_COMPLEMENT ? ~word : -word) &
		model->mask;
}

/* A random h1 or h2, below m where sums of them are not to wrap. */
static inline uint64_t
random_word(Model *model)
{
	uint64_t	word = next_random(model);

	return model->derivation->never_wraps ? bf_modulo(word, model->divisor) : word;
}

/* Take the sign out of a word. */
static inline uint64_t
fold_word(const Model *model, uint64_t word)
{
	word &= model->mask;
	if (model->derivation->fold != BF_FOLD_NONE &&
		word >> (model->derivation->word_bits - 1) & 1)
		return other_sign(model, word);
	return word;
}

/* The position at an index, for these two words. */
static inline uint64_t
position_at(const Model *model, uint32_t i, uint64_t first, uint64_t second)
{
	Coefficients c = word_coefficients(model, i);

	return bf_modulo(fold_word(model, c.base * first + c.step * second +
							   c.plus), model->divisor);
}

/* Number of folded words that give a position: it and all that lie m apart. */
static inline uint64_t
words_at(const Model *model, uint64_t position)
{
	uint64_t	last = UINT64_MAX >> (64 - model->folded_bits);

	return (last - position) / model->bits + 1;
}

/* The probability that a random word gives a position. */
static inline double
position_probability(const Model *model, uint64_t position)
{
	if (model->derivation->never_wraps)
		return 1 / (double) model->bits;
	return ldexp((double) words_at(model, position), -model->folded_bits);
}

/*
 * A random word that gives a position and agrees with another word in its low
 * `shared` bits; multiplies *weight by the probability of a random word with
 * these bits to give it, 0 if none does.
 */
static uint64_t
random_word_near(Model *model, uint64_t position, uint64_t other, int shared,
				 double *weight)
{
	uint64_t	low = (UINT64_C(1) << shared) - 1;
	int			common = __builtin_ctzll(model->bits);
	uint64_t	words = words_at(model, position);
	uint64_t	number = random_below(model, words);
	bool		negative = model->derivation->fold != BF_FOLD_NONE &&
		next_random(model) >> 63;
	uint64_t	word = 0;

	if (common > shared)
		common = shared;
	*weight *= position_probability(model, position) * (double) (1 << common);

	/* Words m apart go through all residues that they can have. */
	for (int i = 0; i < 1 << shared; i++)
	{
		word = position + model->bits * number;
		if (negative)
			word = other_sign(model, word);
		if (((word ^ other) & low) == 0)
			return word;
		number = number + 1 < words ? number + 1 : 0;
	}
	*weight = 0;
	return word;
}

/* The inverse of an odd number modulo 2^64, by Newton's iteration. */
static uint64_t
inverse_of_odd(uint64_t odd)
{
	uint64_t	x = odd;

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* A random solution of factor * x = product (mod 2^word_bits), if any. */
static uint64_t
divide_word(Model *model, uint64_t product, uint64_t factor)
{
	int			twos = __builtin_ctzll(factor);
	int			width = model->derivation->word_bits - twos;
	uint64_t	x = ((product & model->mask) >> twos) *
		inverse_of_odd(factor >> twos);

	if (twos == 0)
		return x & model->mask;
	x &= (UINT64_C(1) << width) - 1;
	return x | (next_random(model) << width & model->mask);
}

/*
 * Draw words below m, sums of which do not wrap, that give position x at index
 * i and y at index j > i.  Returns the probability of that.
 */
static double
solve_exactly(Model *model, uint32_t i, uint64_t x, uint32_t j, uint64_t y,
			  uint64_t *first, uint64_t *second)
{
	uint64_t	m = model->bits;
	uint64_t	steps = j - i;
	uint64_t	start = random_below(model, steps);
	uint32_t	solutions = 0;

	*second = 0;
	for (uint64_t t = 0; t < steps; t++)
	{
		uint64_t	product = (y + m - x) % m + (start + t) % steps * m;

		if (product % steps == 0 && solutions++ == 0)
			*second = product / steps;
	}
	*first = (x + (m - *second) * i) % m;
	return solutions / (double) m / (double) m;
}

/* Like solve_exactly(), for words that wrap and may be folded. */
static double
solve_wrapping(Model *model, uint32_t i, uint64_t x, uint32_t j, uint64_t y,
		   uint64_t *first, uint64_t *second)
{
	Coefficients a = word_coefficients(model, i);
	Coefficients b = word_coefficients(model, j);
	double		weight = 1;
	uint64_t	word_a = random_word_near(model, x, 0, 0, &weight);

	/* The word at j is known + step * second. */
	uint64_t	known = b.base * (word_a - a.plus) + b.plus;
	uint64_t	step = b.step - b.base * a.step;
	uint64_t	word_b = random_word_near(model, y, known,
										  __builtin_ctzll(step), &weight);

	*second = divide_word(model, word_b - known, step);
	*first = (word_a - a.step * *second - a.plus) & model->mask;
	return weight;
}

/*
 * Draw words that give position x at index i, a sum, and y at index j > i.
 * Returns the probability of that.
 */
static double
solve_pair(Model *model, uint32_t i, uint64_t x, uint32_t j, uint64_t y,
		   uint64_t *first, uint64_t *second)
{
	if (model->derivation->never_wraps)
		return solve_exactly(model, i, x, j, y, first, second);
	return solve_wrapping(model, i, x, j, y, first, second);
}

/* ---- Probes ------------------------------------------------------------ */

/* The slot of a position in a probe, or the one that it would be put into. */
static inline uint32_t
probe_slot(const Probe *probe, uint64_t position)
{
	uint32_t	slot = position % SLOTS;

	while (probe->slots[slot] != 0 &&
		   probe->positions[probe->slots[slot] - 1] != position)
		slot = (slot + 1) % SLOTS;
	return slot;
}

/* Collect distinct positions; returns how many pairs of indexes coincide. */
static uint32_t
make_probe(const Model *model, uint64_t first, uint64_t second, Probe *probe)
{
	uint8_t		times[BF_MAX_COVERED] = {0};
	uint32_t	coincide = 0;

	memset(probe, 0, sizeof(*probe));
	for (uint32_t i = 0; i < model->hashes; i++)
	{
		uint64_t	position = position_at(model, i, first, second);
		uint32_t	slot = probe_slot(probe, position);

		if (probe->slots[slot] == 0)
		{
			probe->positions[probe->count++] = position;
			probe->slots[slot] = probe->count;
		}
		coincide += times[probe->slots[slot] - 1]++;
	}
	return coincide;
}

/*
 * Draw a probe whose indexes i < j, both multiples, coincide: their words
 * differ by a multiple of m, up or down.
 */
static double
draw_coinciding_multiples(Model *model, uint32_t i, uint32_t j, Probe *probe,
						  uint32_t *coincide)
{
	uint64_t	steps = j - i;
	double		weight = 2;
	uint64_t	apart = random_word_near(model, 0, 0, __builtin_ctzll(steps),
										 &weight);
	bool		up = next_random(model) >> 63;
	uint64_t	second = divide_word(model, up ? apart : -apart, steps);
	uint64_t	step_i = word_coefficients(model, i).step;
	uint64_t	step_j = word_coefficients(model, j).step;
	uint64_t	word_i = step_i * second & model->mask;
	uint64_t	word_j = step_j * second & model->mask;

	/* Words that wrapped in between are not so far apart. */
	if (up != (word_j >= word_i))
		weight = 0;
	*coincide = make_probe(model, next_random(model), second, probe);
	return weight;
}

/* Draw a probe with coinciding positions; returns its weight. */
static double
draw_coinciding(Model *model, Probe *probe)
{
	uint32_t	k = model->hashes;
	uint32_t	i,
				j;
	uint32_t	coincide;
	double		weight;

	do
	{
		i = (uint32_t) random_below(model, k);
		j = (uint32_t) random_below(model, k);
	} while (i >= j);
	if (i >= model->sums)
		weight = draw_coinciding_multiples(model, i, j, probe, &coincide);
	else
	{
		uint64_t	first,
					second;
		uint64_t	at = fold_word(model, next_random(model)) % model->bits;

		weight = solve_pair(model, i, at, j, at, &first, &second);
		/* The position was drawn already. */
		weight /= position_probability(model, at);
		coincide = make_probe(model, first, second, probe);
	}
	if (weight == 0 || coincide == 0)
		return 0;
	return weight * k * (k - 1) / 2 / coincide;
}

/* ---- Elements that hit a probe ----------------------------------------- */

/* What an element's positions hit. */
typedef struct Hits
{
	uint64_t	mask;			/* positions of the probe */
	uint32_t	sums;			/* indexes that hit: of sums, */
	uint32_t	multiples;		/* and of multiples */
	uint32_t	pairs;			/* at distinct positions, one a sum */
	uint8_t		times[BF_MAX_COVERED];	/* by position of the probe */
} Hits;

/*
 * The chances of an element: by the mask of the distinguished positions that
 * it hits, which are a probe's last, and by the number of others that it hits.
 */
typedef struct Tally
{
	double	   *chance;
	uint32_t	apart;			/* number of distinguished positions */
	uint32_t	others;			/* positions before them */
	double		share;			/* weight of the current probe */
	uint32_t	draws;			/* of elements for a probe */
	double		single[BF_MAX_COVERED]; /* to hit one position of it alone */
} Tally;

/* Which positions of a probe an element hits, and by what. */
static void
count_hits(const Model *model, const Probe *probe, uint64_t first,
		   uint64_t second, Hits *hits)
{
	uint8_t		sums[BF_MAX_COVERED] = {0};

	memset(hits, 0, sizeof(*hits));
	for (uint32_t i = 0; i < model->hashes; i++)
	{
		uint64_t	position = position_at(model, i, first, second);
		uint32_t	slot = probe_slot(probe, position);
		uint32_t	x = probe->slots[slot] - 1;

		if (probe->slots[slot] == 0)
			continue;
		hits->mask |= UINT64_C(1) << x;
		hits->times[x]++;
		hits->pairs += hits->sums - sums[x];
		if (i < model->sums)
		{
			hits->sums++;
			sums[x]++;
		}
		else
			hits->multiples++;
	}
}

/* Add an element that hits the positions of a mask. */
static void
tally_add(Tally *tally, uint64_t mask, double weight)
{
	uint64_t	apart = tally->apart == 0 ? 0 : mask >> tally->others;
	int			others = __builtin_popcountll(mask) -
		__builtin_popcountll(apart);

	tally->chance[apart * (tally->others + 1) + others] +=
		weight * tally->share;
}

/* Add an element that hits several positions, so that none is hit alone. */
static void
tally_several(Tally *tally, uint64_t mask, double weight)
{
	tally_add(tally, mask, weight);
	for (; mask != 0; mask &= mask - 1)
		tally->single[__builtin_ctzll(mask)] -= weight;
}

/* Draw elements that hit at two indexes, at least one of them a sum. */
static void
draw_pairs(Model *model, const Probe *probe, Tally *tally)
{
	uint32_t	k = model->hashes;
	uint32_t	d = probe->count;
	uint32_t	multiples = k - model->sums;
	double		choices = (double) d * (d - 1) *
		(k * (k - 1) - multiples * (multiples - 1)) / 2;

	if (d < 2)
		return;
	for (uint32_t draw = 0; draw < tally->draws; draw++, bf_pause())
	{
		uint32_t	i,
					j;
		uint32_t	x = (uint32_t) random_below(model, d);
		uint32_t	y = (uint32_t) random_below(model, d - 1);
		uint64_t	first,
					second;
		double		weight;
		Hits		hits;

		do
		{
			i = (uint32_t) random_below(model, model->sums);
			j = (uint32_t) random_below(model, k);
		} while (i >= j);
		y += y >= x;
		weight = solve_pair(model, i, probe->positions[x], j,
							probe->positions[y], &first, &second);
		if (weight == 0)
			continue;
		count_hits(model, probe, first, second, &hits);
		if (hits.pairs > 0)
			tally_several(tally, hits.mask,
						  weight * choices / hits.pairs / tally->draws);
	}
}

/*
 * Draw elements that hit by one of their multiples: more may follow, at the
 * same position (0, for one, which all multiples of 0 are) or at others.
 */
static void
draw_by_multiple(Model *model, const Probe *probe, Tally *tally)
{
	uint32_t	multiples = model->hashes - model->sums;
	uint32_t	draws;

	if (multiples == 0 || probe->count == 0)
		return;
	draws = tally->draws / probe->count;
	for (uint32_t draw = 0; draw < draws * probe->count; draw++)
	{
		uint32_t	x = draw % probe->count;
		uint64_t	step = random_below(model, multiples) + 1;
		double		weight = (double) multiples / draws;
		uint64_t	word = random_word_near(model, probe->positions[x], 0,
											__builtin_ctzll(step), &weight);
		Hits		hits;

		if (weight == 0)
			continue;
		count_hits(model, probe, next_random(model),
				   divide_word(model, word, step), &hits);
		if (hits.times[x] == 0)
			continue;
		tally->single[x] += weight / hits.times[x];
		if (hits.sums == 0 && (hits.mask & (hits.mask - 1)) != 0)
			tally_several(tally, hits.mask, weight / hits.multiples);
	}
}

/* Add the chances of an element to hit the positions of a probe. */
static void
tally_probe(Model *model, const Probe *probe, Tally *tally)
{
	/* The chance of a sum to hit a position. */
	for (uint32_t x = 0; x < probe->count; x++)
		tally->single[x] = model->sums * model->mean_distinct / model->hashes *
			position_probability(model, probe->positions[x]);
	draw_pairs(model, probe, tally);
	draw_by_multiple(model, probe, tally);

	/* How often a position is hit is known; the rest are single hits. */
	for (uint32_t x = 0; x < probe->count; x++)
		tally_add(tally, UINT64_C(1) << x, tally->single[x]);
}

/* Make the first of many chances the remainder to 1, whatever the noise. */
static void
normalize_chances(double *chance, uint32_t count)
{
	double		sum = 0;

	chance[0] = 0;
	for (uint32_t i = 1; i < count; i++)
	{
		if (chance[i] < 0)
			chance[i] = 0;
		sum += chance[i];
	}
	for (uint32_t i = 1; sum > 1 && i < count; i++)
		chance[i] /= sum;
	chance[0] = sum < 1 ? 1 - sum : 0;
}

/* ---- Distinct probes --------------------------------------------------- */

/*
 * Draw distinct probes whose two words have these low bits, and tally the
 * chances of an element; returns the fraction of distinct probes among those
 * drawn.
 */
static double
tally_class(Model *model, int twos, uint64_t low, Tally *tally)
{
	uint32_t	chances = (tally->others + 1) << tally->apart;
	uint32_t	wanted = twos == 0 ? PROBES : CLASS_PROBES;
	uint32_t	draws = 0;
	uint32_t	count = 0;

	memset(tally->chance, 0, chances * sizeof(double));
	for (; draws < 16 * wanted && count < wanted; draws++)
	{
		uint64_t	first = random_word(model) << twos | low >> twos;
		uint64_t	second = random_word(model) << twos |
			(low & ((UINT64_C(1) << twos) - 1));
		Probe		probe;

		if (make_probe(model, first, second, &probe) > 0)
			continue;
		tally_probe(model, &probe, tally);
		count++;
	}
	for (uint32_t i = 0; i < chances && count > 0; i++)
		tally->chance[i] /= count;
	normalize_chances(tally->chance, chances);
	return (double) count / draws;
}

/*
 * The probability that n elements cover all positions, by inclusion and
 * exclusion of the distinguished ones that no element hits.
 */
static double
cover_tally(BfCover *cover, const Tally *tally, uint64_t elements)
{
	uint32_t	width = tally->others + 1;
	uint32_t	masks = 1u << tally->apart;
	double		result = 0;

	/* From chances of a mask to those of all its subsets. */
	for (uint32_t bit = 1; bit < masks; bit <<= 1)
	{
		for (uint32_t i = 0; i < masks * width; i++)
		{
			if (i / width & bit)
				tally->chance[i] += tally->chance[i - bit * width];
		}
	}
	for (uint32_t hit = 0; hit < masks; hit++)
	{
		const double *chance = tally->chance + hit * width;
		double		sum = 0;
		double		term;
		int			missed;

		for (uint32_t i = 0; i < width; i++)
			sum += chance[i];
		if (sum <= 0 || (double) elements * log(sum) < LOG_NOTHING)
			continue;
		term = bf_cover(cover, tally->others, chance, elements);
		missed = tally->apart - __builtin_popcount(hit);
		result += missed % 2 == 0 ? term : -term;
	}
	return result > 0 ? result : 0;
}

/* The probability that a probe without coincidences is found. */
static double
distinct_fpp(Model *model, uint64_t elements)
{
	uint32_t	multiples = model->hashes - model->sums;
	uint32_t	apart = multiples <= BF_MAX_APART ? multiples : 0;
	Tally		tally = {
		.chance = model->work->distinct, .apart = apart,
		.others = model->hashes - apart, .share = 1, .draws = PAIR_DRAWS
	};
	int			twos = apart == 0 ? 0 : __builtin_ctzll(model->bits);
	double		fpp = 0;
	double		weights = 0;

	if (twos > MAX_TWOS)
		twos = MAX_TWOS;
	for (uint64_t low = 0; low < UINT64_C(1) << 2 * twos; low++)
	{
		double		weight = tally_class(model, twos, low, &tally);

		if (weight > 0)
			fpp += weight * cover_tally(&model->work->cover, &tally, elements);
		weights += weight;
	}
	return weights > 0 ? fpp / weights : 0;
}

/* ---- All together ------------------------------------------------------ */

/*
 * Draw coinciding probes: chance[d] is their probability to have d positions.
 * With elements, returns the probability that a probe coincides and is found.
 */
static double
coinciding_fpp(Model *model, uint64_t elements, double *chance)
{
	BfFppWork  *work = model->work;
	double		(*chances)[BF_MAX_COVERED + 1] = work->coinciding;
	double		weights[BF_MAX_COVERED + 1] = {0};
	uint32_t	examined[BF_MAX_COVERED + 1] = {0};
	double		fpp = 0;

	memset(chances, 0, sizeof(work->coinciding));
	for (int draw = 0; draw < SELF_DRAWS; draw++)
	{
		Probe		probe;
		double		weight = draw_coinciding(model, &probe) / SELF_DRAWS;
		uint32_t	d = probe.count;

		bf_pause();
		if (weight == 0)
			continue;
		chance[d] += weight;
		if (elements > 0 && examined[d]++ < SELF_PROBES)
		{
			Tally		tally = {
				.chance = chances[d], .others = d, .share = weight,
				.draws = SELF_PAIR_DRAWS
			};

			tally_probe(model, &probe, &tally);
			weights[d] += weight;
		}
	}
	for (uint32_t d = 1; d < model->hashes; d++)
	{
		if (weights[d] == 0)
			continue;
		for (uint32_t j = 1; j <= d; j++)
			chances[d][j] /= weights[d];
		normalize_chances(chances[d], d + 1);
		fpp += chance[d] * bf_cover(&work->cover, d, chances[d], elements);
	}
	return fpp;
}

/* ---- Independent positions --------------------------------------------- */

/* k throws for the probe, and k * n throws that must cover them. */
static double
independent_fpp(uint64_t bits, uint32_t hashes, uint64_t elements,
				BfCover *cover)
{
	double		m = (double) bits;
	double		distinct[BF_MAX_COVERED + 1] = {1};
	double		chance[BF_MAX_COVERED + 1] = {0};
	double		fpp = 0;

	for (uint32_t i = 0; i < hashes; i++)
	{
		for (uint32_t d = i + 1; d > 0; d--)
			distinct[d] = distinct[d] * d / m +
				distinct[d - 1] * (m - (d - 1)) / m;
		distinct[0] = 0;
	}
	for (uint32_t d = 1; d <= hashes && d <= bits; d++)
	{
		chance[1] = d / m;
		chance[0] = 1 - chance[1];
		fpp += distinct[d] * bf_cover(cover, d, chance, elements * hashes);
	}
	return fpp;
}

/* The fpp of a filter of m bits, k hashes and n distinct elements. */
double
bf_real_fpp(const BfDerivation *derivation, uint64_t bits, uint32_t hashes,
			uint64_t elements, BfFppWork *work)
{
	Model		model = {
		.derivation = derivation, .bits = bits, .hashes = hashes,
		.random = bits, .work = work
	};
	double		chance[BF_MAX_COVERED + 1] = {0};
	double		load = (double) hashes * (double) elements / (double) bits;
	double		coinciding = 0;
	double		fpp = 0;

	if (elements == 0)
		return 0;
	if (bits == 1)
		return 1;
	if (hashes > BF_MAX_COVERED || load > MAX_LOAD)
		return pow(-expm1(-load), hashes);
	if (derivation == NULL)
		return independent_fpp(bits, hashes, elements, &work->cover);

	model.divisor = bf_divisor(bits);
	model.sums = derivation->alternating ? hashes - hashes / 2 : hashes;
	model.mask = UINT64_MAX >> (64 - derivation->word_bits);
	model.folded_bits = derivation->word_bits -
		(derivation->fold != BF_FOLD_NONE);

	/* First how many positions elements have, then what they cover. */
	model.mean_distinct = hashes;
	if (hashes > 1)
	{
		coinciding_fpp(&model, 0, chance);
		for (uint32_t d = 1; d < hashes; d++)
		{
			model.mean_distinct -= (hashes - d) * chance[d];
			chance[d] = 0;
		}
		fpp = coinciding_fpp(&model, elements, chance);
		for (uint32_t d = 1; d < hashes; d++)
			coinciding += chance[d];
	}
	if (coinciding >= 1 || hashes > bits)
		fpp /= coinciding;
	else
		fpp += (1 - coinciding) * distinct_fpp(&model, elements);
	return fpp < 1 ? fpp : 1;
}
