/*
 * resp.h
 *	  Encode commands to Redis (RESP).
 */
#ifndef BLOOMEXT_RESP_H
#define BLOOMEXT_RESP_H

#include "lib/stringinfo.h"

/*
 * Yields bytes of an argument that is too large to be copied into memory: as
 * many as it likes (*length) from an offset on, valid until the next call.
 */
typedef const void *(*BfPayload) (void *arg, uint64 offset, size_t *length);

/*
 * What is executed together: one command, or a transaction from MULTI to EXEC.
 * It has the numbers of its commands' arguments, and of their replies.
 */
typedef struct BfUnit
{
	StringInfoData bytes;		/* its commands, without the payload */
	int			replies;		/* one for each command */
	int			number;			/* its number in a pipeline */
	bool		divides;		/* the caller can query one key at a time
								 * instead */
	bool		writes;			/* replicas must get it; every transaction
								 * does */

	/* The script of its only command, to be sent by its digest. */
	const char *script;			/* NULL: none */
	int			script_length;	/* of the encoded verb and script */
	bool		whole;			/* send it in full */
	bool		plain;			/* do not use a read-only verb */

	/* The command that is being written. */
	int			start;			/* its offset */
	int			arguments;		/* number of its arguments, including the
								 * verb */
	int			keys_start;		/* offset of the keys of a script; 0: none */
	int			keys_first;		/* number of arguments before them */

	/* The payload, which is not in memory. */
	BfPayload	payload;		/* NULL: none */
	void	   *payload_arg;
	uint64		payload_from;	/* the first of its bytes that is sent */
	uint64		payload_length; /* number of bytes that are sent */
	int			payload_start;	/* its offset in bytes */
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
