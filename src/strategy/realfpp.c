/*
 * realfpp.c
 *	  The false positive probability that an index derivation really has.
 *
 * The textbook's (1 - e^(-kn/m))^k takes the k positions of an element for
 * independent.  They derive from two words, so an element has only some m^2
 * different sets of positions, and what is rare for independent positions is
 * not: a probe whose positions coincide (its step is 0 or of small order
 * modulo m: probability some 1/m), or one that runs along the positions of
 * some element (steps that are small multiples of each other: some n/m^2).
 * Small or strict filters get most of their false positives so.
 *
 * The probability is that of a covering: d distinct positions of a probe, and
 * n elements, independent of each other, each of which hits J of the d.  Given
 * the distribution of J, the number covered is a Markov chain, whose n-th power
 * is exact except that it takes the J positions for a random subset of the d.
 * That is right when at most one element shares a structure with the probe.
 *
 * Both distributions, of d and of J, come from importance sampling: draw the
 * two indexes of a probe that coincide, and solve for the words (or draw two
 * indexes of an element and the two positions of the probe that they hit);
 * count what else coincides; and weigh by the reciprocal of the number of
 * draws that would give the same words.  This is unbiased for every m, and it
 * needs no list of cases: common factors of m and the steps, the words' wrap
 * at 2^63, folded signs and quadratic terms come out of the words themselves.
 * The random numbers are a fixed sequence, so the result is a function of its
 * arguments; it is accurate to some percent (10 % where p is below 1e-5 and n
 * below 5) and takes 10 to 200 ms, up to 1 s for 63 hashes.  So it makes a pause
 * after every draw, in which the caller may give up: nothing is held.
 *
 * Redisson's alternating sum is, with g = h1 + h2, the words h1 + q * g at even
 * indexes and (q + 1) * g at odd ones: multiples of one word, which coincide
 * with those of another element with probability 1/m, not 1/m^2.  As n/m is the
 * same at any size, so is that excess.  Draws of two odd indexes cannot be
 * solved for, and are made by solving for one.  Several elements may share
 * structure with a probe, so its odd positions are told apart: inclusion and
 * exclusion over the sets of them that no element hits, with a chain for the
 * even ones.  And even multiples are even modulo an even m, so probes are
 * classed by their words' low bits (an even m is worse by a third at p = 1e-3).
 *
 * Beyond 64 hashes (p below some 1e-19) and MAX_LOAD it is the textbook's.
 */
#include <math.h>
#include <string.h>

#include "strategy/realfpp.h"

/* A filter with more positions than this per bit is full. */
#define MAX_LOAD		50

/* Draws: probes that coincide, probes that do not, elements for a probe. */
#define SELF_DRAWS		4096
#define PROBES			256
#define PROBES_A_CLASS	32
#define PAIR_DRAWS		256

/* Alternating sums: odd indexes that are told apart, and probes for that. */
#define MAX_ODD			10
#define MAX_TWOS		2
#define PROBES_OF_CLASSES	512
#define MAX_CLASS_PROBES	128

typedef struct Model
{
	const BfDerivation *derivation;
	uint64_t	bits;
	uint32_t	hashes;
	uint64_t	mask;			/* of the words */
	int			folded_bits;	/* words are this wide without their sign */
	uint64_t	random;
	double		mean_distinct;	/* positions of an element */
	BfPause		pause;
} Model;

