-- Aggregates in every kind of plan: parallel, partition-wise, grouping sets and
-- windows answer, or refuse, as a serial plan does.
\set VERBOSITY terse
set bloomext.overfull_notice = off;

-- What a query gives: its result, or its error.
create function pg_temp.outcome(query text) returns text language plpgsql as $$
declare
    result text;
begin
    execute query into result;
    return coalesce(md5(result), 'null');
exception when others then
    return sqlstate || ' ' || sqlerrm;
end $$;
create function pg_temp.plan_has(query text, what text) returns boolean language plpgsql as $$
declare
    line text;
    found boolean := false;
begin
    for line in execute 'explain (costs off) ' || query loop
        found := found or line like '%' || what || '%';
    end loop;
    return found;
end $$;

-- Two partitions that say different parameters; each alone agrees.
create table p (k int, x text, i int, s text, n bigint, fpp float8, e int) partition by list (k);
create table p1 partition of p for values in (1);
create table p2 partition of p for values in (2);
insert into p select 1 + i % 2, 'x' || i, i, case when i % 2 = 0 then 'guava' else 'redisbloom' end, 100 + i % 2, 0.01 + 0.01 * (i % 2), 2 + i % 2
from generate_series(1, 120) i;
-- One with enough rows for the filter to be there before it is combined.
create table many (k int, x text, n bigint) partition by list (k);
create table many1 partition of many for values in (1);
create table many2 partition of many for values in (2);
insert into many select 1 + i % 2, 'x' || i, 1000 + i % 2 from generate_series(1, 10000) i;
alter table p1 set (parallel_workers = 2);
alter table p2 set (parallel_workers = 2);
alter table many1 set (parallel_workers = 2);
alter table many2 set (parallel_workers = 2);
analyze p, many;

create temp table queries (id serial, query text);
insert into queries (query) values
-- lists of hashes that are to be other filters
('select bf_agg(x, 100, 0.01, s) from p'),
('select bf_agg(x, n) from p'),
('select bf_agg(x, 100, fpp) from p'),
('select bf_agg(i, n, fpp, s, 0) from p'),
-- filters of the same bits that want another fpp, and of others
('select bf_agg(x, n, 0.5) from p'),
('select bf_agg(x, n) from many'),
('select bf_agg(x, n, 0.01, ''tale2009'') from many'),
-- growing ones, which are lists to the end
('select bf_agg(x, 100, 0.01, ''guava'', e) from p'),
('select bf_agg(x, n, 0.01, ''redisbloom'', 2) from p'),
('select bf_agg(x, n, 0.01, ''redisbloom'') from p'),
-- filters given
('select bf_agg_into(bf_create(n), x) from p'),
('select bf_agg_into(bf_create(100, 0.01, s), x) from p'),
('select bf_agg_into(bf_create(100, 0.01, counting => k = 1), x) from p'),
('select bf_agg_into(bf_create(100, 0.01, funnel => case k when 1 then ''utf8'' else ''utf16'' end), x) from p'),
('select bf_agg_into(bf_create(100, 0.01, expansion => e), x) from p'),
('select bf_agg_into(bf_create_bits(n * 64, 3), x) from p'),
-- NULLs and what is no probability
('select bf_agg(x, null) from p'),
('select bf_agg(x, case k when 1 then 100 end) from p'),
('select bf_agg(x, 100, ''NaN'') from p'),
('select bf_agg(x, 100, ''-0'') from p'),
-- rows of which one partition has none
('select bf_agg(x, n) from p where k = 1'),
('select bf_agg(x, n, fpp, s) filter (where k = 2) from p'),
('select bf_agg(x, n, fpp, s) filter (where k = 3) from p'),
('select bf_agg(x, 100, 0.01, s, 2) filter (where k = 2) from p'),
('select bf_agg_into(bf_create(n, fpp, s), x) filter (where k = 2) from p'),
('select bf_agg_into(bf_create(n, fpp, s), x) filter (where k = 3) from p'),
('select bf_agg(x, 100) filter (where k = 3) from p'),
('select bf_agg_into(bf_create(100), x) filter (where k = 3) from p'),
-- nothing at all, the size not known without a row
('select bf_agg(x, n) from p where length(x) > 100'),
('select bf_agg(x, n, 0.01, ''guava'', 0) from p where length(x) > 100'),
('select bf_agg_into(bf_create(n), x) from p where length(x) > 100'),
-- and known
('select bf_agg(x, 100) from p where length(x) > 100'),
('select bf_agg(x, 100, 0.01, ''redisbloom'', 2) from p where length(x) > 100'),
('select bf_agg_into(bf_create(100, 0.01, funnel => ''utf16''), x) from p where length(x) > 100'),
-- all agree
('select bf_agg(x, 5000) from many'),
('select bf_agg_into(bf_create(5000), x) from many'),
('select bf_agg_into(bf_create(5000, 0.01, funnel => ''utf16''), x) from many'),
('select bf_agg_into(bf_create(500, 0.01, counting => true), x) from many'),
('select bf_agg_into(bf_create(500, 0.01, ''guava32'', counting => true), length(x)) from many'),
('select bf_agg_into(bf_create_bits(10000, 5, ''tale2009''), x) from many'),
('select bf_agg_into(bf_create_buckets(1000, 10), x) from many'),
('select bf_agg_into((select bf_create(5000)), x) from many'),
('select bf_agg_into(bf_create(5000), k) from many'),
('select bf_agg(x, 50) from p'),
('select bf_agg_into(bf_create(50), x) from p'),
('select bf_agg_distinct(x, 0.001) from many'),
-- grouping sets: each set by itself
('select string_agg(f::text, '','' order by f::text) from (select bf_agg(x, n, fpp, s) as f from p group by grouping sets ((k), (k, i % 3))) g'),
('select string_agg(f::text, '','' order by f::text) from (select bf_agg(x, n, fpp, s) as f from p group by grouping sets ((k), ())) g'),
('select string_agg(f::text, '','' order by f::text) from (select bf_agg_into(bf_create(n), x) as f from p group by cube (k, i % 3)) g'),
('select string_agg(f::text, '','' order by f::text) from (select bf_agg_into(bf_create(n), x) as f from p group by grouping sets ((k), (k, i % 3))) g'),
-- groups, over both partitions and within one
('select string_agg(f::text, '','' order by k) from (select k, bf_agg(x, n, fpp, s) as f from p group by k) g'),
('select string_agg(f::text, '','' order by g) from (select i % 3 as g, bf_agg(x, n) as f from p group by 1) g'),
('select string_agg(f::text, '','' order by g) from (select i % 3 as g, bf_agg(x, 100) filter (where k = 1) as f from p group by 1) g'),
('select string_agg(f::text, '','' order by g) from (select i % 3 as g, bf_agg(x, n) filter (where k = 1) as f from p group by 1) g'),
-- unions
('select bf_union_agg(bf_create(100) + x) from p'),
('select bf_union_agg(case k when 1 then bf_create(10) + x else bf_create(10) + i end) from p'),
('select bf_intersection_agg(bf_create(100) + x) from p'),
('select bf_union_agg(case k when 1 then bf_create(10) else bf_create(10) + i end) from p'),
('select bf_union_agg(bf_create(100, counting => true) + x) from p');

