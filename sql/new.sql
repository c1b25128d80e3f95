-- bf_new: what is surely not in a filter, each once, in the order of the array.
\set VERBOSITY terse

select * from bf_new(bf_add_all(bf_create(1000), array[1, 2, 3]), array[5, 1, 4, NULL, 5, 4, 2, 6]);
select * from bf_new(bf_create(1000), '{{b,a},{NULL,b}}'::text[]);
select * from bf_new(bf_create(1000), '{}'::text[]);
select * from bf_new(bf_create(1000), null::text[]);
select * from bf_new(null, array[1]);
select pg_typeof(n) from bf_new(bf_create(1000), array['x']::varchar[]) n union all
select pg_typeof(n) from bf_new(bf_create(1000), array[date '2020-01-01']) n;
-- Without FROM, beside another set, and of no further interest.
select bf_new(bf_create(1000), array['b', 'a', 'b']), generate_series(1, 3);
select n from bf_new(bf_create(1000), array[3, 2, 1]) n limit 1;

-- All kinds of elements, as SQL compares them: the first of equal ones comes.
create function pg_temp.differs(f bloomfilter, list anyarray) returns boolean language sql as $$
select array(select bf_new(f, list))::text is distinct from array(
    select e from (select distinct on (e) e, i from unnest(list) with ordinality u (e, i) where not bf_contains(f, e) order by e, i) d order by i)::text
$$;
select 'text' where pg_temp.differs(bf_create(1000) + 'x', array['b', 'x', '', 'B', 'b ', 'b', NULL, '', repeat('b', 70000), repeat('b', 70000), repeat('b', 70001)]) union all
select 'char' where pg_temp.differs(bf_create(1000), array['b', 'a', 'b ', 'b  ', 'a']::char(3)[]) union all
select 'name' where pg_temp.differs(bf_create(1000) + 'x'::name, array['b', 'x', 'b', 'a', 'b']::name[]) union all
select 'bytea' where pg_temp.differs(bf_create(1000), array['\x00', '\x', '\x0000', '\x00', '\x']::bytea[]) union all
select 'uuid' where pg_temp.differs(bf_create(1000), array['c0ffee00-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', 'c0ffee00-0000-0000-0000-000000000000']::uuid[]) union all
select 'macaddr' where pg_temp.differs(bf_create(1000), array['08:00:2b:01:02:03', '08:00:2b:01:02:04', '08:00:2b:01:02:03']::macaddr[]) union all
select 'inet' where pg_temp.differs(bf_create(1000), array['10.0.0.1', '10.0.0.1/8', '::', '10.0.0.1/32', 'fe80::1', '::']::inet[]) union all
select 'boolean' where pg_temp.differs(bf_create(1000), array[true, false, null, true]) union all
select '"char"' where pg_temp.differs(bf_create(1000), array['b', 'a', 'b']::"char"[]) union all
select 'smallint' where pg_temp.differs(bf_create(1000) + 7::smallint, array[3, 7, -3, 3, 32767]::smallint[]) union all
select 'int' where pg_temp.differs(bf_create(1000) + 7, array[3, 7, -3, 3, null, -2147483648]) union all
select 'bigint' where pg_temp.differs(bf_create(1000), array[3, 4294967299, -3, 3]) union all
select 'oid' where pg_temp.differs(bf_create(1000), array[3, 4294967295, 3]::oid[]) union all
select 'date' where pg_temp.differs(bf_create(1000), array['infinity', '2020-01-01', '-infinity', '2020-01-01', 'infinity']::date[]) union all
select 'timestamp' where pg_temp.differs(bf_create(1000), array['infinity', '2020-01-01', '-infinity', '2020-01-01']::timestamp[]) union all
select 'timestamptz' where pg_temp.differs(bf_create(1000), array['infinity', '2020-01-01', '2020-01-01']::timestamptz[]);
create domain word as text;
select * from bf_new(bf_create(1000), array['b', 'a', 'b']::word[]);
-- Texts that a filter of char(n) takes for one are one, others are two.
select '<' || n || '>' as text from bf_new(bf_create(1000) + 'x', array['a ', 'a', 'x ', 'a ']) n;
select '<' || n || '>' as text from bf_new(bf_create(1000) + 'x'::char(2), array['a ', 'a', 'x ', 'a ']) n;
-- An integer that the filter cannot hold is not in it.
select * from bf_new(bf_create(1000, funnel => 'int') + 1, array[5000000000, 1, 2, 5000000000]);

