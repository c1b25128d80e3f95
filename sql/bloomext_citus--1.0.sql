/* bloomext_citus--1.0.sql: the objects of CREATE EXTENSION bloomext_citus */

\echo Use "CREATE EXTENSION bloomext_citus" to load this file. \quit

/*
 * Citus has its workers call the functions of an aggregate by an aggregate of its
 * own, which does not say of which type an element is that is declared as
 * anycompatible.  These aggregates say it.  Each has a name of its own: a form of
 * bf_agg over text would be what a citext is silently cast to.
 */

-- text

CREATE FUNCTION bloomfilter_agg_add_text(internal, text, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_text(internal, text, bigint, float8) IS
	'implementation of bf_agg_text';

CREATE AGGREGATE bf_agg_text(text, expected bigint, fpp float8) (
	SFUNC = bloomfilter_agg_add_text,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_text(text, bigint, float8) IS
	'bf_agg of text, varchar, char(n) or name: filter of the elements sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_add_text(internal, text, bigint, float8, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_text(internal, text, bigint, float8, text) IS
	'implementation of bf_agg_text';

CREATE AGGREGATE bf_agg_text(text, expected bigint, fpp float8, strategy text) (
	SFUNC = bloomfilter_agg_add_text,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_text(text, bigint, float8, text) IS
	'bf_agg of text, varchar, char(n) or name: filter of the elements of that strategy, sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_into_add_text(internal, bloomfilter, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_into_add_text(internal, bloomfilter, text) IS
	'implementation of bf_agg_into_text';

CREATE AGGREGATE bf_agg_into_text(filter bloomfilter, text) (
	SFUNC = bloomfilter_agg_into_add_text,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_into_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_into_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_into_text(bloomfilter, text) IS
	'bf_agg_into of text, varchar, char(n) or name: the empty filter given, with the elements added';

-- bytea

CREATE FUNCTION bloomfilter_agg_add_bytea(internal, bytea, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_bytea(internal, bytea, bigint, float8) IS
	'implementation of bf_agg_bytea';

CREATE AGGREGATE bf_agg_bytea(bytea, expected bigint, fpp float8) (
	SFUNC = bloomfilter_agg_add_bytea,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_bytea(bytea, bigint, float8) IS
	'bf_agg of bytea: filter of the elements sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_add_bytea(internal, bytea, bigint, float8, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_bytea(internal, bytea, bigint, float8, text) IS
	'implementation of bf_agg_bytea';

CREATE AGGREGATE bf_agg_bytea(bytea, expected bigint, fpp float8, strategy text) (
	SFUNC = bloomfilter_agg_add_bytea,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_bytea(bytea, bigint, float8, text) IS
	'bf_agg of bytea: filter of the elements of that strategy, sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_into_add_bytea(internal, bloomfilter, bytea) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_into_add_bytea(internal, bloomfilter, bytea) IS
	'implementation of bf_agg_into_bytea';

CREATE AGGREGATE bf_agg_into_bytea(filter bloomfilter, bytea) (
	SFUNC = bloomfilter_agg_into_add_bytea,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_into_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_into_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_into_bytea(bloomfilter, bytea) IS
	'bf_agg_into of bytea: the empty filter given, with the elements added';

-- uuid

CREATE FUNCTION bloomfilter_agg_add_uuid(internal, uuid, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_uuid(internal, uuid, bigint, float8) IS
	'implementation of bf_agg_uuid';

CREATE AGGREGATE bf_agg_uuid(uuid, expected bigint, fpp float8) (
	SFUNC = bloomfilter_agg_add_uuid,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_uuid(uuid, bigint, float8) IS
	'bf_agg of uuid: filter of the elements sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_add_uuid(internal, uuid, bigint, float8, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_uuid(internal, uuid, bigint, float8, text) IS
	'implementation of bf_agg_uuid';

CREATE AGGREGATE bf_agg_uuid(uuid, expected bigint, fpp float8, strategy text) (
	SFUNC = bloomfilter_agg_add_uuid,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_uuid(uuid, bigint, float8, text) IS
	'bf_agg of uuid: filter of the elements of that strategy, sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_into_add_uuid(internal, bloomfilter, uuid) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_into_add_uuid(internal, bloomfilter, uuid) IS
	'implementation of bf_agg_into_uuid';

CREATE AGGREGATE bf_agg_into_uuid(filter bloomfilter, uuid) (
	SFUNC = bloomfilter_agg_into_add_uuid,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_into_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_into_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_into_uuid(bloomfilter, uuid) IS
	'bf_agg_into of uuid: the empty filter given, with the elements added';

-- integer

CREATE FUNCTION bloomfilter_agg_add_integer(internal, integer, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_integer(internal, integer, bigint, float8) IS
	'implementation of bf_agg_integer';

CREATE AGGREGATE bf_agg_integer(integer, expected bigint, fpp float8) (
	SFUNC = bloomfilter_agg_add_integer,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_integer(integer, bigint, float8) IS
	'bf_agg of smallint or integer: filter of the elements sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_add_integer(internal, integer, bigint, float8, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_integer(internal, integer, bigint, float8, text) IS
	'implementation of bf_agg_integer';

CREATE AGGREGATE bf_agg_integer(integer, expected bigint, fpp float8, strategy text) (
	SFUNC = bloomfilter_agg_add_integer,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_integer(integer, bigint, float8, text) IS
	'bf_agg of smallint or integer: filter of the elements of that strategy, sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_into_add_integer(internal, bloomfilter, integer) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_into_add_integer(internal, bloomfilter, integer) IS
	'implementation of bf_agg_into_integer';

CREATE AGGREGATE bf_agg_into_integer(filter bloomfilter, integer) (
	SFUNC = bloomfilter_agg_into_add_integer,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_into_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_into_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_into_integer(bloomfilter, integer) IS
	'bf_agg_into of smallint or integer: the empty filter given, with the elements added';

-- bigint

CREATE FUNCTION bloomfilter_agg_add_bigint(internal, bigint, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_bigint(internal, bigint, bigint, float8) IS
	'implementation of bf_agg_bigint';

CREATE AGGREGATE bf_agg_bigint(bigint, expected bigint, fpp float8) (
	SFUNC = bloomfilter_agg_add_bigint,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_bigint(bigint, bigint, float8) IS
	'bf_agg of bigint: filter of the elements sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_add_bigint(internal, bigint, bigint, float8, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_bigint(internal, bigint, bigint, float8, text) IS
	'implementation of bf_agg_bigint';

CREATE AGGREGATE bf_agg_bigint(bigint, expected bigint, fpp float8, strategy text) (
	SFUNC = bloomfilter_agg_add_bigint,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_bigint(bigint, bigint, float8, text) IS
	'bf_agg of bigint: filter of the elements of that strategy, sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_into_add_bigint(internal, bloomfilter, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_into_add_bigint(internal, bloomfilter, bigint) IS
	'implementation of bf_agg_into_bigint';

CREATE AGGREGATE bf_agg_into_bigint(filter bloomfilter, bigint) (
	SFUNC = bloomfilter_agg_into_add_bigint,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_into_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_into_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_into_bigint(bloomfilter, bigint) IS
	'bf_agg_into of bigint: the empty filter given, with the elements added';

-- oid

CREATE FUNCTION bloomfilter_agg_add_oid(internal, oid, bigint, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_oid(internal, oid, bigint, float8) IS
	'implementation of bf_agg_oid';

CREATE AGGREGATE bf_agg_oid(oid, expected bigint, fpp float8) (
	SFUNC = bloomfilter_agg_add_oid,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_oid(oid, bigint, float8) IS
	'bf_agg of oid: filter of the elements sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_add_oid(internal, oid, bigint, float8, text) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_add_oid(internal, oid, bigint, float8, text) IS
	'implementation of bf_agg_oid';

CREATE AGGREGATE bf_agg_oid(oid, expected bigint, fpp float8, strategy text) (
	SFUNC = bloomfilter_agg_add_oid,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_oid(oid, bigint, float8, text) IS
	'bf_agg of oid: filter of the elements of that strategy, sized for that many elements at that false positive probability';

CREATE FUNCTION bloomfilter_agg_into_add_oid(internal, bloomfilter, oid) RETURNS internal
	AS 'MODULE_PATHNAME', 'bloomext_agg_into_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bloomfilter_agg_into_add_oid(internal, bloomfilter, oid) IS
	'implementation of bf_agg_into_oid';

CREATE AGGREGATE bf_agg_into_oid(filter bloomfilter, oid) (
	SFUNC = bloomfilter_agg_into_add_oid,
	STYPE = internal,
	SSPACE = 1024,
	FINALFUNC = bloomfilter_agg_into_final,
	COMBINEFUNC = bloomfilter_agg_combine,
	SERIALFUNC = bloomfilter_agg_into_serialize,
	DESERIALFUNC = bloomfilter_agg_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_into_oid(bloomfilter, oid) IS
	'bf_agg_into of oid: the empty filter given, with the elements added';
