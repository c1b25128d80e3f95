/*
 * compat.h
 *	  Differences between the supported versions of PostgreSQL.
 *
 * Most definitions are macros.  The server headers that a macro needs are
 * included by the file that uses it, so that other files need not.
 */
#ifndef BLOOMEXT_COMPAT_H
#define BLOOMEXT_COMPAT_H

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* 18 has names and versions of modules. */
#if PG_VERSION_NUM < 180000
#define PG_MODULE_MAGIC_EXT(...)	PG_MODULE_MAGIC
#endif

/* 19 takes options of a scan. */
#if PG_VERSION_NUM >= 190000
#define compat_beginscan(table, snapshot) \
	table_beginscan(table, snapshot, 0, NULL, 0)
#define compat_beginscan_tidrange(table, snapshot, first, last) \
	table_beginscan_tidrange(table, snapshot, first, last, 0)
#else
#define compat_beginscan(table, snapshot) \
	table_beginscan(table, snapshot, 0, NULL)
#define compat_beginscan_tidrange(table, snapshot, first, last) \
	table_beginscan_tidrange(table, snapshot, first, last)
#endif

/* 15 reserves the prefix of a module's settings; 14 only warns. */
#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved	EmitWarningsOnPlaceholders
#endif

/* 17 estimates the length of an array from statistics. */
#if PG_VERSION_NUM >= 170000
#define compat_estimate_array_length(root, array)	estimate_array_length(root, array)
#else
#define compat_estimate_array_length(root, array)	((void) (root), estimate_array_length(array))
#endif

/* 16 added BufFileReadExact(). */
#if PG_VERSION_NUM < 160000
#define BufFileReadExact(file, data, size) \
	do { \
		if (BufFileRead(file, data, size) != (size)) \
			ereport(ERROR, \
					(errcode_for_file_access(), \
					 errmsg("could not read from temporary file: %m"))); \
	} while (0)
#endif

/* 16 lets input functions report errors softly. */
#if PG_VERSION_NUM < 160000
#define errsave(context, ...) \
	do { \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
	} while (0)
#define ereturn(context, result, ...) \
	do { \
		errsave(context, __VA_ARGS__); \
		return result; \
	} while (0)
#endif

/* 18 replaced pg_attribute_noreturn() with a prefix. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn		__attribute__((noreturn))
#endif

/* 16 renamed relfilenodes to relfilenumbers and RelFileLocators. */
#if PG_VERSION_NUM >= 160000
#define compat_locator_of(relation)	((relation)->rd_locator)
#define compat_file_subxact(relation)	((relation)->rd_newRelfilelocatorSubid)
#define compat_spc		spcOid
#define compat_db		dbOid
#define compat_number	relNumber
#else
#define compat_locator_of(relation)	((relation)->rd_node)
#define compat_file_subxact(relation)	((relation)->rd_newRelfilenodeSubid)
#define RelFileLocatorEquals	RelFileNodeEquals
#define RelFileLocatorSkippingWAL	RelFileNodeSkippingWAL
#define RelFileLocator	RelFileNode
#define compat_spc		spcNode
#define compat_db		dbNode
#define compat_number	relNode
#endif

#define compat_locator(tablespace, database, number) \
	((RelFileLocator) { \
		.compat_spc = (tablespace), \
		.compat_db = (database), \
		.compat_number = (number) \
	})

/*
 * Up to 16, rows that a snapshot sees may be pruned: old_snapshot_threshold.
 */
#if PG_VERSION_NUM >= 170000
#define compat_prunes_early(table)	false
#else
#define compat_prunes_early(table)	EarlyPruningEnabled(table)
#endif

/* 17 restricts search_path of code that is run as another user. */
#if PG_VERSION_NUM < 170000
#define RestrictSearchPath()	((void) 0)
#endif

/* From 16 on an index without TIDs does not prevent HOT updates. */
#if PG_VERSION_NUM >= 160000
#define COMPAT_SUMMARIZING	.amsummarizing = true,
#else
#define COMPAT_SUMMARIZING
#endif

/* Until 18 the caller frees what describes an index access method. */
#if PG_VERSION_NUM >= 190000
#define compat_return_routine(routine)	PG_RETURN_POINTER(routine)
#else
#define compat_return_routine(routine) \
	PG_RETURN_POINTER(memcpy(palloc(sizeof(IndexAmRoutine)), routine, sizeof(IndexAmRoutine)))
#endif

/* 19 has a struct of its own for the instrumentation of plan nodes. */
#if PG_VERSION_NUM < 190000
#define NodeInstrumentation	Instrumentation
#endif

/* 19 has a macro, as its compiler flags ignore comments. */
#if PG_VERSION_NUM < 190000
#define pg_fallthrough	__attribute__((fallthrough))
#endif

/*
 * 17 notifies an index of the end of a statement's insertions.  Before, a
 * worker without a statement is known to end its transaction, and to announce
 * that, while it makes the initial copy of a table for a subscription.
 */
