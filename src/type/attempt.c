/*
 * attempt.c
 *	  Do what may fail, and go on if it does.
 *
 * It is done in a subtransaction, which takes what was locked, pinned or opened
 * in it along if it fails.  So this cannot be called in parallel mode.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "type/attempt.h"

/*
 * Call a function; returns the error that it raised, in the caller's memory, or
 * NULL.  Not all errors are to be passed over, but that is the caller's choice.
 */
ErrorData *
bf_attempt(void (*what) (void *state), void *state)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		what(state);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/* Whether an error tells nothing of what was done: a cancelled query, no memory. */
bool
bf_attempt_was_disturbed(const ErrorData *error)
{
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_TRANSACTION_ROLLBACK:
			return true;
		default:
			return false;
	}
}
