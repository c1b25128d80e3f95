-- bf_agg(ELEM) and bf_agg_distinct beyond work_mem: a filter is that of the size
-- that it says, which is near the number of distinct elements, and its bits keep
-- the promised probability.
\set VERBOSITY terse
set work_mem = '64kB';
set max_parallel_workers_per_gather = 0;

-- What is wrong with a filter that holds so many distinct elements; `whole` is
-- the filter of the same elements, made for the size that the first one says.
create function pg_temp.wrong(f bloomfilter, whole bloomfilter, n_distinct bigint, wanted float8) returns text language sql as $$
    select concat_ws(', ', case when f <> whole then 'bits' end,
                     case when expected not between n_distinct * 0.99 and n_distinct * 1.05 then 'size ' || expected || ' for ' || n_distinct end,
                     case when expected = n_distinct then 'not spilled' end,
                     case when estimated_fpp > wanted then 'probability ' || estimated_fpp end)
    from bf_info(f)
$$;
create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

-- ---------------------------------------------------------------------------
-- Distributions, ten seeds each; prints what disagrees
-- ---------------------------------------------------------------------------
-- All distinct; one value behind what overflows; few values, each often; and
-- the frequent and rare ones of a power law.
create temp table elements as
select distribution, seed, array_agg(x) as x, array_agg('Title ' || x) as t, count(distinct x) as elements
from generate_series(1, 10) seed, generate_series(1, 12000) i,
    lateral (select hashint8extended(i, seed) & 2147483647 as r) h,
    lateral (values ('distinct', i * 10 + seed), ('one', case when i > 5000 then seed else i * 10 + seed end),
                    ('few', (r % 6000)::int), ('power', (1e6 * (r / 2147483648.0::float8) ^ 4)::int)) v(distribution, x)
group by 1, 2;
select e.distribution, e.seed, p, wrong
from elements e, (values (0.03), (0.0001)) v(p),
    lateral (select pg_temp.wrong(f, bf_add_all(bf_create((bf_info(f)).expected, p, funnel => 'int'), e.x), elements, p)
             from (select bf_agg_distinct(x, p) as f from unnest(e.x) x offset 0) s
             union all
             select pg_temp.wrong(f, bf_add_all(bf_create((bf_info(f)).expected, p), e.t), elements, p)
             from (select bf_agg_distinct(t, p) as f from unnest(e.t) t offset 0) s) w(wrong)
where wrong <> '';

-- Any probability between 0 and 1, which for few elements has no bit of its own.
select p, n from (values (0.7::float8), (0.9), (0.999)) v(p), (values (1), (2), (1000)) w(n), lateral (select bf_agg_distinct(x, p) as f from generate_series(1, n) x) s
where exists (select from generate_series(1, n) x where not f @> x);
-- Where rounding k makes Guava's size promise too much, the size makes up for
-- it; and where the probability is tiny.
select p, expected, estimated_fpp
from (values (0.61::float8), (0.55), (0.4), (0.36), (0.353), (0.3), (1e-15)) v(p),
    lateral (select bf_agg_distinct(x, p) as f from generate_series(1, 12000) x) s, bf_info(f)
where estimated_fpp > p or expected not between 11900 and 12000 * (case when p > 0.3 then 1.1 else 1.05 end);

-- Integers whose hashes the sketch counts 1.7 % too low, which is more than the
-- margin: the bits tell, and the filter is made anew, 3 % larger.
create temp view unlucky as select i from generate_series(1511400000::bigint, 1511699999) i;
select expected, pg_temp.wrong(f, (select bf_agg(i, expected) from unlucky), 300000, 0.03) = '' as right,
       bf_fpp((select bf_agg(i, (expected / 1.03)::bigint) from unlucky)) > 0.03 as was_too_small
from (select bf_agg(i) as f from unlucky) s, lateral (select (bf_info(f)).expected offset 0) e;

-- ---------------------------------------------------------------------------
-- Groups, frames, rescans
-- ---------------------------------------------------------------------------
-- Many groups at once, of which all overflow.
select g, pg_temp.wrong(f, (select bf_agg(i, n) from generate_series(0, 199999) i where i % 20 = g), 10000, 0.03) as wrong
from (select i % 20 as g, bf_agg(i) as f from generate_series(0, 199999) i group by 1) s, lateral (select (bf_info(f)).expected as n) e
where pg_temp.wrong(f, (select bf_agg(i, n) from generate_series(0, 199999) i where i % 20 = g), 10000, 0.03) <> '';
-- Frames ask again, with more rows or the same in between.
select count(*), count(distinct f::text), count(*) filter (where f = (select bf_agg(j, n) from generate_series(1, least(i / 1000 * 1000 + 999, 12000)) j)) as whole
from (select i, bf_agg(i) over (order by i / 1000) as f from generate_series(1, 12000) i) s, lateral (select (bf_info(f)).expected as n offset 0) e
where i % 500 = 0;
-- For each row of another table anew.
select k, pg_temp.wrong(f, (select bf_agg(i * k, n) from generate_series(1, 7000 * k) i), 7000 * k, 0.03) = '' as right
from generate_series(1, 4) k, lateral (select bf_agg(i * k) as f from generate_series(1, 7000 * k) i) s, lateral (select (bf_info(f)).expected as n offset 0) e;

-- ---------------------------------------------------------------------------
-- The disk
-- ---------------------------------------------------------------------------
-- A value that repeats does not fill it: each time, these would be 16 MB.
set temp_file_limit = '512kB';
select pg_temp.outcome('select bf_agg(case when i < 5000 then i else 1 end) from (select generate_series(1, 1000000) as i) s') as one,
       pg_temp.outcome('select bf_agg(case when i < 5000 then i else i % 100 end) from (select generate_series(1, 1000000) as i) s') as hundred,
       pg_temp.outcome('select bf_agg(i / 100) from (select generate_series(1, 1000000) as i) s') as sorted,
       -- Full, and free again.
       pg_temp.outcome('select bf_agg(i) from (select generate_series(1, 1000000) as i) s') as distinct,
       pg_temp.outcome('select bf_agg(i) from (select generate_series(1, 30000) as i) s') as fits;
reset temp_file_limit;
