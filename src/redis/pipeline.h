/*
 * pipeline.h
 *	  Commands about keys of one slot, sent one after another without waiting.
 */
#ifndef BLOOMEXT_PIPELINE_H
#define BLOOMEXT_PIPELINE_H

#include "nodes/pg_list.h"

#include "redis/cluster.h"
#include "redis/command.h"

/* Writes a unit that is too large to be put into memory first. */
typedef void (*BfUnitWriter) (BfConnection *connection, void *arg);

/*
 * One command, or a transaction from MULTI to EXEC, whose last reply is the
 * one that counts.
 */
typedef struct BfUnit
{
	StringInfoData bytes;		/* unless there is a writer */
	BfUnitWriter writer;
	int			replies;
	int			number;			/* in order of bf_pipeline_add() */
} BfUnit;

/* What is done with a unit's reply. */
typedef void (*BfReplyHandler) (BfConnection *connection,
								const redisReply *reply, int unit, void *arg);

typedef struct BfPipeline
{
	Oid			server;
	const char *key;			/* all units are about keys of its slot */
	BfReplyHandler handler;
	void	   *arg;
	BfConnection *connection;
	size_t		reply_limit;	/* bytes of a reply */
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
extern StringInfo bf_pipeline_unit(BfPipeline *pipeline, int replies);
extern void bf_pipeline_send(BfPipeline *pipeline, StringInfo unit);
extern void bf_pipeline_write(BfPipeline *pipeline, int replies,
							  BfUnitWriter writer);
extern void bf_pipeline_finish(BfPipeline *pipeline);

#endif							/* BLOOMEXT_PIPELINE_H */