/* A probe's distinct positions. */
typedef struct Probe
{
	uint64_t	positions[BF_MAX_COVERED];
	uint32_t	count;
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

/* Uniform below a limit; the bias of a 128-bit product is none to speak of. */
static uint64_t
random_below(Model *model, uint64_t limit)
{
	return (uint64_t) (((unsigned __int128) next_random(model) * limit) >> 64);
}

/* ---- Words and positions ----------------------------------------------- */

/*
 * Word number i is base * first + step * second + plus, where `first` is h1
 * and `second` is h2, or g for alternating sums.
 */
typedef struct Coefficients
{
	uint64_t	base;
	uint64_t	step;
	uint64_t	plus;
} Coefficients;

static inline Coefficients
coefficients(const BfDerivation *derivation, uint32_t i)
{
	if (derivation->alternating)
		return (Coefficients) {i % 2 == 0, (i + 1) / 2, 0};
	return (Coefficients) {1, i, derivation->squares ? (uint64_t) i * i : 0};
}

static inline uint64_t
fold_word(const Model *model, uint64_t word)
{
	bool		negative;

	word &= model->mask;
	if (model->derivation->fold == BF_FOLD_NONE)
		return word;
	negative = word >> (model->derivation->word_bits - 1) & 1;
	if (!negative)
		return word;
	return (model->derivation->fold == BF_FOLD_COMPLEMENT ?
			~word : -word) & model->mask;
}

static void
all_positions(const Model *model, uint64_t first, uint64_t second,
			  uint64_t *positions)
{
	for (uint32_t i = 0; i < model->hashes; i++)
	{
		Coefficients c = coefficients(model->derivation, i);

		positions[i] = fold_word(model, c.base * first + c.step * second +
								 c.plus) % model->bits;
	}
}

/* Folded words that give a position: it and all that lie m apart. */
static inline uint64_t
words_at(const Model *model, uint64_t position)
{
	uint64_t	last = model->folded_bits == 64 ? UINT64_MAX :
		(UINT64_C(1) << model->folded_bits) - 1;

	return (last - position) / model->bits + 1;
}

static inline double
position_probability(const Model *model, uint64_t position)
{
	return ldexp((double) words_at(model, position), -model->folded_bits);
}

/* The word that folds to a word, of either sign. */
static inline uint64_t
unfold_word(const Model *model, uint64_t folded, bool negative)
{
	if (negative)
		folded = model->derivation->fold == BF_FOLD_COMPLEMENT ?
			~folded : -folded;
	return folded & model->mask;
}

/*
 * A random word that gives a position and agrees with another word in its low
 * `shared` bits; multiplies *weight by the probability of a random such word
 * to give it, 0 where none does.
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
		word = unfold_word(model, position + model->bits * number, negative);
		if (((word ^ other) & low) == 0)
			return word;
		number = number + 1 < words ? number + 1 : 0;
	}
	*weight = 0;
	return word;
}

/* A random word that gives a position. */
static uint64_t
random_word_at(Model *model, uint64_t position)
{
	double		weight = 1;

	return random_word_near(model, position, 0, 0, &weight);
}

/* The inverse of an odd number modulo 2^64, by Newton's iteration. */
static uint64_t
inverse(uint64_t odd)
{
	uint64_t	x = odd;

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* A random solution of factor * x = product (mod 2^word_bits), if there is. */
static uint64_t
divide_word(Model *model, uint64_t product, uint64_t factor)
{
	int			twos = __builtin_ctzll(factor);
	int			width = model->derivation->word_bits - twos;
	uint64_t	x = ((product & model->mask) >> twos) * inverse(factor >> twos);

	if (twos == 0)
		return x & model->mask;
	x &= (UINT64_C(1) << width) - 1;
	return x | (next_random(model) << width & model->mask);
}

/*
 * Draw words that give position x at index i and y at index j > i; at least one
 * of both has base 1.  Returns the probability of that.
 */
static double
solve_pair(Model *model, uint32_t i, uint64_t x, uint32_t j, uint64_t y,
		   uint64_t *first, uint64_t *second)
{
	Coefficients a = coefficients(model->derivation, i);
	Coefficients b = coefficients(model->derivation, j);
	double		weight = 1;
	uint64_t	word_a,
				word_b;

	if (a.base == 1 && b.base == 1)
	{
		uint64_t	plus = b.plus - a.plus;

		weight = position_probability(model, x);
		word_a = random_word_at(model, x);
		word_b = random_word_near(model, y, word_a + plus,
								  __builtin_ctzll(b.step - a.step), &weight);
		*second = divide_word(model, word_b - word_a - plus,
							  b.step - a.step);
		*first = (word_a - a.step * *second - a.plus) & model->mask;
		return weight;
	}
	if (a.base == 1)
		return solve_pair(model, j, y, i, x, first, second);

	/* A multiple of g, and then any word. */
	word_a = random_word_near(model, x, 0, __builtin_ctzll(a.step), &weight);
	*second = divide_word(model, word_a, a.step);
	word_b = random_word_at(model, y);
	*first = (word_b - b.step * *second) & model->mask;
	return weight * position_probability(model, y);
}

/* ---- Probes ------------------------------------------------------------ */

/* Gather distinct positions; returns how many pairs of indexes coincide. */
static uint32_t
make_probe(const Model *model, uint64_t first, uint64_t second, Probe *probe)
{
	uint64_t	positions[BF_MAX_COVERED];
	uint32_t	coincide = 0;

	all_positions(model, first, second, positions);
	probe->count = 0;
	for (uint32_t i = 0; i < model->hashes; i++)
	{
		uint32_t	same = 0;

		for (uint32_t j = 0; j < i; j++)
			same += positions[j] == positions[i];
		if (same == 0)
			probe->positions[probe->count++] = positions[i];
		coincide += same;
	}
	return coincide;
}

/*
 * Draw a probe whose indexes i < j, both multiples of g, coincide: their words
 * differ by a multiple of m, up or down.
 */
static double
draw_multiples(Model *model, uint32_t i, uint32_t j, Probe *probe,
			   uint32_t *coincide)
{
	uint64_t	si = coefficients(model->derivation, i).step;
	uint64_t	sj = coefficients(model->derivation, j).step;
	double		weight = 2;
	uint64_t	apart = random_word_near(model, 0, 0, __builtin_ctzll(sj - si),
										 &weight);
	bool		up = next_random(model) >> 63;
	uint64_t	second = divide_word(model, up ? apart : -apart, sj - si);
	uint64_t	word_i = si * second & model->mask;
	uint64_t	word_j = sj * second & model->mask;

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
	uint32_t	i = (uint32_t) random_below(model, k);
	uint32_t	j = (uint32_t) random_below(model, k - 1);
	uint32_t	coincide;
	double		weight;

	if (j >= i)
		j++;
	if (i > j)
	{
		uint32_t	swap = i;

		i = j;
		j = swap;
	}
	if (coefficients(model->derivation, i).base == 0 &&
		coefficients(model->derivation, j).base == 0)
		weight = draw_multiples(model, i, j, probe, &coincide);
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
	uint32_t	distinct;		/* how many */
	uint32_t	even;			/* indexes of base 1 that hit */
	uint32_t	odd;			/* of base 0 */
	uint32_t	pairs;			/* i < j at distinct positions, one even */
	uint8_t		times[BF_MAX_COVERED];	/* by position of the probe */
} Hits;

/*
 * The chances of an element: by the number of positions that it hits, and in
 * `table`, if there is one, by the mask of odd positions and the number of
 * even ones.  `single` is what is left for hits of one position alone.
 */
typedef double Table[1 << MAX_ODD][MAX_ODD + 2];

typedef struct Tally
{
	double		chance[BF_MAX_COVERED + 1];
	double		single[BF_MAX_COVERED];
	Table	   *table;
	double		share;			/* of the present probe in chance and table */
} Tally;

static void
count_hits(const Model *model, const Probe *probe, uint64_t first,
		   uint64_t second, Hits *hits)
{
	uint64_t	positions[BF_MAX_COVERED];
	uint32_t	even[BF_MAX_COVERED] = {0};
	uint32_t	odd[BF_MAX_COVERED] = {0};

	memset(hits, 0, sizeof(*hits));
	all_positions(model, first, second, positions);
	for (uint32_t i = 0; i < model->hashes; i++)
	{
		for (uint32_t x = 0; x < probe->count; x++)
		{
			if (positions[i] != probe->positions[x])
				continue;
			if (coefficients(model->derivation, i).base == 1)
				even[x]++;
			else
				odd[x]++;
			break;
		}
	}
	for (uint32_t x = 0; x < probe->count; x++)
	{
		if (even[x] + odd[x] == 0)
			continue;
		hits->times[x] = (uint8_t) (even[x] + odd[x]);
		hits->mask |= UINT64_C(1) << x;
		hits->distinct++;
		/* With all hits of other positions so far. */
		hits->pairs += even[x] * (hits->even + hits->odd) + odd[x] * hits->even;
		hits->even += even[x];
		hits->odd += odd[x];
	}
}

/* Add to a table: positions at odd indexes by mask, the others by number. */
static void
table_add(Table *table, uint64_t mask, double weight)
{
	uint32_t	odd = 0;
	uint32_t	even = 0;

	for (uint32_t x = 0; x < BF_MAX_COVERED && mask >> x > 0; x++)
	{
		if (!(mask >> x & 1))
			continue;
		if (x % 2 == 1)
			odd |= 1u << x / 2;
		else
			even++;
	}
	(*table)[odd][even] += weight;
}

/* Count in an element that hits two positions or more. */
static void
tally_add(Tally *tally, const Hits *hits, double weight)
{
	tally->chance[hits->distinct] += weight * tally->share;
	for (uint32_t x = 0; x < BF_MAX_COVERED && hits->mask >> x > 0; x++)
	{
		if (hits->mask >> x & 1)
			tally->single[x] -= weight;
	}
	if (tally->table != NULL)
		table_add(tally->table, hits->mask, weight * tally->share);
}

/* Two indexes, one of them at least of base 1, at two positions. */
static void
draw_pairs(Model *model, const Probe *probe, Tally *tally)
{
	uint32_t	k = model->hashes;
	uint32_t	d = probe->count;
	uint32_t	odds = model->derivation->alternating ? k / 2 : 0;
	double		choices = (double) d * (d - 1) *
		(k * (k - 1) / 2 - odds * (odds - (odds > 0)) / 2);

	if (d < 2 || k < 2)
		return;
	for (int draw = 0; draw < PAIR_DRAWS; draw++, model->pause())
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
			i = (uint32_t) random_below(model, k);
			j = (uint32_t) random_below(model, k);
		} while (i >= j || (coefficients(model->derivation, i).base == 0 &&
							coefficients(model->derivation, j).base == 0));
		y += y >= x;
		weight = solve_pair(model, i, probe->positions[x], j,
							probe->positions[y], &first, &second);
		if (weight == 0)
			continue;
		count_hits(model, probe, first, second, &hits);
		if (hits.pairs > 0)
			tally_add(tally, &hits, weight * choices / hits.pairs / PAIR_DRAWS);
	}
}

