/* bloomext--1.0--1.1.sql: what 1.1 adds to the objects of 1.0 */

\echo Use "ALTER EXTENSION bloomext UPDATE TO '1.1'" to load this file. \quit

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
