/*
 * vectors.h
 *	  Reading golden vectors, and counting what agrees with them.
 */
#ifndef BLOOMEXT_VECTORS_H
#define BLOOMEXT_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategy/filter.h"

#define MAX_COLUMNS		20

/* The sanitized build leaves out what takes long and has no new bytes in it. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED	true
#else
#define SANITIZED	false
#endif

/* A tab separated file; its cells are strings. */
typedef struct Table
{
	const char *path;
	char	   *text;
	char	  **cells;
	size_t		rows;
	size_t		columns;
	char	   *names[MAX_COLUMNS];
} Table;

extern const char *vectors_dir;
extern uint64_t passed;
extern uint64_t failed;

__attribute__((format(printf, 4, 5)))
extern void check_at(const char *file, int line, bool ok,
					 const char *format,...);
__attribute__((noreturn, format(printf, 1, 2)))
extern void die(const char *format,...);

#define CHECK(ok, ...) check_at(__FILE__, __LINE__, (ok), __VA_ARGS__)

extern void *allocate(size_t size);
extern uint8_t *copy_bytes(const uint8_t *bytes, size_t length);
extern bool same_double(double got, double want);

extern Table read_table(const char *path);
extern bool was_read(const char *path);
extern void free_table(Table *table);
extern bool has_column(const Table *table, const char *name);
extern const char *cell(const Table *table, size_t row, const char *name);
extern uint64_t cell_u64(const Table *table, size_t row, const char *name);
extern int64_t cell_i64(const Table *table, size_t row, const char *name);
extern double cell_double(const Table *table, size_t row, const char *name);
extern bool cell_is(const Table *table, size_t row, const char *name,
					const char *text);
extern const char *etype_of(const Table *table, size_t row);

extern uint8_t *from_hex(const char *hex, size_t *length);
extern bool same_hex(const uint8_t *bytes, size_t length, const char *hex);
extern uint8_t *element_bytes(const BfStrategy *strategy, const char *etype,
							  const char *value, size_t *length);
extern uint8_t *rule_bytes(const BfStrategy *strategy, const char *etype,
						   const char *rule, uint64_t i, size_t *length);
extern void sha256(const uint8_t *bytes, size_t length, uint8_t digest[32]);

extern void open_value(const uint8_t *value, uint64_t length,
					   BfFilter *filter);
extern uint8_t *make_value(const BfStrategy *strategy, uint64_t bits,
						   uint32_t hashes, BfFilter *filter);
extern uint8_t *foreign_bits(const BfFilter *filter, BfBitOrder order,
							 bool trimmed, size_t *length);
extern uint64_t count_bits(const BfFilter *filter);
extern uint8_t *stream_bytes(const BfFilter *filter, size_t *length);
extern uint8_t *import_stream(const BfStream *stream, const uint8_t *bytes,
							  size_t length, BfFilter *filter);

/* spark.c, for all: its files have several strategies, and seeds */
extern const BfStrategy *row_strategy(const BfStrategy *strategy,
									  const Table *table, size_t row);
extern uint32_t row_seed(const Table *table, size_t row);
extern void hash_seeded(const BfStrategy *strategy, uint32_t seed,
						const uint8_t *bytes, size_t length, BfHash *hash);
extern uint8_t *seeded_stream(const BfFilter *filter, uint32_t seed,
							  size_t *length);

/* sizing.c and filters.c, for each other and for guava.c */
extern void check_size(const BfStrategy *strategy, const Table *table,
					   size_t row, bool refused, uint64_t bits,
					   uint64_t hashes, const char *p_column);
extern uint64_t run_rule(BfFilter *filter, uint32_t seed, const char *etype,
						 const char *rule, uint64_t count, bool add);
extern void check_estimates(const Table *table, size_t row,
							const char *fpp_column, const char *count_column,
							const BfFilter *filter);

extern void test_sizing(void);
extern void test_hashing(void);
extern void test_pauses(void);
extern void test_filters(void);
extern void test_guava(void);
extern void test_spark(void);
extern void test_bitsandblooms(void);
extern void test_parquet(void);
extern void test_chains(void);
extern void test_layers(void);
extern void test_format(void);
extern void test_partial(void);
extern void test_bits(void);
extern void test_registry(void);
extern void test_real_fpp(void);
extern void test_sketch(void);

#endif							/* BLOOMEXT_VECTORS_H */
