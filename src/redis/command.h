/*
 * command.h
 *	  Commands to Redis, argument by argument, and their replies, checked.
 */
#ifndef BLOOMEXT_COMMAND_H
#define BLOOMEXT_COMMAND_H

#include "lib/stringinfo.h"

#include "redis/connection.h"

extern void bf_command_start(StringInfo command, int arguments);
extern void bf_command_bytes(StringInfo command, const void *bytes,
							 size_t length);
extern void bf_command_announce(StringInfo command, size_t length);
extern void bf_command_text(StringInfo command, const char *text);
extern void bf_command_key(StringInfo command, char *key);
extern void bf_command_number(StringInfo command, uint64 number);
extern void bf_command_bits(StringInfo command, bool set, const uint64 *bits,
							int count);

extern long long bf_reply_integer(BfConnection *connection,
								  const redisReply *reply);
extern bool bf_reply_is_ok(const redisReply *reply);
extern const redisReply *bf_reply_string(BfConnection *connection,
										 const redisReply *reply);
extern redisReply **bf_reply_array(BfConnection *connection,
								   const redisReply *reply, size_t elements);

#endif							/* BLOOMEXT_COMMAND_H */