/*
 * One odd index of an alternating sum at a position: more may follow, at the
 * same position (0, for one, which all multiples of 0 are) or at others.
 */
static void
draw_odd(Model *model, const Probe *probe, Tally *tally)
{
	uint32_t	odds = model->hashes / 2;
	uint32_t	draws = PAIR_DRAWS / probe->count;

	if (!model->derivation->alternating || odds == 0)
		return;
	for (uint32_t draw = 0; draw < draws * probe->count; draw++)
	{
		uint32_t	i = 2 * (uint32_t) random_below(model, odds) + 1;
		uint64_t	step = coefficients(model->derivation, i).step;
		uint32_t	x = draw % probe->count;
		double		weight = (double) odds / draws;
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
		if (hits.even == 0 && hits.distinct >= 2)
			tally_add(tally, &hits, weight / hits.odd);
	}
}

/* Start with the chance of an index of base 1 to hit a position. */
static void
tally_even(const Model *model, const Probe *probe, Tally *tally)
{
	uint32_t	evens = model->derivation->alternating ?
		model->hashes - model->hashes / 2 : model->hashes;

	for (uint32_t x = 0; x < probe->count; x++)
		tally->single[x] = evens * model->mean_distinct / model->hashes *
			position_probability(model, probe->positions[x]);
}