set max_parallel_workers_per_gather = 0;
create temp table serial as select id, query, pg_temp.outcome(query) as outcome from queries;
-- What is refused, and how.
select query, outcome from serial where outcome like '% %' order by id;
-- Partition by partition, in one process.
set enable_partitionwise_aggregate = on;
select count(*) filter (where pg_temp.plan_has(query, 'Partial Aggregate')) > 30 as partition_wise from queries;
select s.query, s.outcome, pg_temp.outcome(s.query) from serial s where pg_temp.outcome(s.query) <> s.outcome order by id;
-- In parallel, by partitions and not.
set max_parallel_workers_per_gather = 4;
set min_parallel_table_scan_size = 0;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
select count(*) filter (where pg_temp.plan_has(query, 'Gather')) > 30 as parallel from queries;
select s.query, s.outcome, pg_temp.outcome(s.query) from serial s where pg_temp.outcome(s.query) <> s.outcome order by id;
set enable_partitionwise_aggregate = off;
select s.query, s.outcome, pg_temp.outcome(s.query) from serial s where pg_temp.outcome(s.query) <> s.outcome order by id;
set parallel_leader_participation = off;
select s.query, s.outcome, pg_temp.outcome(s.query) from serial s where pg_temp.outcome(s.query) <> s.outcome order by id;
set enable_hashagg = off;
select s.query, s.outcome, pg_temp.outcome(s.query) from serial s where pg_temp.outcome(s.query) <> s.outcome order by id;
reset enable_hashagg;
reset parallel_leader_participation;

-- Growing filters depend on the order of rows: what counts is that nothing is lost.
-- What grows does so in every plan, whatever its strategy (cassandra cannot so far).
select strategy from unnest('{guava,guava32,redisson,magnuss,tale2009,redisbloom,spark1,spark2,bitsandblooms,parquet}'::text[]) strategy,
    lateral (select bf_agg(x, 1000, 0.01, strategy, 2) as f from many) s
