/*
 * resp.h
 *	  Encode commands to Redis (RESP).
 */
#ifndef BLOOMEXT_RESP_H
#define BLOOMEXT_RESP_H

#include "lib/stringinfo.h"

/*
 * Yields bytes of an argument that is too large to be put into memory first:
 * those from an offset on, as many as it likes, which it says.  They need not
 * stay where they are longer than until the next call.
 */
typedef const void *(*BfPayload) (void *arg, uint64 offset, size_t *length);

/*
 * What is executed together: one command, or a transaction from MULTI to EXEC.
 * It counts the arguments of its commands and the replies that are due.
 */
typedef struct BfUnit
{
	StringInfoData bytes;		/* its commands, but for the payload */
	int			replies;		/* one a command */
	int			number;			/* which of its pipeline's units it is */
	bool		divides;		/* who asks can do so a key at a time */
	bool		writes;			/* what replicas are to have: a transaction does */

	/* The script of its only command, which can be named by its digest instead. */
	const char *script;			/* NULL: there is none */
	int			script_length;	/* of the verb and the script as they are written */
	bool		whole;			/* it is to be sent */
	bool		plain;			/* no verb says that it only reads */

	/* The command that is being written. */
	int			start;			/* where it starts */
	int			arguments;		/* how many it has, its verb included */
	int			keys_start;		/* where the keys of a script start; 0: none */
	int			keys_first;		/* and the arguments before them */

	/* The payload, which is sent when its turn has come. */
	BfPayload	payload;		/* NULL: there is none */
	void	   *payload_arg;
	uint64		payload_from;	/* of its bytes the first that is sent, */
	uint64		payload_length; /* and how many are */
	int			payload_start;	/* where in bytes it belongs */
} BfUnit;

extern BfUnit *bf_unit_make(void);
extern void bf_unit_end(BfUnit *unit);
extern void bf_unit_free(BfUnit *unit);

extern void bf_command_begin(BfUnit *unit, const char *verb);
extern void bf_command_bytes(BfUnit *unit, const void *bytes, size_t length);
extern void bf_command_text(BfUnit *unit, const char *text);
extern void bf_command_key(BfUnit *unit, char *key);
extern void bf_command_digest(BfUnit *unit, const void *bytes, size_t length);
extern void bf_command_number(BfUnit *unit, uint64 number);
extern void bf_command_bits(BfUnit *unit, bool set, const uint64 *bits,
							int count);
extern void bf_command_payload(BfUnit *unit, uint64 from, uint64 length,
							   BfPayload payload, void *arg);

extern void bf_script_begin(BfUnit *unit, const char *script);
extern void bf_script_arguments(BfUnit *unit);
extern bool bf_unit_says_it_reads(const BfUnit *unit);
extern int	bf_unit_append_script(StringInfo bytes, const BfUnit *unit);

extern void bf_transaction_begin(BfUnit *unit);
extern void bf_transaction_end(BfUnit *unit);

#endif							/* BLOOMEXT_RESP_H */
