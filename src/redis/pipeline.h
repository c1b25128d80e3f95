/*
 * pipeline.h
 *	  Units of commands: a single one, or many in a pipeline.
 */
#ifndef BLOOMEXT_PIPELINE_H
#define BLOOMEXT_PIPELINE_H

#include "nodes/pg_list.h"

#include "redis/connection.h"
#include "redis/resp.h"

/* What is done with a unit's reply: the last of them, EXEC's of a transaction. */
typedef void (*BfReplyHandler) (BfConnection *connection,
								const BfReply *reply, const BfUnit *unit,
								void *arg);

typedef struct BfPipeline
{
	Oid			server;
	const char *key;			/* all units are about keys of its slot */
	BfReplyHandler handler;
	void	   *arg;
	BfConnection *connection;
	bool		stays;			/* what it writes is of no use but together */
	bool		executed;		/* was a unit? */
	uint64		made;			/* BfSocket.made of where it was */
	int			window;			/* units under way at most */
	int			units;
	StringInfoData unsent;		/* bytes of units that are gathered */
	List	   *sent;			/* units that are not answered yet */
	size_t		kept;			/* bytes of these */
	List	   *redirected;		/* units to be sent elsewhere */
	char	   *error;			/* the first one, to be raised at the end */
} BfPipeline;

extern void bf_pipeline_start(BfPipeline *pipeline, Oid server,
							  const char *key, BfReplyHandler handler,
							  void *arg);
extern BfUnit *bf_pipeline_unit(BfPipeline *pipeline);
extern void bf_pipeline_send(BfPipeline *pipeline, BfUnit *unit);
extern const char *bf_pipeline_end(BfPipeline *pipeline);
extern void bf_pipeline_finish(BfPipeline *pipeline);

/* reply_limit 0: BF_REPLY_LIMIT */
extern const BfReply *bf_ask(Oid server, const char *key, BfUnit *unit,
								size_t reply_limit, BfConnection **connection);
extern int64 bf_ask_number(Oid server, const char *key, BfUnit *unit);

extern BfReply **bf_reply_results(BfConnection *connection,
									 const BfReply *reply,
									 const BfUnit *unit);

#endif							/* BLOOMEXT_PIPELINE_H */
