/*
 * literal.c
 *	  Arrays of elements that come as literals without a type.
 *
 * '{a,b}', or a parameter whose type a driver leaves to the server, is nothing
 * to tell anyarray by.  A form over text[] beside it would be ambiguous; a form
 * over text is not, as whatever has no type becomes text, and nothing that has
 * an array's type does.  It reads its argument as the text[] that is written
 * there; bf_element_type_of_argument() knows that its elements are texts.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "type/literal.h"

/* The most arguments of a function that takes an array of elements. */
#define MAX_ARGUMENTS	3

/* Read text as an array of text; 22P02 where it is none. */
static Datum
read_array(text *literal)
{
	char	   *string = text_to_cstring(literal);
	char	   *start = string;

	while (scanner_isspace(*start))
		start++;
	if (*start != '{' && *start != '[')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("malformed array literal: \"%s\"", string),
				 errdetail("Text in the place of an array must be written as one."),
				 errhint("Write {a,b}, or cast to the type of the elements, e.g. ...::text[].")));
	return OidFunctionCall3(F_ARRAY_IN, CStringGetDatum(string),
							ObjectIdGetDatum(TEXTOID), Int32GetDatum(-1));
}

/*
 * Call a function whose second argument is an array of elements, given one
 * whose second argument is the text of an array.  The arguments themselves may
 * be constants, which the next call finds as they are.
 */
Datum
bf_call_with_array(FunctionCallInfo fcinfo, PGFunction function)
{
	LOCAL_FCINFO(call, MAX_ARGUMENTS);
	Datum		result;

	Assert(PG_NARGS() <= MAX_ARGUMENTS);
	memcpy(call, fcinfo, SizeForFunctionCallInfo(PG_NARGS()));
	if (!PG_ARGISNULL(1))
		call->args[1].value = read_array(PG_GETARG_TEXT_PP(1));
	result = function(call);
	fcinfo->isnull = call->isnull;
	return result;
}
