/*
 * transport.c
 *	  Load bloomext_hiredis.so when it is first needed.
 *
 * If the library or hiredis is missing, or is not the version that was built,
 * functions over Redis fail, and the rest works.  PostgreSQL's message about
 * it becomes the detail of one error, which has a hint what to do.  The next
 * call tries again.
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "redis/transport.h"

/* Raise that the library is not available, with a reason. */
pg_noreturn static void
raise_unavailable(const char *reason, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("Redis support is not available on this server"),
			 errdetail("%s", reason),
			 errhint("%s", hint)));
}

/*
 * Whether an error is about the library itself: one of the system's, a missing
 * symbol, or an invalid library; not a cancel, a shutdown, or lack of memory
 * or of file descriptors.
 */
static bool
is_about_library(int sqlstate)
{
	int			category = ERRCODE_TO_CATEGORY(sqlstate);

	return category == ERRCODE_SYSTEM_ERROR ||
		category == ERRCODE_INTERNAL_ERROR ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_UNDEFINED_FUNCTION);
}

/*
 * Find the library's function.  An error is caught without a subtransaction,
 * as no resource but memory has been acquired since.
 */
static BfTransportFunction
find_transport(void)
{
	MemoryContext context = CurrentMemoryContext;
	BfTransportFunction volatile function = NULL;

	PG_TRY();
	{
		function = (BfTransportFunction)
			load_external_function(BF_TRANSPORT_LIBRARY, BF_TRANSPORT_SYMBOL,
								   true, NULL);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		if (!is_about_library(geterrcode()))
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		raise_unavailable(error->message,
						  "Install bloomext_hiredis, which \"make WITH_HIREDIS=yes\" builds where pkg-config finds hiredis, and the hiredis library that it was built with.");
	}
	PG_END_TRY();
	return function;
}

/* The functions of bloomext_hiredis.so. */
const BfTransport *
bf_transport(void)
{
	static const BfTransport *transport = NULL;
	static const BfTransportFormat ours = BF_TRANSPORT_FORMAT;
	const BfTransport *found;

	if (transport != NULL)
		return transport;
	found = find_transport() ();
	if (memcmp(&found->format, &ours, sizeof(ours)) != 0)
		raise_unavailable("bloomext and bloomext_hiredis are from different releases.",
						  "Install both from the same release, and reconnect.");
	return transport = found;
}
