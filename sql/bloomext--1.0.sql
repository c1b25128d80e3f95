/* bloomext--1.0.sql: the objects of CREATE EXTENSION bloomext */

\echo Use "CREATE EXTENSION bloomext" to load this file. \quit

/*
 * Functions take elements as anycompatible, and raise 0A000 for types that
 * cannot be elements; a literal without a type is a text. There is no additional
 * form over text: types with an implicit cast to text, such as citext, would be
 * cast, and not be found again. Functions for internal use are named
 * bloomfilter_...
 *
 * COST is in units of cpu_operator_cost, about 10 ns here: a lookup in a large
 * filter takes some 100 to 300 ns.  For a constant filter,
 * bloomfilter_lookup_support estimates more precisely.
 */

-- The type

CREATE TYPE bloomfilter;

CREATE FUNCTION bloomfilter_in(cstring) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_in(cstring) IS 'I/O';

CREATE FUNCTION bloomfilter_out(bloomfilter) RETURNS cstring
	AS 'MODULE_PATHNAME', 'bloomext_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_out(bloomfilter) IS 'I/O';

CREATE FUNCTION bloomfilter_recv(internal) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_recv(internal) IS 'I/O';

CREATE FUNCTION bloomfilter_send(bloomfilter) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomext_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_send(bloomfilter) IS 'I/O';

-- STORAGE external: never compressed, so that a lookup in a stored filter can
-- read the bytes it needs and no others.
CREATE TYPE bloomfilter (
	INPUT = bloomfilter_in,
	OUTPUT = bloomfilter_out,
	RECEIVE = bloomfilter_recv,
	SEND = bloomfilter_send,
	INTERNALLENGTH = VARIABLE,
	STORAGE = external
);
COMMENT ON TYPE bloomfilter IS
	'set of elements that answers "surely not" or "probably" to the question whether an element is in it';

-- Making filters: STABLE, or plans would have them as constants, see src/type/ops.c.

CREATE FUNCTION bf_create(
	expected bigint,
	fpp float8 DEFAULT 0.03,
	strategy text DEFAULT 'guava',
	funnel text DEFAULT NULL,
	expansion int DEFAULT 0,
	counting boolean DEFAULT false
) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_create'
	LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_create(bigint, float8, text, text, int, boolean) IS
	'empty filter for that many elements (>= 0) at that false positive probability (between 0 and 1); strategy: guava, guava32, redisson, magnuss, tale2009, cassandra, redisbloom, spark1, spark2, bitsandblooms, parquet; funnel (utf8, utf16, bytes, int, long): NULL lets the first element decide; expansion: 0 does not grow, 1 adds equal layers, 2 to 32768 adds layers that each expect that many times as many; counting (guava, guava32, spark1, spark2): elements can be removed again, at four times the size';

CREATE FUNCTION bf_create_buckets(
	expected bigint,
	buckets int
) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_create_buckets'
	LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_create_buckets(bigint, int) IS
	'empty filter of strategy cassandra for that many elements with at most that many buckets (bits, 1 to 15; more are taken as 15) an element';

CREATE FUNCTION bf_create_bits(
	bits bigint,
	hashes int,
	strategy text DEFAULT 'guava',
	funnel text DEFAULT NULL
) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_create_bits'
	LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_create_bits(bigint, int, text, text) IS
	'empty filter of that many bits (rounded up to a multiple of 64 for guava, guava32, cassandra, redisbloom, spark1 and spark2) and hash functions (1 to 255)';

-- Elements

CREATE FUNCTION bloomfilter_lookup_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_lookup_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_lookup_support(internal) IS
	'planner support of lookups';

CREATE FUNCTION bloomfilter_contains_sel(internal, oid, internal, int) RETURNS float8
	AS 'MODULE_PATHNAME', 'bloomext_contains_sel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_contains_sel(internal, oid, internal, int) IS
	'restriction selectivity of the operators @> and <@';

CREATE FUNCTION bloomfilter_contains_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
	AS 'MODULE_PATHNAME', 'bloomext_contains_joinsel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_contains_joinsel(internal, oid, internal, smallint, internal) IS
	'join selectivity of the operators @> and <@';

-- What makes a filter of a filter and something else is strict in the filter
-- alone: NULL changes nothing, where a NULL answer would lose a stored filter.
-- So NULL | f is NULL, but f | NULL is f: the operators have no commutators.
CREATE FUNCTION bf_add(bloomfilter, anycompatible) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_add(bloomfilter, anycompatible) IS
	'the filter with the element added; NULL adds nothing';