/*
 * Add the chances of an element to hit the positions of a probe, which has a
 * share in the tally.
 */
static void
tally_probe(Model *model, const Probe *probe, Tally *tally)
{
	tally_even(model, probe, tally);
	draw_pairs(model, probe, tally);
	draw_odd(model, probe, tally);

	/* How often a position is hit is known; the rest are single hits. */
	for (uint32_t x = 0; x < probe->count; x++)
	{
		tally->chance[1] += tally->single[x] * tally->share;
		if (tally->table != NULL)
			table_add(tally->table, UINT64_C(1) << x,
					  tally->single[x] * tally->share);
	}
}

/* Make chances add up to 1, whatever the noise of sampling. */
static void
normalize(double *chance, uint32_t last)
{
	double		sum = 0;

	if (chance[1] < 0)
		chance[1] = 0;
	for (uint32_t j = 1; j <= last; j++)
		sum += chance[j];
	chance[0] = sum < 1 ? 1 - sum : 0;
	for (uint32_t j = 1; sum > 1 && j <= last; j++)
		chance[j] /= sum;
}

/* ---- Distinct probes --------------------------------------------------- */

/* Probes without coincidences, and how many of them are found. */
static double
distinct_fpp(Model *model, uint64_t elements)
{
	Tally		tally = {.share = 1.0 / PROBES};
	uint32_t	probes = 0;

	for (uint32_t draw = 0; draw < 16 * PROBES && probes < PROBES; draw++)
	{
		Probe		probe;

		if (make_probe(model, next_random(model), next_random(model),
					   &probe) > 0)
			continue;
		tally_probe(model, &probe, &tally);
		probes++;
	}
	if (probes == 0)
		return 0;
	for (uint32_t j = 1; j <= model->hashes; j++)
		tally.chance[j] *= (double) PROBES / probes;
	normalize(tally.chance, model->hashes);
	return bf_cover(model->hashes, tally.chance, elements,
					model->pause);
}

