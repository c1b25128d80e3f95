-- Aggregates whose functions another aggregate calls, without an expression, as
-- Citus does: what several nodes saw is one filter, bit for bit.  They are those of
-- bloomext_citus, which say of which type elements are.
\set VERBOSITY terse
\set module `pwd` '/test/nodes/build/nodes.so'
set client_min_messages = warning;
create extension bloomext_citus;
reset client_min_messages;
create function nodes_add(internal, regprocedure, int, variadic "any") returns internal
as :'module', 'nodes_add' language c;
create function nodes_filter(internal) returns bloomfilter
as :'module', 'nodes_filter' language c;
create function nodes_bytes(internal) returns bigint
as :'module', 'nodes_bytes' language c;
create aggregate by_nodes(regprocedure, nodes int, variadic "any")
(sfunc = nodes_add, stype = internal, finalfunc = nodes_filter);
create aggregate bytes_of_nodes(regprocedure, nodes int, variadic "any")
(sfunc = nodes_add, stype = internal, finalfunc = nodes_bytes);

-- Every type that has a form of its own, in every form; few elements, which are
-- listed, and so many that each node, or all of them together, have bits.
create table forms (parameters text, given text);
insert into forms values
('bigint, float8', '3000::bigint, 0.01::float8'),
('bigint, float8, text', '3000::bigint, 0.01::float8, %L::text');
create function disagrees(nodes text, aggregate text, source text, arguments text) returns boolean
language plpgsql as $$
declare
    one bloomfilter;
    several bloomfilter;
begin
    execute format('select bf_agg(%s) from %s', arguments, source) into one;
    execute format('select by_nodes(%L::regprocedure, %s, %s) from %s', aggregate, nodes, arguments, source) into several;
    return one is distinct from several;
end $$;
with t (type, value) as (values
    ('text', '(''title '' || i)::text'),
    ('bytea', 'sha256(int4send(i))'),
    ('uuid', 'md5(i::text)::uuid'),
    ('integer', 'i::integer'),
    ('bigint', 'i::bigint * 1000000007'),
    ('oid', 'i::oid')),
strategies (strategy) as (values ('guava'), ('guava32'), ('redisson'), ('magnuss'), ('tale2009'), ('cassandra'), ('redisbloom')),
calls as (
    select distinct type, n, nodes, format('bf_agg_%1$s(%1$s, %2$s)', type, parameters) as aggregate,
    format('%s, %s', value, format(given, strategy)) as arguments
    from t, forms, strategies, (values (10), (3000)) as r (n), (values (1), (3), (40)) as c (nodes)
    where type = 'text' or strategy in ('guava', 'guava32'))
select type, n, nodes, aggregate, arguments from calls
where disagrees(nodes::text, aggregate, format('generate_series(1, %s) i', n), arguments);

-- NULLs, and nothing at all: parameters come with the rows.
select by_nodes('bf_agg_text(text, bigint, float8)', 3, case when i % 3 > 0 then 'x' || i end, 100::bigint, 0.03::float8) =
    bf_agg(case when i % 3 > 0 then 'x' || i end, 100) as equal
from generate_series(1, 50) i;
select by_nodes('bf_agg_text(text, bigint, float8)', 3, null::text, 100::bigint, 0.03::float8) = bf_create(100, 0.03, funnel => 'utf8') as equal
from generate_series(1, 50) i;
select by_nodes('bf_agg_text(text, bigint, float8)', 3, 'x'::text, 100::bigint, 0.03::float8) from generate_series(1, 0) i;

-- Groups, of a hash table too.
set enable_sort = off;
select count(*), bool_and(a = b) as equal from (
    select by_nodes('bf_agg_bigint(bigint, bigint, float8)', 4, i::bigint, 50::bigint, 0.03::float8) as a, bf_agg(i::bigint, 50) as b
    from generate_series(1, 5000) i group by i % 200) g;