-- Many, of all strategies, and stored filters: none is lost that is not found.
create table stored as
select strategy, bf_add_all(bf_create(20000, 0.01, strategy), array_agg('a' || i)) as f
from unnest(array['guava', 'guava32', 'redisson', 'magnuss', 'tale2009', 'cassandra', 'redisbloom', 'spark1', 'spark2', 'bitsandblooms', 'parquet']) strategy, generate_series(1, 10000) i
group by strategy;
insert into stored select 'growing', bf_add_all(bf_create(1000, 0.01, expansion => 2), array_agg('a' || i)) from generate_series(1, 10000) i;
create temp table list as select array_agg('a' || i * 7919 % 15000 order by i) as texts from generate_series(1, 40000) i;
select strategy from stored, list where pg_temp.differs(f, texts);
select strategy, n from stored, list, lateral (select count(*) as n from bf_new(f, texts)) c where n not between 4500 and 5000;
drop table stored;

-- More than work_mem, and far more distinct ones than there is room for at first.
set work_mem = '64kB';
select count(*), sum(n), min(n), max(n) from bf_new(bf_create(10), array(select i % 150000 from generate_series(1, 300000) i)) n;
reset work_mem;
-- So many that some share a hash.
select count(*) from bf_new(bf_create(10), array(select md5((i % 200000)::text) from generate_series(1, 400000) i)) n;

-- What is left out as the filter is over-full is told, once a statement, and only if something was left out.
\set VERBOSITY default
select count(*) < 100 as few from bf_new(bf_add_all(bf_create(100), array(select generate_series(1, 5000))), array(select generate_series(5001, 6000)));
\set VERBOSITY terse
select count(*) from (select bf_new(bf_add_all(bf_create(10 * i), array(select generate_series(1, 1000))), array[1]) from generate_series(1, 3) i) s;
select * from bf_new(bf_add_all(bf_create(10, 0.001), array(select generate_series(1, 30))), array[1001, 1002]);
-- So it is of a filter of which only a part was read.
create temp table overfull as select bf_agg(i, 20000, 0.01) as f, bf_agg(i, 20000, 0.01, 'guava', 1) as g from generate_series(1, 10) i;
update overfull set f = bf_add_all(f, array(select generate_series(1, 80000))), g = bf_add_all(g, array(select generate_series(1, 300000)));
select count(*) from overfull, bf_new(f, array[1]);
select count(*) from overfull, bf_new(g, array[1]);
-- Not of what fits, grows, wanted little, does not know, or where that is not wanted.
select (select count(*) from bf_new(bf_add_all(bf_create(1000), list), list)) as fits,
       (select count(*) from bf_new(bf_add_all(bf_create(10, expansion => 2), list), list)) as grows,
       (select count(*) from bf_new(bf_add_all(bf_create(10, 0.1), list), list)) as little,
       (select count(*) from bf_new(bf_add_all(bf_create_bits(64, 3), list), list)) as unknown
from (select array(select generate_series(1, 1000)) as list) l;
set bloomext.overfull_notice = off;
select count(*) from bf_new(bf_add_all(bf_create(100), array(select generate_series(1, 5000))), array[1]);
reset bloomext.overfull_notice;

\set VERBOSITY sqlstate
select * from bf_new(bf_create(10) + 'a', array[1]);
select * from bf_new(bf_create(10), array[1.5]);
select * from bf_new(bf_create(10), 'a'::text);
select * from bf_new(bf_create(10), array[row(1, 'a')]) n (i int, t text);