/* ---- Alternating sums -------------------------------------------------- */

/*
 * The chances of an element, averaged over probes whose two words have the low
 * bits given; returns how many of the probes drawn are distinct.
 */
static double
fill_table(Model *model, int twos, uint64_t low, uint32_t wanted, Table *table)
{
	Probe		probes[MAX_CLASS_PROBES];
	uint32_t	count = 0;
	uint32_t	draws = 0;
	double		sum = 0;
	Tally		tally = {.table = table};

	memset(table, 0, sizeof(Table));
	while (draws < 4 * wanted && count < wanted)
	{
		uint64_t	first = next_random(model) << twos | low >> twos;
		uint64_t	second = next_random(model) << twos |
			(low & ((UINT64_C(1) << twos) - 1));

		draws++;
		count += make_probe(model, first, second, &probes[count]) == 0;
	}
	for (uint32_t i = 0; i < count; i++)
	{
		tally.share = 1.0 / count;
		tally_probe(model, &probes[i], &tally);
	}
	for (uint32_t odd = 0; odd < 1 << MAX_ODD; odd++)
	{
		for (uint32_t even = 0; even < MAX_ODD + 2; even++)
		{
			if ((*table)[odd][even] < 0)
				(*table)[odd][even] = 0;
			sum += (*table)[odd][even];
		}
	}
	(*table)[0][0] += sum < 1 ? 1 - sum : 0;
	return (double) count / draws;
}

/*
 * The probability that n elements cover all odd positions, told apart, and all
 * even ones: by inclusion and exclusion of the odd ones that none hits.
 */
static double
cover_table(const Model *model, Table *table, uint64_t elements)
{
	uint32_t	odds = model->hashes / 2;
	uint32_t	evens = model->hashes - odds;
	uint32_t	all = (1u << odds) - 1;
	double		result = 0;

	/* From chances of a mask to those of all its subsets. */
	for (uint32_t bit = 1; bit <= all; bit <<= 1)
	{
		for (uint32_t mask = 0; mask <= all; mask++)
		{
			for (uint32_t even = 0; (mask & bit) && even <= evens; even++)
				(*table)[mask][even] += (*table)[mask ^ bit][even];
		}
	}
	for (uint32_t missed = 0; missed <= all; missed++)
	{
		const double *chance = (*table)[all ^ missed];
		double		sum = 0;
		double		term;

		for (uint32_t even = 0; even <= evens; even++)
			sum += chance[even];
		if (sum <= 0 || (double) elements * log(sum) < -40)
			continue;
		term = bf_cover(evens, chance, elements, model->pause);
		result += __builtin_popcount(missed) % 2 == 0 ? term : -term;
	}
	return result > 0 ? result : 0;
}