reset enable_sort;
set enable_hashagg = off;
select count(*), bool_and(a = b and c = d) as equal from (
    select by_nodes('bf_agg_uuid(uuid, bigint, float8)', n, md5(i::text)::uuid, 50::bigint, 0.03::float8) as a, bf_agg(md5(i::text)::uuid, 50) as b,
        by_nodes('bf_agg_into_uuid(bloomfilter, uuid)', n, bf_create(50), md5(i::text)::uuid) as c,
        bf_agg_into(bf_create(50), md5(i::text)::uuid) as d
    from generate_series(3, 4) n, generate_series(1, 5000) i group by n, i % 200) g;
reset enable_hashagg;

-- Filters given.
select by_nodes('bf_agg_into_uuid(bloomfilter, uuid)', 5, bf_create(1000, 0.01), md5(i::text)::uuid) =
    bf_agg_into(bf_create(1000, 0.01), md5(i::text)::uuid) as equal
from generate_series(1, 1000) i;
select by_nodes('bf_agg_into_integer(bloomfilter, integer)', 5, bf_create(1000, 0.01, counting => true), i % 10) =
    bf_agg_into(bf_create(1000, 0.01, counting => true), i % 10) as equal
from generate_series(1, 1000) i;

-- Few elements of the first node, which are listed, and bits of the others, too many to be packed.
select by_nodes('bf_agg_integer(integer, bigint, float8)', nodes, case when i % nodes <> 1 or i < 30 then i end, 10000::bigint, 0.03::float8) =
    bf_agg(case when i % nodes <> 1 or i < 30 then i end, 10000) as equal
from generate_series(3, 4) nodes, generate_series(1, 9000) i group by nodes;

-- Filters united.
select by_nodes('bf_union_agg(bloomfilter)', nodes, f) = bf_union_agg(f) as equal
from generate_series(2, 3) as nodes, lateral (select bf_agg(i, 1000) as f from generate_series(1, 1000) i group by i % 10) g
group by nodes;
-- What is sent: 16 bytes an element and a head while that is less than half a
-- filter, each element once; then the filter, packed if its bits are few.
select n, distinct_n, nodes, bytes from
    (values (1000, 1000, 4), (1000, 10, 4), (20000, 20000, 4), (20000, 100, 4), (100000, 100000, 4)) as v (n, distinct_n, nodes),
    lateral (select bytes_of_nodes('bf_agg_integer(integer, bigint, float8)', nodes, i % distinct_n, 100000::bigint, 0.03::float8) as bytes
             from generate_series(1, n) i) as s;
select pg_column_size(bf_create(100000)) as filter;
select n, p, bytes from (values (1), (300), (3000), (9000), (13000), (20000), (40000), (90000)) as v (n), (values (0.1), (0.03), (0.001), (0.00003)) as w (p),
    lateral (select bytes_of_nodes('bf_agg_integer(integer, bigint, float8)', 3, i, 30000::bigint, p::float8) as bytes from generate_series(1, n) i) as s
where bytes > 16 * n + 3 * 96;

-- What is refused.
select by_nodes('bf_agg(anycompatible, bigint)', 2, i, 100::bigint) from generate_series(1, 9) i;
select by_nodes('bf_agg(anycompatible, bigint)', 2, current_date + i, 100::bigint) from generate_series(1, 9) i;
select by_nodes('bf_agg(anycompatible, bigint, float8, text, int)', 2, 'x' || i, 100::bigint, 0.01::float8, 'guava'::text, 2)
from generate_series(1, 9) i;
select by_nodes('bf_agg_text(text, bigint, float8)', 2, 'x' || i, i::bigint, 0.03::float8) from generate_series(1, 9) i;
select by_nodes('bf_agg_text(text, bigint, float8)', 9, 'x' || i, i::bigint, 0.03::float8) from generate_series(1, 9) i;
-- Told what to call instead.
\set VERBOSITY default
select by_nodes('bf_agg(anycompatible, bigint)', 2, 'x' || i, 100::bigint) from generate_series(1, 9) i;
\set VERBOSITY terse
drop table forms;
drop function disagrees;
drop aggregate by_nodes(regprocedure, int, variadic "any");
drop aggregate bytes_of_nodes(regprocedure, int, variadic "any");
drop function nodes_add(internal, regprocedure, int, variadic "any"), nodes_filter(internal), nodes_bytes(internal);
drop extension bloomext_citus;
