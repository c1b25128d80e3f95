/*
 * bloomext.c
 *	  The module: magic, initialization, version.
 *
 * A server can run two versions at once.  After an upgrade of the package new
 * sessions load the new module, while existing ones keep the old one, and each
 * database keeps its SQL objects until ALTER EXTENSION.  All of these work
 * together, except for new features, so bf_version() reports each of them.
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

#include "compat.h"
#include "core/format.h"
#include "core/pause.h"
#include "gate/gate.h"
#include "index/index.h"
#include "type/arguments.h"
#include "type/overfull.h"

/*
 * Version of the module; without the last number, of the SQL objects that it
 * is for.  script/lint checks that META.json and bloomext.control agree.
 */
#define BLOOMEXT_VERSION	"1.0.0"

PG_MODULE_MAGIC_EXT(.name = "bloomext",.version = BLOOMEXT_VERSION);

extern PGDLLEXPORT void _PG_init(void);

PG_FUNCTION_INFO_V1(bloomext_version);

/* bf_pause in a server. */
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

/* The version of the SQL objects in this database; NULL if there are none. */
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

/* The first two numbers of a version as one that can be compared. */
static int
version_rank(const char *version)
{
	int			major = 0;
	int			minor = 0;

	sscanf(version, "%4d.%4d", &major, &minor);
	return major * 10000 + minor;
}

/* What to do if the versions of module and SQL objects differ, or NULL. */
static const char *
version_action(const char *extension)
{
	if (extension == NULL ||
		version_rank(extension) == version_rank(BLOOMEXT_VERSION))
		return NULL;
	if (version_rank(extension) < version_rank(BLOOMEXT_VERSION))
		return "ALTER EXTENSION bloomext UPDATE";
	return psprintf("Reconnect, or install bloomext %s: the library of this session is older.",
					extension);
}

/* bf_version(): installed versions, and the action they require */
Datum
bloomext_version(PG_FUNCTION_ARGS)
{
	const char *extension = extension_version();
	const char *due = version_action(extension);
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
