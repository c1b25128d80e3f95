/*
 * pipeline.h
 *	  Send units, alone or many in a pipeline.  A unit is what Redis executes
 *	  together: one command, or a transaction (resp.h).
 */
#ifndef BLOOMEXT_PIPELINE_H
#define BLOOMEXT_PIPELINE_H

#include "nodes/pg_list.h"

#include "redis/connection.h"
#include "redis/resp.h"

/* Processes the reply to a unit: the last one, EXEC's of a transaction. */
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
	bool		stays;			/* its units are useless one by one */
	bool		executed;		/* has any unit been? */
	uint64		made;			/* BfSocket.made of its connection */
	int			window;			/* units under way at most */
	int			units;
	StringInfoData unsent;		/* bytes of units that have been gathered */
	List	   *sent;			/* units whose replies are outstanding */
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
