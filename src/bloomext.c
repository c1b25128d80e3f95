/*
 * bloomext.c
 *	  The module: its magic, what there is to do when it is loaded, and which
 *	  version it is.
 *
 * A server can have two versions at once: after an upgrade of the package a new
 * session loads the new module, while one that was there before runs the old one;
 * and each database keeps the SQL objects that it has until ALTER EXTENSION.  All
 * of these work together, but for what is new, so all are told.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "agg/overfull.h"
#include "compat.h"
#include "core/format.h"
#include "core/pause.h"
#include "gate/gate.h"
#include "index/index.h"
#include "type/arguments.h"

/*
 * Of the module; without its last number, of the SQL objects that it is for.
 * META.json and bloomext.control say the same, or script/lint complains.
 */
#define BLOOMEXT_VERSION	"1.0.0"

PG_MODULE_MAGIC_EXT(.name = "bloomext",.version = BLOOMEXT_VERSION);

extern PGDLLEXPORT void _PG_init(void);

PG_FUNCTION_INFO_V1(bloomext_version);

/* bf_pause of a server: end the query, if somebody wants that. */
static void
check_for_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* Called when a backend loads the module. */
void
_PG_init(void)
{
	bf_pause = check_for_interrupts;
	bf_options_init();
	bf_epoch_init();
	bf_deferred_init();
	bf_gate_init();
	bf_overfull_init();
	MarkGUCPrefixReserved("bloomext");
}

/* The version of the SQL objects in this database; NULL where there are none. */
static char *
extension_version(void)
{
	Relation	catalog = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *version = NULL;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum("bloomext"));
	scan = systable_beginscan(catalog, ExtensionNameIndexId, true, NULL, 1,
							  &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, Anum_pg_extension_extversion,
										 RelationGetDescr(catalog), &isnull);

		version = TextDatumGetCString(value);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return version;
}

/* What tells SQL objects from older ones: the two numbers of their version. */
static int
rank(const char *version)
{
	int			major = 0;
	int			minor = 0;

	sscanf(version, "%4d.%4d", &major, &minor);
	return major * 10000 + minor;
}

/* What to do where module and SQL objects are of two versions, or NULL. */
static const char *
action(const char *extension)
{
	if (extension == NULL || rank(extension) == rank(BLOOMEXT_VERSION))
		return NULL;
	if (rank(extension) < rank(BLOOMEXT_VERSION))
		return "ALTER EXTENSION bloomext UPDATE";
	return psprintf("Reconnect, or install bloomext %s: the library of this session is older.",
					extension);
}

/* bf_version(): what is installed, and what is to be done about it */
Datum
bloomext_version(PG_FUNCTION_ARGS)
{
	const char *extension = extension_version();
	const char *due = action(extension);
	Datum		values[6];
	bool		nulls[6] = {false};

	values[0] = CStringGetTextDatum(BLOOMEXT_VERSION);
	nulls[1] = extension == NULL;
	values[1] = extension ? CStringGetTextDatum(extension) : (Datum) 0;
	values[2] = CStringGetTextDatum(PG_VERSION);
	values[3] = Int32GetDatum(BF_FORMAT_VERSION);
	values[4] = Int32GetDatum(BF_LIVE_FORMAT);
	nulls[5] = due == NULL;
	values[5] = due ? CStringGetTextDatum(due) : (Datum) 0;
	return bf_row(fcinfo, values, nulls, lengthof(values));
}