#if PG_VERSION_NUM >= 170000
#define COMPAT_WORKER_HEADER	"replication/logicalworker.h"
#define compat_insertion_ends(table)	((void) (table), true)
#define COMPAT_INSERTCLEANUP(function)	.aminsertcleanup = function,
#else
#define COMPAT_WORKER_HEADER	"replication/worker_internal.h"
#define compat_insertion_ends(table) \
	(MyLogicalRepWorker != NULL && am_tablesync_worker() && \
	 MyLogicalRepWorker->relid == RelationGetRelid(table))
#define COMPAT_INSERTCLEANUP(function)
#endif

/* 16 requires pages that are written directly to a file to be aligned. */
#if PG_VERSION_NUM >= 160000
typedef PGIOAlignedBlock CompatBlock;
#else
typedef PGAlignedBlock CompatBlock;
#endif

/* 18 has an argument for ANALYZE. */
#if PG_VERSION_NUM >= 180000
#define compat_vacuum_delay_point()	vacuum_delay_point(false)
#else
#define compat_vacuum_delay_point()	vacuum_delay_point()
#endif

/* 16 has one function for all kinds of objects. */
#if PG_VERSION_NUM >= 160000
#define compat_function_aclcheck(function, role) \
	object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE)
#define compat_server_aclcheck(server, role) \
	object_aclcheck(ForeignServerRelationId, server, role, ACL_USAGE)
#else
#define compat_function_aclcheck(function, role) \
	pg_proc_aclcheck(function, role, ACL_EXECUTE)
#define compat_server_aclcheck(server, role) \
	pg_foreign_server_aclcheck(server, role, ACL_USAGE)
#endif

/* 15 has a flag for custom scans that project; 14 assumes that they do. */
#define compat_asks_for_projection	(PG_VERSION_NUM >= 150000)

/* 18 counts disabled nodes; others add a prohibitive cost. */
#if PG_VERSION_NUM >= 180000
#define compat_disabled_cost(path)	((void) (path), 0)
#else
#define compat_disabled_cost(path) \
	((path)->startup_cost >= disable_cost ? disable_cost : 0)
#endif

/* 18 moved the functions that print properties out of explain.h. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_EXPLAIN_HEADER	"commands/explain_format.h"
#else
#define COMPAT_EXPLAIN_HEADER	"commands/explain.h"
#endif

/*
 * 17 reads the pages that a callback returns as a stream; others read them one
 * by one.  18 has a flag for callbacks that never wait.
 */
#if PG_VERSION_NUM >= 170000
#if PG_VERSION_NUM < 180000
#define READ_STREAM_USE_BATCHING	0
#endif
#define COMPAT_STREAM_HEADER	"storage/read_stream.h"
#define compat_stream_begin(index, ring, callback, state) \
	read_stream_begin_relation(READ_STREAM_SEQUENTIAL | READ_STREAM_FULL | \
							   READ_STREAM_USE_BATCHING, ring, index, \
							   MAIN_FORKNUM, callback, state, 0)
#define compat_stream_next(stream, index, ring, callback, state) \
	read_stream_next_buffer(stream, NULL)
#define compat_stream_end(stream)	read_stream_end(stream)
#else
typedef struct ReadStream ReadStream;
#define COMPAT_STREAM_HEADER	"storage/bufmgr.h"
#define compat_stream_begin(index, ring, callback, state)	NULL
#define compat_stream_next(stream, index, ring, callback, state) \
	ReadBufferExtended(index, MAIN_FORKNUM, callback(stream, state, NULL), \
					   RBM_NORMAL, ring)
#define compat_stream_end(stream)	((void) (stream))
#endif

/*
 * 17 has segments of shared memory by name, whose initialization gets another
 * argument in 19; before, memory of this session takes their place.
 */
#if PG_VERSION_NUM >= 170000
#define COMPAT_SEGMENT_HEADER	"storage/dsm_registry.h"
#else
#define COMPAT_SEGMENT_HEADER	"utils/memutils.h"
#endif
#if PG_VERSION_NUM >= 190000
#define COMPAT_SEGMENT_ARGUMENTS	void *memory, void *argument
#define compat_named_segment(name, size, init) \
	GetNamedDSMSegment(name, size, init, &(bool) {false}, NULL)
#elif PG_VERSION_NUM >= 170000
#define COMPAT_SEGMENT_ARGUMENTS	void *memory
#define compat_named_segment(name, size, init) \
	GetNamedDSMSegment(name, size, init, &(bool) {false})
#else
#define COMPAT_SEGMENT_ARGUMENTS	void *memory
#define compat_named_segment(name, size, init) \
	compat_init(MemoryContextAlloc(TopMemoryContext, size), init)
static inline void *
compat_init(void *memory, void (*init) (void *memory))
{
	init(memory);
	return memory;
}
#endif

/* 17 lets an extension define wait events. */
#if PG_VERSION_NUM < 170000
#define WaitEventExtensionNew(name)	((void) (name), PG_WAIT_EXTENSION)
#endif

/* Maximum length of a bigint as text, including the sign. */
#ifndef MAXINT8LEN
#define MAXINT8LEN	20
#endif

#endif							/* BLOOMEXT_COMPAT_H */
