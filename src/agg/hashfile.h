/*
 * hashfile.h
 *	  Hashes in a temporary file, and the estimated number of distinct ones.
 */
#ifndef BLOOMEXT_HASHFILE_H
#define BLOOMEXT_HASHFILE_H

#include "agg/hashlist.h"

typedef struct BfHashFile BfHashFile;

extern BfHashFile *bf_hashfile_make(MemoryContext context,
									BfHashList *list);
extern void bf_hashfile_add(BfHashFile *file, const BfHash *hash);
extern double bf_hashfile_count(BfHashFile *file);
extern void bf_hashfile_replay(BfHashFile *file, BfValue *filter);

#endif							/* BLOOMEXT_HASHFILE_H */
