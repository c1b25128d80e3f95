/*
 * count.c
 *	  Count the work that the module does between two checks for interrupts.
 *
 * The module is compiled with -fsanitize-coverage=trace-pc, which calls the
 * function below at every basic block of the module's own code: a count of work
 * that is the same on every machine.  It says each time that an interrupt is
 * pending, which the next check, the module's or the server's, takes back.  So
 * where none is pending any more, there was a check.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

PG_FUNCTION_INFO_V1(bloomext_work);

extern void __sanitizer_cov_trace_pc(void);

static int64 stretch;
static int64 longest;

static void
end_stretch(void)
{
	longest = Max(longest, stretch);
	stretch = 0;
}

void
__sanitizer_cov_trace_pc(void)
{
	if (!InterruptPending)
		end_stretch();
	stretch++;
	InterruptPending = true;
}

/* The longest stretch since the last call, which has just ended as well. */
Datum
bloomext_work(PG_FUNCTION_ARGS)
{
	int64		result;

	end_stretch();
	result = longest;
	longest = 0;
	PG_RETURN_INT64(result);
}
