/*
 * subtransaction.h
 *	  Call functions that may fail, and continue if they do.
 */
#ifndef BLOOMEXT_ATTEMPT_H
#define BLOOMEXT_ATTEMPT_H

extern ErrorData *bf_attempt(void (*what) (void *state), void *state);
extern ErrorData *bf_look(void (*what) (void *state), void *state);
extern const char *bf_look_reason(ErrorData *error);

#endif							/* BLOOMEXT_ATTEMPT_H */