/*
 * distinct_fpp() for alternating sums, by classes of probes that share their
 * words' low bits as far as m keeps them.
 */
static double
alternating_fpp(Model *model, uint64_t elements)
{
	int			twos = __builtin_ctzll(model->bits);
	uint64_t	classes;
	uint32_t	wanted;
	double		fpp = 0;
	double		weights = 0;
	Table		table;

	if (twos > MAX_TWOS)
		twos = MAX_TWOS;
	classes = UINT64_C(1) << 2 * twos;
	wanted = (uint32_t) (PROBES_OF_CLASSES / classes);
	if (wanted > MAX_CLASS_PROBES)
		wanted = MAX_CLASS_PROBES;
	for (uint64_t low = 0; low < classes; low++)
	{
		double		weight = fill_table(model, twos, low, wanted, &table);

		if (weight > 0)
			fpp += weight * cover_table(model, &table, elements);
		weights += weight;
	}
	return weights > 0 ? fpp / weights : 0;
}

/* ---- All together ------------------------------------------------------ */

/*
 * Draw coinciding probes: chance[d] is their probability to have d positions.
 * With elements, returns the probability of a probe to coincide and be found.
 */
static double
coinciding_fpp(Model *model, uint64_t elements, double *chance)
{
	Tally		tallies[BF_MAX_COVERED + 1];
	double		weights[BF_MAX_COVERED + 1] = {0};
	uint32_t	examined[BF_MAX_COVERED + 1] = {0};
	double		fpp = 0;

	memset(tallies, 0, sizeof(tallies));
	for (int draw = 0; draw < SELF_DRAWS; draw++)
	{
		Probe		probe;
		double		weight = draw_coinciding(model, &probe) / SELF_DRAWS;

		model->pause();
		if (weight == 0)
			continue;
		chance[probe.count] += weight;
		if (elements > 0 && examined[probe.count]++ < PROBES_A_CLASS)
		{
			tallies[probe.count].share = weight;
			tally_probe(model, &probe, &tallies[probe.count]);
			weights[probe.count] += weight;
		}
	}
	for (uint32_t d = 1; d < model->hashes; d++)
	{
		if (weights[d] == 0)
			continue;
		for (uint32_t j = 1; j <= d; j++)
			tallies[d].chance[j] /= weights[d];
		normalize(tallies[d].chance, d);
		fpp += chance[d] * bf_cover(d, tallies[d].chance, elements,
									 model->pause);
	}
	return fpp;
}

/* ---- Independent positions --------------------------------------------- */

/* k throws for the probe, and k * n throws that must cover them. */
static double
independent_fpp(uint64_t bits, uint32_t hashes, uint64_t elements,
				BfPause pause)
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
		fpp += distinct[d] * bf_cover(d, chance, elements * hashes, pause);
	}
	return fpp;
}

/*
 * The probability that a filter of m bits, k hashes and n distinct elements
 * finds an element that is not among them.
 */
double
bf_real_fpp(const BfDerivation *derivation, uint64_t bits, uint32_t hashes,
			uint64_t elements, BfPause pause)
{
	Model		model = {
		.derivation = derivation, .bits = bits, .hashes = hashes,
		.random = bits, .pause = pause
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
		return independent_fpp(bits, hashes, elements, pause);

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
		fpp += (1 - coinciding) *
			(derivation->alternating && hashes <= 2 * MAX_ODD ?
			 alternating_fpp(&model, elements) :
			 distinct_fpp(&model, elements));
	return fpp < 1 ? fpp : 1;
}