where exists (select from many where not s.f @> x);
-- A partial state of something else is refused.
create aggregate pg_temp.foreign_state(numeric) (sfunc = numeric_avg_accum, stype = internal, serialfunc = numeric_avg_serialize,
    deserialfunc = bloomfilter_agg_deserialize, combinefunc = bloomfilter_agg_combine, finalfunc = numeric_avg, parallel = safe);
select pg_temp.outcome('select pg_temp.foreign_state(n) from many');
reset max_parallel_workers_per_gather;
reset min_parallel_table_scan_size;
reset parallel_setup_cost;
reset parallel_tuple_cost;

-- A parameter of no row's is not held against those of rows.
create sequence sizes start 100;
set enable_partitionwise_aggregate = on;
select pg_temp.plan_has('select bf_agg(x, nextval(''sizes'')) filter (where i = 7) from p', 'Partial') as partial;
select (bf_info(bf_agg(x, nextval('sizes')) filter (where i = 7))).estimated_count as one,
       (bf_info(bf_agg(x, nextval('sizes')) filter (where i = 8))).estimated_count as other from p;
drop sequence sizes;
reset enable_partitionwise_aggregate;

-- ---------------------------------------------------------------------------
-- Windows: the frames of a partition agree, or are refused
-- ---------------------------------------------------------------------------
select pg_temp.outcome(query) from (values
('select count(f) from (select bf_agg(x, n, fpp, s) over (partition by k) as f from p) s'),
('select count(f) from (select bf_agg(x, n, fpp, s) over (order by k) as f from p) s'),
('select count(f) from (select bf_agg(x, n, fpp, s) over (order by i rows between 1 preceding and current row) as f from p) s'),
('select count(f) from (select bf_agg_into(bf_create(n), x) over (order by i rows between 1 preceding and current row) as f from p) s'),
('select count(f) from (select bf_agg_distinct(x, fpp) over (order by i rows between 1 preceding and current row) as f from p) s')) v(query);
-- A type whose equality is not that of its text, as citext is, is refused,
-- whichever of the calls over a window it comes with.
set client_min_messages = warning;
create type folded;
create function folded_in(cstring) returns folded language internal immutable strict as 'textin';
create function folded_out(folded) returns cstring language internal immutable strict as 'textout';
create type folded (input = folded_in, output = folded_out, category = 'S');
create cast (folded as text) without function as implicit;
create cast (folded as varchar) without function as assignment;
reset client_min_messages;
create temp table c (c folded, t text, v varchar);
insert into c values ('A', 'A', 'A'), ('a', 'a', 'a'), (null, null, null);
select query, pg_temp.outcome(query) from (values
('select bf_agg(c, 10) from c'),
('select bf_agg(c) from c'),
('select bf_agg_into(bf_create(10), c) from c'),
('select bf_agg_distinct(c, 0.01) from c'),
('select bf_agg(distinct c, 10) from c'),
('select bf_agg(c, 10 order by t) filter (where t > '''') from c'),
('select bf_agg(c, 10) over () from c'),
('select bf_agg(c, 10, 0.01) over (order by t) from c'),
('select bf_agg(c, 10, 0.01, ''guava'', 2) over (partition by t) from c'),
('select bf_agg(c) over () from c'),
('select bf_agg_into(bf_create(10), c) over () from c'),
('select bf_agg_distinct(c, 0.01) over () from c'),
('select bf_agg(c, 10) filter (where t = ''a'') over (order by t) from c'),
('select bf_agg(c, 10) filter (where false) over () from c'),
('select bf_agg(c, 10) over (rows between 3 following and 4 following) from c'),
('select bf_agg(t, 10) over w, bf_agg(c, 10) over w from c window w as (order by t)'),
('select bf_agg(c, 10) over w, bf_agg(t, 10) over w from c window w as (order by t)')) v(query);
-- What is of the type declared is taken, beside other calls as well.
select bf_agg(t, 10) over w = bf_agg(v, 10) over w as varchar, bf_agg(t, 10) over w = bf_agg(c::text, 10) over w as cast_,
       bf_agg(t) over w = bf_agg_distinct(t, 0.03) over w as distinct, count(c) over w, row_number() over w,
       bf_agg_into(bf_create(10), v) over w = bf_agg(t, 10) over w as into
from c window w as (order by t);
drop table p, many, c;
set client_min_messages = warning;
drop type folded cascade;