CREATE FUNCTION bf_contains(bloomfilter, anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_contains'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
	SUPPORT bloomfilter_lookup_support;
COMMENT ON FUNCTION bf_contains(bloomfilter, anycompatible) IS
	'false: the element was surely not added; true: it probably was';

CREATE FUNCTION bloomfilter_contained(anycompatible, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_contained'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20
	SUPPORT bloomfilter_lookup_support;
COMMENT ON FUNCTION bloomfilter_contained(anycompatible, bloomfilter) IS
	'implementation of the <@ operator';

CREATE FUNCTION bf_remove(bloomfilter, anycompatible) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_remove'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_remove(bloomfilter, anycompatible) IS
	'the counting filter with the element taken out once, none for NULL; removing what was never added but looks present takes counts from other elements, the one way to lose one';

CREATE FUNCTION bf_positions(bloomfilter, anycompatible) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'bloomext_positions'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_positions(bloomfilter, anycompatible) IS
	'positions of the element in the first layer, in order of derivation';

CREATE FUNCTION bf_add_all(bloomfilter, anycompatiblearray) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_add_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_add_all(bloomfilter, anycompatiblearray) IS
	'the filter with all elements of the array added; NULL elements are skipped, a NULL array adds nothing';

CREATE FUNCTION bf_contains_all(bloomfilter, anycompatiblearray) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_contains_all'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SUPPORT bloomfilter_lookup_support;
COMMENT ON FUNCTION bf_contains_all(bloomfilter, anycompatiblearray) IS
	'whether all elements of the array were probably added; NULL elements are skipped';

CREATE FUNCTION bf_contains_each(bloomfilter, anycompatiblearray) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bloomext_contains_each'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_contains_each(bloomfilter, anycompatiblearray) IS
	'an answer of bf_contains for each element of the array, NULL for NULL';

CREATE FUNCTION bf_add_each(
	bloomfilter,
	anycompatiblearray,
	OUT filter bloomfilter, OUT added boolean[]
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomext_add_each'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_add_each(bloomfilter, anycompatiblearray) IS
	'the filter with all elements of the array added, and for each whether it was surely new, NULL for NULL: an element that the array has twice is new once';

CREATE FUNCTION bf_new(bloomfilter, anycompatiblearray) RETURNS SETOF anycompatible
	AS 'MODULE_PATHNAME', 'bloomext_new'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
COMMENT ON FUNCTION bf_new(bloomfilter, anycompatiblearray) IS
	'the elements of the array that are surely not in the filter: each once, in the order of the array, no NULL';

-- Which of several filters an element is in

CREATE FUNCTION bf_shard(anycompatible, shards int) RETURNS int
	AS 'MODULE_PATHNAME', 'bloomext_shard'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_shard(anycompatible, int) IS
	'number of the shard, from 0 on, that the element is in, in SQL and in Redis (guava;shards=8): CRC-32 of its bytes (text as UTF-8, integers as those of the bigint) modulo shards, 1 to 1024';

-- Elements of several columns

CREATE FUNCTION bf_element(VARIADIC "any") RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomext_element'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_element(VARIADIC "any") IS
	'the element that 2 to 32 values make, as in a live filter of as many columns, for filters of bytea: of each value its kind, its length and its bytes. NULL if one is NULL. A literal needs a type';

-- Whole filters

CREATE FUNCTION bf_union(bloomfilter, bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_union'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union(bloomfilter, bloomfilter) IS
	'filter of the elements of both filters, which must be compatible; the first as it is where the second is NULL';

CREATE FUNCTION bf_intersection(bloomfilter, bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_intersection'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_intersection(bloomfilter, bloomfilter) IS
	'filter that holds at least the elements in both filters, which must be compatible; the first as it is where the second is NULL';

CREATE FUNCTION bf_compatible(bloomfilter, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_compatible'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bf_compatible(bloomfilter, bloomfilter) IS
	'whether bf_union of the two works: same strategy, funnel, layers, bits and hashes, and both counting or neither; of parquet, bits that divide the other''s';

CREATE FUNCTION bf_covers(bloomfilter, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_covers'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_covers(bloomfilter, bloomfilter) IS
	'whether all elements of the second filter are in the first one, as far as bits tell: false where one is surely not; both must be compatible, but one may have grown further';

CREATE FUNCTION bf_only_grows() RETURNS trigger
	AS 'MODULE_PATHNAME', 'bloomext_only_grows'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_only_grows() IS
	'trigger function, FOR EACH ROW, BEFORE or AFTER UPDATE: refuses what takes elements out of a filter, or puts NULL in its place; INSERT and DELETE are free, and so are filters of another size or kind; arguments: none for all columns of filters, or a column, and then ''rebuild'' where any filter may take the place of another';

CREATE FUNCTION bf_plain(bloomfilter) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_plain'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_plain(bloomfilter) IS
	'the counting filter as the plain filter of what it holds';

CREATE FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) IS
	'implementation of the = operator';

CREATE FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) IS
	'implementation of the <> operator';

CREATE FUNCTION bloomfilter_hash(bloomfilter) RETURNS int
	AS 'MODULE_PATHNAME', 'bloomext_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_hash(bloomfilter) IS
	'hash';

CREATE FUNCTION bloomfilter_hash_extended(bloomfilter, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomext_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_hash_extended(bloomfilter, bigint) IS
	'hash';

-- What is in a filter

CREATE FUNCTION bf_count(bloomfilter) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomext_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_count(bloomfilter) IS
	'estimated number of distinct elements, from the bits set';

CREATE FUNCTION bf_fpp(bloomfilter) RETURNS float8
	AS 'MODULE_PATHNAME', 'bloomext_fpp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_fpp(bloomfilter) IS
	'expected false positive probability, from the bits set';

CREATE FUNCTION bf_info(
	bloomfilter,
	OUT strategy text, OUT funnel text, OUT expected bigint, OUT fpp float8,
	OUT hashes int, OUT bits bigint, OUT bits_set bigint, OUT fill float8,
	OUT layers int, OUT expansion int, OUT counting boolean,
	OUT estimated_count bigint, OUT estimated_fpp float8, OUT bytes bigint,
	OUT elements text
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomext_info'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_info(bloomfilter) IS
	'what the filter is and how full; expected and fpp are NULL where they are not known, funnel until an element decides; elements: text, char(n), bytea, uuid, integer, inet, macaddr, oid, date, timestamp, timestamptz, boolean or "char", NULL where that is not known, or not decided yet';

CREATE FUNCTION bf_layers(
	bloomfilter,
	OUT layer int, OUT bits bigint, OUT hashes int, OUT bits_set bigint,
	OUT expected bigint, OUT fpp float8
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bloomext_layers'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 4;
COMMENT ON FUNCTION bf_layers(bloomfilter) IS
	'the layers of the filter, oldest first';

CREATE FUNCTION bf_advise(
	expected bigint,
	fpp float8 DEFAULT 0.03,
	strategy text DEFAULT 'guava',
	OUT bits bigint, OUT hashes int, OUT bytes bigint, OUT real_fpp float8,
	OUT fits_value boolean, OUT fits_redis boolean, OUT advice text,
	OUT fits_dump boolean
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomext_advise'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bf_advise(bigint, float8, text) IS
	'the filter that the parameters give, its real false positive probability at that many elements, whether it fits, and what to pass instead';

CREATE FUNCTION bf_measure_fpp(
	bloomfilter,
	probes int DEFAULT 100000,
	seed bigint DEFAULT 0
) RETURNS float8
	AS 'MODULE_PATHNAME', 'bloomext_measure_fpp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION bf_measure_fpp(bloomfilter, int, bigint) IS
	'false positive probability measured on random elements that were not added';

-- It reads columns in subtransactions, which there are none of in parallel mode.
CREATE FUNCTION bf_stored_filters(
	OUT relation regclass,
	OUT col name,
	OUT filters bigint,
	OUT missing bigint,
	OUT over_full bigint,
	OUT fill float8,
	OUT estimated_fpp float8,
	OUT bytes bigint,
	OUT due text,
	OUT reason text,
	OUT action text[]
)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bloomext_stored_filters'
	LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 10;
COMMENT ON FUNCTION bf_stored_filters() IS
	'a row for each column of filters that the caller may read: how many there are, in how many rows it is NULL, the highest fill and false positive probability, and what is due: rebuild, nothing, or NULL where it could not be read. It reads them all, waits for no lock and fails for no column';

-- Exchange with other systems

CREATE FUNCTION bf_export(bloomfilter, format text DEFAULT NULL) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomext_export'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_export(bloomfilter, text) IS
	'the filter in the format guava (writeTo stream), redisbloom (dump), spark, bitsandblooms or parquet (their streams), redis or bitset (bit strings); NULL: the own format of its strategy';

CREATE FUNCTION bf_export_layer(bloomfilter, layer int, format text DEFAULT NULL) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomext_export_layer'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_export_layer(bloomfilter, int, text) IS
	'one layer of the filter, counted from 0, in a format as bf_export has it';

CREATE FUNCTION bf_import(
	data bytea,
	format text DEFAULT 'guava',
	funnel text DEFAULT 'utf8'
) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_import'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_import(bytea, text, text) IS
	'filter of a stream that describes itself: guava, redisbloom, spark, bitsandblooms or parquet';

CREATE FUNCTION bf_import(
	data bytea,
	format text,
	expected bigint,
	fpp float8,
	strategy text,
	funnel text DEFAULT 'utf8'
) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_import_sized'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_import(bytea, text, bigint, float8, text, text) IS
	'filter of a bit string (format redis or bitset) that was sized for these parameters';

CREATE FUNCTION bf_import_bits(
	data bytea,
	format text,
	bits bigint,
	hashes int,
	strategy text DEFAULT 'guava',
	funnel text DEFAULT 'utf8'
) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_import_bits'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_import_bits(bytea, text, bigint, int, text, text) IS
	'filter of a bit string (format redis or bitset) of that many bits and hash functions';

CREATE FUNCTION bloomfilter_to_bytea(bloomfilter) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomext_to_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_to_bytea(bloomfilter) IS
	'implementation of the cast to bytea: bf_export(f, ''guava'')';

CREATE FUNCTION bloomfilter_from_bytea(bytea) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_from_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_from_bytea(bytea) IS
	'implementation of the cast from bytea: bf_import(b, ''guava'', ''utf8'')';

CREATE CAST (bloomfilter AS bytea) WITH FUNCTION bloomfilter_to_bytea(bloomfilter);
COMMENT ON CAST (bloomfilter AS bytea) IS
	'Guava''s writeTo stream';

CREATE CAST (bytea AS bloomfilter) WITH FUNCTION bloomfilter_from_bytea(bytea);
COMMENT ON CAST (bytea AS bloomfilter) IS
	'Guava''s writeTo stream of a filter of strings (stringFunnel, UTF-8)';

-- Operators

CREATE OPERATOR = (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (bloomfilter, bloomfilter) IS
	'same strategy, funnel, bits and hashes';

CREATE OPERATOR <> (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (bloomfilter, bloomfilter) IS
	'not equal';

CREATE OPERATOR | (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bf_union
);
COMMENT ON OPERATOR | (bloomfilter, bloomfilter) IS
	'union';

CREATE OPERATOR & (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bf_intersection
);
COMMENT ON OPERATOR & (bloomfilter, bloomfilter) IS
	'intersection';

CREATE OPERATOR + (
	LEFTARG = bloomfilter, RIGHTARG = anycompatible, FUNCTION = bf_add
);
COMMENT ON OPERATOR + (bloomfilter, anycompatible) IS
	'add an element';

CREATE OPERATOR @> (
	LEFTARG = bloomfilter, RIGHTARG = anycompatible, FUNCTION = bf_contains,
	COMMUTATOR = <@, RESTRICT = bloomfilter_contains_sel, JOIN = bloomfilter_contains_joinsel
);
COMMENT ON OPERATOR @> (bloomfilter, anycompatible) IS
	'was the element probably added?';

CREATE OPERATOR <@ (
	LEFTARG = anycompatible, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_contained,
	COMMUTATOR = @>, RESTRICT = bloomfilter_contains_sel, JOIN = bloomfilter_contains_joinsel
);
COMMENT ON OPERATOR <@ (anycompatible, bloomfilter) IS
	'was the element probably added?';

CREATE OPERATOR CLASS bloomfilter_ops DEFAULT FOR TYPE bloomfilter USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 bloomfilter_hash(bloomfilter),
	FUNCTION 2 bloomfilter_hash_extended(bloomfilter, bigint);
COMMENT ON OPERATOR CLASS bloomfilter_ops USING hash IS
	'equality of bloom filters';
COMMENT ON OPERATOR FAMILY bloomfilter_ops USING hash IS
	'equality of bloom filters';

-- Aggregates

-- The serialization function is called for NULL too: see src/type/agg.c.

CREATE FUNCTION bloomfilter_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_combine(internal, internal) IS
	'implementation of bf_agg and bf_agg_into';

CREATE FUNCTION bloomfilter_agg_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomext_agg_serialize'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_serialize(internal) IS
	'implementation of bf_agg';

CREATE FUNCTION bloomfilter_agg_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_deserialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_deserialize(bytea, internal) IS
	'implementation of bf_agg and bf_agg_into';

CREATE FUNCTION bloomfilter_agg_final(internal) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_final(internal) IS
	'implementation of bf_agg';

CREATE FUNCTION bloomfilter_agg_distinct_final(internal) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_agg_distinct_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_distinct_final(internal) IS
	'implementation of bf_agg and bf_agg_distinct';

CREATE FUNCTION bloomfilter_agg_add(internal, anycompatible, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add(internal, anycompatible, bigint) IS
	'implementation of bf_agg';

CREATE AGGREGATE bf_agg(anycompatible, expected bigint) (
	SFUNC = bloomfilter_agg_add,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg(anycompatible, bigint) IS
	'filter of the elements sized for that many elements (false positive probability 0.03)';

CREATE FUNCTION bloomfilter_agg_add(internal, anycompatible, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add(internal, anycompatible, bigint, float8) IS
	'implementation of bf_agg';

CREATE AGGREGATE bf_agg(anycompatible, expected bigint, fpp float8) (
	SFUNC = bloomfilter_agg_add,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg(anycompatible, bigint, float8) IS
	'filter of the elements sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_add(internal, anycompatible, bigint, float8, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add(internal, anycompatible, bigint, float8, text) IS
	'implementation of bf_agg';

CREATE AGGREGATE bf_agg(anycompatible, expected bigint, fpp float8, strategy text) (
	SFUNC = bloomfilter_agg_add,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg(anycompatible, bigint, float8, text) IS
	'filter of the elements of that strategy, sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_add(internal, anycompatible, bigint, float8, text, int) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add(internal, anycompatible, bigint, float8, text, int) IS
	'implementation of bf_agg';

CREATE AGGREGATE bf_agg(anycompatible, expected bigint, fpp float8, strategy text, expansion int) (
	SFUNC = bloomfilter_agg_add,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg(anycompatible, bigint, float8, text, int) IS
	'filter of the elements of that strategy, sized for that many elements at that false positive probability, growing as expansion says';

CREATE FUNCTION bf_put(anycompatible, expected bigint, fpp float8) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_put'
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_put(anycompatible, bigint, float8) IS
	'window function: whether the element surely came for the first time in the order of the partition, by a filter for that many elements at that false positive probability, which it is then added to; NULL for NULL';

CREATE FUNCTION bf_put(anycompatible, expected bigint, fpp float8, strategy text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_put'
	LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_put(anycompatible, bigint, float8, text) IS
	'window function: whether the element surely came for the first time in the order of the partition, by a filter of that strategy for that many elements at that false positive probability, which it is then added to; NULL for NULL';

CREATE FUNCTION bloomfilter_agg_distinct_add(internal, anycompatible) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_distinct_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_distinct_add(internal, anycompatible) IS
	'implementation of bf_agg';

CREATE AGGREGATE bf_agg(anycompatible) (
	SFUNC = bloomfilter_agg_distinct_add,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_distinct_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg(anycompatible) IS
	'filter of the elements that sizes itself to the distinct ones (guava, false positive probability 0.03; bf_agg_distinct(x, 0.001) takes another)';

CREATE FUNCTION bloomfilter_agg_distinct_add(internal, anycompatible, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_distinct_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_distinct_add(internal, anycompatible, float8) IS
	'implementation of bf_agg_distinct';

CREATE AGGREGATE bf_agg_distinct(anycompatible, fpp float8) (
	SFUNC = bloomfilter_agg_distinct_add,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_distinct_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_distinct(anycompatible, float8) IS
	'filter of the elements that sizes itself to the distinct ones at that false positive probability (guava)';

CREATE FUNCTION bloomfilter_agg_into_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_serialize'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_into_serialize(internal) IS
	'implementation of bf_agg_into';

CREATE FUNCTION bloomfilter_agg_into_final(internal) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_into_final(internal) IS
	'implementation of bf_agg_into';

CREATE FUNCTION bloomfilter_agg_into_add(internal, bloomfilter, anycompatible) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_into_add(internal, bloomfilter, anycompatible) IS
	'implementation of bf_agg_into';

CREATE AGGREGATE bf_agg_into(filter bloomfilter, anycompatible) (
	SFUNC = bloomfilter_agg_into_add,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_into_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_into_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_into(bloomfilter, anycompatible) IS
	'the empty filter given, with the elements added';

CREATE FUNCTION bloomfilter_merge_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'bloomext_merge_serialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_merge_serialize(internal) IS
	'implementation of bf_union_agg and bf_intersection_agg';

CREATE FUNCTION bloomfilter_merge_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_merge_deserialize'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_merge_deserialize(bytea, internal) IS
	'implementation of bf_union_agg and bf_intersection_agg';

CREATE FUNCTION bloomfilter_merge_final(internal) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_merge_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_merge_final(internal) IS
	'implementation of bf_union_agg and bf_intersection_agg';

CREATE FUNCTION bloomfilter_union_agg_add(internal, bloomfilter) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_union_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_union_agg_add(internal, bloomfilter) IS
	'implementation of bf_union_agg';

CREATE FUNCTION bloomfilter_union_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_union_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_union_agg_combine(internal, internal) IS
	'implementation of bf_union_agg';

CREATE AGGREGATE bf_union_agg(bloomfilter) (
	SFUNC = bloomfilter_union_agg_add,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = bloomfilter_merge_final,
	COMBINEFUNC = bloomfilter_union_agg_combine,
	SERIALFUNC = bloomfilter_merge_serialize,
	DESERIALFUNC = bloomfilter_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_union_agg(bloomfilter) IS
	'union of the filters';

CREATE FUNCTION bloomfilter_intersection_agg_add(internal, bloomfilter) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_intersection_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_intersection_agg_add(internal, bloomfilter) IS
	'implementation of bf_intersection_agg';

CREATE FUNCTION bloomfilter_intersection_agg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_intersection_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloomfilter_intersection_agg_combine(internal, internal) IS
	'implementation of bf_intersection_agg';

CREATE AGGREGATE bf_intersection_agg(bloomfilter) (
	SFUNC = bloomfilter_intersection_agg_add,
	STYPE = internal,
	SSPACE = 65536,
	FINALFUNC = bloomfilter_merge_final,
	COMBINEFUNC = bloomfilter_intersection_agg_combine,
	SERIALFUNC = bloomfilter_merge_serialize,
	DESERIALFUNC = bloomfilter_merge_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_intersection_agg(bloomfilter) IS
	'intersection of the filters';

-- Live filters

CREATE FUNCTION bloomfilter_handler(internal) RETURNS index_am_handler
	AS 'MODULE_PATHNAME', 'bloomext_live_handler'
	LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION bloomfilter_handler(internal) IS
	'handler of access method bloomfilter';

CREATE ACCESS METHOD bloomfilter TYPE INDEX HANDLER bloomfilter_handler;
COMMENT ON ACCESS METHOD bloomfilter IS
	'bloom filter of a column, or of several, kept up to date; asked by bf_live_contains(), never scanned';

CREATE OPERATOR CLASS bloomfilter_text_ops
	DEFAULT FOR TYPE text USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_text_ops USING bloomfilter IS
	'live filter of text elements';

CREATE OPERATOR CLASS bloomfilter_bytea_ops
	DEFAULT FOR TYPE bytea USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_bytea_ops USING bloomfilter IS
	'live filter of bytea elements';

CREATE OPERATOR CLASS bloomfilter_int2_ops
	DEFAULT FOR TYPE int2 USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_int2_ops USING bloomfilter IS
	'live filter of int2 elements';

CREATE OPERATOR CLASS bloomfilter_int4_ops
	DEFAULT FOR TYPE int4 USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_int4_ops USING bloomfilter IS
	'live filter of int4 elements';

CREATE OPERATOR CLASS bloomfilter_int8_ops
	DEFAULT FOR TYPE int8 USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_int8_ops USING bloomfilter IS
	'live filter of int8 elements';

CREATE OPERATOR CLASS bloomfilter_uuid_ops
	DEFAULT FOR TYPE uuid USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_uuid_ops USING bloomfilter IS
	'live filter of uuid elements';

CREATE OPERATOR CLASS bloomfilter_name_ops
	DEFAULT FOR TYPE name USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_name_ops USING bloomfilter IS
	'live filter of name elements';

CREATE OPERATOR CLASS bloomfilter_bpchar_ops
	DEFAULT FOR TYPE bpchar USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_bpchar_ops USING bloomfilter IS
	'live filter of char(n) elements';

CREATE OPERATOR CLASS bloomfilter_oid_ops
	DEFAULT FOR TYPE oid USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_oid_ops USING bloomfilter IS
	'live filter of oid elements';

CREATE OPERATOR CLASS bloomfilter_date_ops
	DEFAULT FOR TYPE date USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_date_ops USING bloomfilter IS
	'live filter of date elements';

CREATE OPERATOR CLASS bloomfilter_timestamp_ops
	DEFAULT FOR TYPE timestamp USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_timestamp_ops USING bloomfilter IS
	'live filter of timestamp elements';

CREATE OPERATOR CLASS bloomfilter_timestamptz_ops
	DEFAULT FOR TYPE timestamptz USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_timestamptz_ops USING bloomfilter IS
	'live filter of timestamptz elements';

CREATE OPERATOR CLASS bloomfilter_bool_ops
	DEFAULT FOR TYPE bool USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_bool_ops USING bloomfilter IS
	'live filter of boolean elements';

CREATE OPERATOR CLASS bloomfilter_char_ops
	DEFAULT FOR TYPE "char" USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_char_ops USING bloomfilter IS
	'live filter of "char" elements';

CREATE OPERATOR CLASS bloomfilter_inet_ops
	DEFAULT FOR TYPE inet USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_inet_ops USING bloomfilter IS
	'live filter of inet and cidr elements';

CREATE OPERATOR CLASS bloomfilter_macaddr_ops
	DEFAULT FOR TYPE macaddr USING bloomfilter AS
	OPERATOR 1 =;
COMMENT ON OPERATOR CLASS bloomfilter_macaddr_ops USING bloomfilter IS
	'live filter of macaddr elements';

-- Integers of all widths hash alike.
ALTER OPERATOR FAMILY bloomfilter_int2_ops USING bloomfilter ADD
	OPERATOR 1 = (int2, int4),
	OPERATOR 1 = (int2, int8);
ALTER OPERATOR FAMILY bloomfilter_int4_ops USING bloomfilter ADD
	OPERATOR 1 = (int4, int2),
	OPERATOR 1 = (int4, int8);
ALTER OPERATOR FAMILY bloomfilter_int8_ops USING bloomfilter ADD
	OPERATOR 1 = (int8, int2),
	OPERATOR 1 = (int8, int4);

-- Every other type, to be refused when the index is built: see validate.c.
CREATE OPERATOR CLASS bloomfilter_anyelement_ops
	DEFAULT FOR TYPE anyelement USING bloomfilter AS
	OPERATOR 1 = (text, text);
COMMENT ON OPERATOR CLASS bloomfilter_anyelement_ops USING bloomfilter IS
	'refuses types that cannot be elements';

CREATE FUNCTION bloomfilter_row_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_row_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_row_support(internal) IS
	'planner support of bf_live_contains';

CREATE FUNCTION bloomfilter_live_contains(regclass, name, VARIADIC "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_live_contains_fields'
	LANGUAGE C STABLE PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION bloomfilter_live_contains(regclass, name, VARIADIC "any") IS
	'as which bf_live_contains(rel, ROW(...), col) is planned: the fields of the row follow';

CREATE FUNCTION bf_live_contains(rel regclass, elem anycompatible, col name DEFAULT NULL) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_live_contains'
	LANGUAGE C STABLE PARALLEL RESTRICTED COST 100
	SUPPORT bloomfilter_row_support;
COMMENT ON FUNCTION bf_live_contains(regclass, anycompatible, name) IS
	'false: surely no row of the table holds the element (rows of the same statement may be missed); true: one probably does; by the live filter of the column, the only one, or the index named. A filter of several columns is asked for a row of as many: ROW(a, b); NULL if a field is NULL';

CREATE FUNCTION bf_live_contains_each(rel regclass, elems anycompatiblearray, col name DEFAULT NULL) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bloomext_live_contains_each'
	LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION bf_live_contains_each(regclass, anycompatiblearray, name) IS
	'an answer of bf_live_contains for each element, or row, of the array, NULL for NULL';

CREATE FUNCTION bf_live_contains_all(rel regclass, elems anycompatiblearray, col name DEFAULT NULL) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_live_contains_all'
	LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION bf_live_contains_all(regclass, anycompatiblearray, name) IS
	'false: surely not every element of the array is in a row of the table; NULL elements are skipped';

CREATE FUNCTION bf_live_new(rel regclass, elems anycompatiblearray, col name DEFAULT NULL) RETURNS SETOF anycompatible
	AS 'MODULE_PATHNAME', 'bloomext_live_new'
	LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 100;
COMMENT ON FUNCTION bf_live_new(regclass, anycompatiblearray, name) IS
	'the elements of the array that are surely in no row of the table, each once, in the order given; an error where that cannot be sure. It takes no lock against other sessions, which may insert them meanwhile';

CREATE FUNCTION bf_live_filter(rel regclass) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_live_filter'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION bf_live_filter(regclass) IS
	'the live filter as a value, of as many layers; of one size it is equal to what bf_agg makes of the same elements';

CREATE FUNCTION bf_live_info(
	rel regclass,
	OUT index regclass,
	OUT strategy text,
	OUT funnel text,
	OUT expected bigint,
	OUT fpp float8,
	OUT hashes int,
	OUT bits bigint,
	OUT bits_set bigint,
	OUT fill float8,
	OUT estimated_count bigint,
	OUT estimated_fpp float8,
	OUT pending bigint,
	OUT bytes bigint,
	OUT pages bigint,
	OUT relation regclass,
	OUT maybe text,
	OUT layers int,
	OUT expansion int,
	OUT elements text,
	OUT surely_absent bigint,
	OUT confirmed bigint,
	OUT false_alarms bigint
)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bloomext_live_info'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100000 ROWS 1;
COMMENT ON FUNCTION bf_live_info(regclass) IS
	'what each live filter is and how full, over its layers: expected and hashes are the first one''s, bits are counted; pending elements have no bits yet; maybe is NULL where a "no" is sure, or says what keeps it from that; surely_absent, confirmed and false_alarms are its answers to query plans since its file was made';

CREATE FUNCTION bf_live_layers(
	rel regclass,
	OUT index regclass,
	OUT layer int,
	OUT expected bigint,
	OUT fpp float8,
	OUT hashes int,
	OUT bits bigint,
	OUT bits_set bigint,
	OUT fill float8,
	OUT estimated_count bigint,
	OUT estimated_fpp float8,
	OUT pending bigint,
	OUT pages bigint
)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'bloomext_live_layers'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100000 ROWS 4;
COMMENT ON FUNCTION bf_live_layers(regclass) IS
	'the layers of each live filter, oldest first from 0, and how full: the last one takes new elements';

CREATE FUNCTION bf_live_verify(
	rel regclass,
	sample float8 DEFAULT 1,
	OUT rows_checked bigint,
	OUT missing bigint
)
	AS 'MODULE_PATHNAME', 'bloomext_live_verify'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION bf_live_verify(regclass, float8) IS
	'look every row of the table up in its live filter, or those of a part of its blocks (sample: 0.01 is a hundredth); missing must be 0. It tells every ten seconds how far it is';

/*
 * It looks at a filter in a subtransaction, which there is none of in parallel
 * mode.
 */
CREATE FUNCTION bf_live_state(
	index regclass,
	OUT col text,
	OUT estimated_count bigint,
	OUT expected bigint,
	OUT fill float8,
	OUT fpp float8,
	OUT estimated_fpp float8,
	OUT layers int,
	OUT expansion int,
	OUT bytes bigint,
	OUT due text,
	OUT maybe text,
	OUT reason text,
	OUT action text[]
)
	AS 'MODULE_PATHNAME', 'bloomext_live_state'
	LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION bf_live_state(regclass) IS
	'a live filter''s row in the view bf_live_filters; NULL of what is none, or not the caller''s to know';

-- Types are those of the functions and operators exactly: whoever owns the schema
-- might have one that fits better.

CREATE VIEW bf_live_filters AS
	SELECT c.oid::regclass AS index, i.indrelid::regclass AS relation, s.col,
		s.estimated_count, s.expected, s.fill, s.fpp, s.estimated_fpp,
		s.layers, s.expansion, s.bytes, s.due, s.maybe, s.reason, s.action
	FROM pg_am AS a
	JOIN pg_class AS c ON c.relam = a.oid AND c.relkind IN ('i', 'I')
	JOIN pg_index AS i ON i.indexrelid = c.oid
	CROSS JOIN LATERAL bf_live_state(c.oid::regclass) AS s
	WHERE a.amhandler::oid = 'bloomfilter_handler(internal)'::regprocedure::oid AND NOT s IS NULL;
GRANT SELECT ON bf_live_filters TO PUBLIC;
COMMENT ON VIEW bf_live_filters IS
	'every live filter of this database that the caller may know of, partitioned ones, too; how full it is, by some of its pages, and what is due; waits for nobody and fails for none';
COMMENT ON COLUMN bf_live_filters.index IS
	'the live filter';
COMMENT ON COLUMN bf_live_filters.relation IS
	'the table that it is of';
COMMENT ON COLUMN bf_live_filters.col IS
	'the column that it is of, or the expression; several as (shop, article)';
COMMENT ON COLUMN bf_live_filters.estimated_count IS
	'elements that it holds, those of deleted rows, too';
COMMENT ON COLUMN bf_live_filters.expected IS
	'elements that its layers are sized for';
COMMENT ON COLUMN bf_live_filters.fill IS
	'bits that are set, of all bits';
COMMENT ON COLUMN bf_live_filters.fpp IS
	'false positive probability that it was made for';
COMMENT ON COLUMN bf_live_filters.estimated_fpp IS
	'false positive probability that it has';
COMMENT ON COLUMN bf_live_filters.layers IS
	'layers, each of which a lookup may have to ask';
COMMENT ON COLUMN bf_live_filters.expansion IS
	'0: it does not grow; or how many times the elements each further layer is sized for';
COMMENT ON COLUMN bf_live_filters.bytes IS
	'length of its file, parts that take no space included';
COMMENT ON COLUMN bf_live_filters.due IS
	'nothing; growth, which comes by itself; REINDEX; or NULL where that cannot be told now';
COMMENT ON COLUMN bf_live_filters.maybe IS
	'why every answer of the filter is "maybe" now, and what to do; NULL where it is sure, or cannot be told';
COMMENT ON COLUMN bf_live_filters.reason IS
	'why that is due, or why it cannot be told';
COMMENT ON COLUMN bf_live_filters.action IS
	'statements that do what is due, to be run one by one, outside a transaction';

-- Redis

/*
 * Functions over Redis are PARALLEL RESTRICTED: connections are the leader's,
 * but a filter to be mirrored may be built in parallel. The wrapper has no
 * handler: servers are for these functions, not for tables.
 */

CREATE FUNCTION bloomext_redis_validator(text[], oid) RETURNS void
	AS 'MODULE_PATHNAME', 'bloomext_redis_validator'
	LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomext_redis_validator(text[], oid) IS
	'checks the options of servers and user mappings of bloomext_redis';

CREATE FOREIGN DATA WRAPPER bloomext_redis
	VALIDATOR bloomext_redis_validator;
COMMENT ON FOREIGN DATA WRAPPER bloomext_redis IS
	'Redis servers that bloom filters are mirrored to: host (a list, with port) or socket, db, connect_timeout, command_timeout (ms), keep_connections, idle_timeout (ms), wait_replicas, wait_timeout (ms), tls, tls_ca, cluster, sentinel, redirect_hosts; in user mappings: username, password, sentinel_username, sentinel_password, tls_cert, tls_key';

CREATE FUNCTION bf_mirror(
	filter bloomfilter,
	server name,
	key text,
	layout text DEFAULT NULL,
	ttl interval DEFAULT NULL
) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomext_mirror'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION bf_mirror(bloomfilter, name, text, text, interval) IS
	'writes the filter to Redis under the key, at once and whole for its readers; returns bytes sent. Layouts: guava, growing, redisson, bitmap, redisbloom; NULL: the strategy''s own; guava;shards=8/0: the first of the 8 shards of one, as bf_shard says. Not undone by ROLLBACK';

CREATE FUNCTION bf_fetch(
	server name,
	key text,
	layout text DEFAULT NULL,
	funnel text DEFAULT NULL
) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_fetch'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION bf_fetch(name, text, text, text) IS
	'filter that is kept in Redis under the key, or (layout guava;shards=8/0) a shard of it. Funnel: of what kind its elements are, where nothing in Redis says it; NULL: text';

CREATE FUNCTION bf_fetch(
	server name,
	key text,
	layout text,
	expected bigint,
	fpp float8,
	strategy text,
	funnel text DEFAULT NULL
) RETURNS bloomfilter
	AS 'MODULE_PATHNAME', 'bloomext_fetch_sized'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION bf_fetch(name, text, text, bigint, float8, text, text) IS
	'filter of a bit string in Redis (layout bitmap) that was sized for these parameters. Funnel: of what kind its elements are; NULL: text';

CREATE FUNCTION bf_redis_create(
	server name,
	key text,
	expected bigint,
	fpp float8 DEFAULT 0.03,
	strategy text DEFAULT 'guava',
	layout text DEFAULT NULL,
	expansion int DEFAULT 0,
	ttl interval DEFAULT NULL,
	funnel text DEFAULT NULL,
	span interval DEFAULT NULL,
	slices int DEFAULT NULL
) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_redis_create'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION bf_redis_create(name, text, bigint, float8, text, text, int, interval, text, interval, int) IS
	'makes an empty filter in Redis (true), or finds one of the same parameters there (false). Layout as for bf_mirror, or with several keys: bitmap;shards=8. Funnel (utf8, utf16, bytes, int, long): NULL lets the first element decide; for a filter that a service made it says of what kind its elements are. Span: for how long elements are found, at least, in that number of slices, 1 to 30, of 1 s or more (NULL: 30)';

CREATE FUNCTION bf_redis_add(server name, key text, element anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_redis_add'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION bf_redis_add(name, text, anycompatible) IS
	'adds the element to a filter in Redis; true: it was surely new';

CREATE FUNCTION bf_redis_add_each(server name, key text, elements anycompatiblearray) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bloomext_redis_add_each'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 5000;
COMMENT ON FUNCTION bf_redis_add_each(name, text, anycompatiblearray) IS
	'adds the elements to a filter in Redis; an answer for each: true: it was surely new';

CREATE FUNCTION bf_redis_contains(server name, key text, element anycompatible) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_redis_contains'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION bf_redis_contains(name, text, anycompatible) IS
	'whether a filter in Redis probably contains the element; false: surely not. A missing filter is an error';

CREATE FUNCTION bf_redis_contains_each(server name, key text, elements anycompatiblearray) RETURNS boolean[]
	AS 'MODULE_PATHNAME', 'bloomext_redis_contains_each'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 5000;
COMMENT ON FUNCTION bf_redis_contains_each(name, text, anycompatiblearray) IS
	'whether a filter in Redis probably contains each element; false: surely not. A missing filter is an error';

CREATE FUNCTION bf_redis_info(
	server name,
	key text,
	OUT layout text,
	OUT strategy text,
	OUT funnel text,
	OUT expected bigint,
	OUT fpp float8,
	OUT hashes int,
	OUT bits bigint,
	OUT bits_set bigint,
	OUT fill float8,
	OUT layers int,
	OUT expansion int,
	OUT shards int,
	OUT estimated_count bigint,
	OUT estimated_fpp float8,
	OUT bytes bigint,
	OUT ttl_ms bigint,
	OUT elements text,
	OUT has_witness boolean,
	OUT span interval,
	OUT slices int,
	OUT slice_fill float8[]
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomext_redis_info'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION bf_redis_info(name, text) IS
	'what a filter in Redis is and how full; NULL where it is not known. bits are over all layers and shards; a native RedisBloom filter does not tell its fill. Slice_fill: of a window of time, estimated, from the slice of now back';

CREATE FUNCTION bf_redis_drop(server name, key text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomext_redis_drop'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION bf_redis_drop(name, text) IS
	'removes a filter from Redis with all its keys; false: there was none';

CREATE FUNCTION bf_live_mirror(
	rel regclass,
	server name,
	key text,
	layout text DEFAULT NULL,
	ttl interval DEFAULT NULL
) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomext_live_mirror'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 5000;
COMMENT ON FUNCTION bf_live_mirror(regclass, name, text, text, interval) IS
	'writes the live filter to Redis under the key, as bf_mirror does a value, but of one string there only what differs; returns bytes sent';

-- What is installed

CREATE FUNCTION bf_version(
	OUT library text,
	OUT extension text,
	OUT built_for text,
	OUT value_format int,
	OUT live_format int,
	OUT action text
) RETURNS record
	AS 'MODULE_PATHNAME', 'bloomext_version'
	LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_version() IS
	'versions of the library that this session runs, of this database''s objects, of the PostgreSQL that the library was built for, and of the bytes that it writes; action is what to do where library and objects are of two versions, or NULL';
