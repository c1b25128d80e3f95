/*
 * subtransaction.c
 *	  Call functions that may fail, and continue if they do.
 *
 * The functions are called in a subtransaction, whose abort releases locks,
 * pins and open relations.  So this cannot be used in parallel mode.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "type/subtransaction.h"

/*
 * Call a function in a subtransaction, which is committed if the function
 * succeeds and `is_kept`; returns the error that it raised, in the caller's
 * memory context, or NULL.
 */
static ErrorData *
call_in_subtransaction(void (*what) (void *state), void *state, bool is_kept)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		what(state);
		if (is_kept)
			ReleaseCurrentSubTransaction();
		else
			RollbackAndReleaseCurrentSubTransaction();
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

/* Call a function whose effects are kept; the caller raises errors again. */
ErrorData *
bf_attempt(void (*what) (void *state), void *state)
{
	return call_in_subtransaction(what, state, true);
}

/* A function that reads something, and its argument. */
typedef struct Look
{
	void		(*what) (void *state);
	void	   *state;
} Look;

/* Call the function such that waiting for any lock is an error. */
static void
look_without_waiting(void *argument)
{
	const Look *look = argument;
	int			level = NewGUCNestLevel();

	(void) set_config_option("lock_timeout", "1", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	look->what(look->state);
	AtEOXact_GUC(false, level);
}

/*
 * Call a function that only reads: waiting for a lock is an error (55P03), and
 * its locks are released.
 */
ErrorData *
bf_look(void (*what) (void *state), void *state)
{
	Look		look = {what, state};

	return call_in_subtransaction(look_without_waiting, &look, false);
}

/* Whether an error concerns the query as a whole, such as its cancellation. */
static bool
is_of_query(const ErrorData *error)
{
	int			category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return category == ERRCODE_OPERATOR_INTERVENTION ||
		category == ERRCODE_TRANSACTION_ROLLBACK;
}

/* The reason why bf_look() failed; errors of the query are raised again. */
const char *
bf_look_reason(ErrorData *error)
{
	if (is_of_query(error))
		ReThrowError(error);
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		return "is locked by another session, or depends on something that is";
	return error->message;
}
