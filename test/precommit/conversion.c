/*
 * conversion.c
 *	  For tests: a conversion between encodings that loses what is not ASCII.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(lossy_conversion);
Datum
lossy_conversion(PG_FUNCTION_ARGS)
{
	const unsigned char *source = (unsigned char *) PG_GETARG_CSTRING(2);
	char	   *target = (char *) PG_GETARG_POINTER(3);
	int			length = PG_GETARG_INT32(4);

	for (int i = 0; i < length; i++)
		target[i] = source[i] < 0x80 ? source[i] : '?';
	target[length] = '\0';
	PG_RETURN_INT32(length);
}
