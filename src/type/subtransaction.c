/*
 * subtransaction.c
 *	  Do what may fail, and go on if it does.
 *
 * It is done in a subtransaction, which takes what was locked, pinned or opened
 * in it along if it fails.  So this cannot be called in parallel mode.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "type/subtransaction.h"

/*
 * Call a function in a subtransaction, which is kept if it succeeds and is to be
 * kept; returns the error that it raised, in the caller's memory, or NULL.
 */
static ErrorData *
attempt(void (*what) (void *state), void *state, bool is_kept)
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

/* Do something; not all errors are to be passed over, but that is the caller's choice. */
ErrorData *
bf_attempt(void (*what) (void *state), void *state)
{
	return attempt(what, state, true);
}

/* A function that looks at something, and its argument. */
typedef struct Look
{
	void		(*what) (void *state);
	void	   *state;
} Look;

/* Call it so that whatever lock it comes to, the wait for that is an error. */
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
 * Look at something without changing it: nobody is waited for (55P03), and no lock
 * is kept.
 */
ErrorData *
bf_look(void (*what) (void *state), void *state)
{
	Look		look = {what, state};

	return attempt(look_without_waiting, &look, false);
}

/* Whether an error tells nothing of what was looked at: the query is cancelled. */
static bool
is_of_query(const ErrorData *error)
{
	int			category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return category == ERRCODE_OPERATOR_INTERVENTION ||
		category == ERRCODE_TRANSACTION_ROLLBACK;
}

/* What a look met with, in words; raised again where it is of the query. */
const char *
bf_look_reason(ErrorData *error)
{
	if (is_of_query(error))
		ReThrowError(error);
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		return "is locked by another session, or depends on something that is";
	return error->message;
}
