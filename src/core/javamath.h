/*
 * javamath.h
 *	  The conversions that Java code means by a cast or Math.round.
 *
 * Sizes must come out as the originals compute them.  So doubles are
 * evaluated in the original's order, without fused multiply-add and without
 * extended precision; the build passes the compiler options for that.
 */
#ifndef BLOOMEXT_JAVAMATH_H
#define BLOOMEXT_JAVAMATH_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#if FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2
#error "sizes would not be Java's: doubles are evaluated in extended precision"
#endif

/* Math.log(2), as Java and C compute it. */
#define BF_LN2		0x1.62e42fefa39efp-1

/* (long) x: toward zero, saturating; NaN gives 0. */
static inline int64_t
bf_java_long(double x)
{
	if (x != x)
		return 0;
	if (x >= 0x1p63)
		return INT64_MAX;
	if (x <= -0x1p63)
		return INT64_MIN;
	return (int64_t) x;
}

/* (int) of a double: toward zero, saturating; NaN gives 0. */
static inline int32_t
bf_java_int(double x)
{
	if (x != x)
		return 0;
	if (x >= INT32_MAX)
		return INT32_MAX;
	if (x <= INT32_MIN)
		return INT32_MIN;
	return (int32_t) x;
}

/* Math.round(double): ties go up. */
static inline int64_t
bf_java_round(double x)
{
	double		down = floor(x);

	return bf_java_long(x - down >= 0.5 ? down + 1 : down);
}

#endif							/* BLOOMEXT_JAVAMATH_H */
