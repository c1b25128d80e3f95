/*
 * attempt.h
 *	  Do what may fail, and go on if it does.
 */
#ifndef BLOOMEXT_ATTEMPT_H
#define BLOOMEXT_ATTEMPT_H

extern ErrorData *bf_attempt(void (*what) (void *state), void *state);
extern bool bf_attempt_was_disturbed(const ErrorData *error);

#endif							/* BLOOMEXT_ATTEMPT_H */
