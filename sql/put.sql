-- bf_put: which rows surely come for the first time, in the order of a window.
\set VERBOSITY terse

create temp table rows as select i as id, i % 5 as part, 'title ' || (i * 7919 % 3000) as title from generate_series(1, 10000) i;

-- Without false positives, it is row_number() = 1 of each title.
select count(*) filter (where new) as new, count(*) filter (where new <> (n = 1)) as other
from (select bf_put(title, 3000, 1e-9) over (order by id) as new, row_number() over (partition by title order by id) as n from rows) s;
select count(*) filter (where new) as new, count(*) filter (where new <> (n = 1)) as other
from (select bf_put(title, 3000, 1e-9) over (order by id desc) as new, row_number() over (partition by title order by id desc) as n from rows) s;
-- A partition knows nothing of the others, and has a size of its own.
select count(*) filter (where new) as new, count(*) filter (where new <> (n = 1)) as other
from (select bf_put(title, 3000, 1e-9) over (partition by part order by id) as new, row_number() over (partition by part, title order by id) as n from rows) s;
select count(*) filter (where new) as new, count(*) filter (where new <> (n = 1)) as other
from (select bf_put(title, 2000 + part, 1e-9) over (partition by part order by id) as new, row_number() over (partition by part, title order by id) as n from rows) s;
-- Frames do not matter, nor do peers.
select count(*) filter (where new <> framed) as framed, count(*) filter (where new <> (n = 1)) as other from (
    select bf_put(title, 3000, 1e-9) over (order by id) as new, bf_put(title, 3000, 1e-9) over (order by id rows between 3 following and 5 following) as framed,
           row_number() over (partition by title order by id) as n from rows) s;
select count(*) filter (where new) as new from (select bf_put(title, 3000, 1e-9) over (order by part) as new from rows) s;
-- All strategies, with false positives: what is said to be new was never there.
create function pg_temp.wrong(strategy text) returns bigint language sql as $$
select count(*) filter (where new and n > 1) from (
    select bf_put(title, 3000, 0.01, strategy) over w as new, row_number() over (partition by title order by id) as n from rows window w as (order by id)) s $$;
create function pg_temp.lost(strategy text) returns bigint language sql as $$
select count(*) filter (where not new and n = 1) from (
    select bf_put(title, 3000, 0.01, strategy) over w as new, row_number() over (partition by title order by id) as n from rows window w as (order by id)) s $$;
select strategy, pg_temp.wrong(strategy) as wrong, pg_temp.lost(strategy) < 60 as few_lost
from unnest(array['guava', 'guava32', 'redisson', 'magnuss', 'tale2009', 'cassandra', 'redisbloom', 'spark1', 'spark2', 'bitsandblooms', 'parquet']) strategy
where pg_temp.wrong(strategy) > 0 or pg_temp.lost(strategy) >= 60;
-- As asking and adding tells it.
create function pg_temp.one_by_one() returns setof boolean language plpgsql as $$
declare
    f bloomfilter := bf_create(3000, 0.1);
    t text;
begin
    for t in select title from rows order by id loop
        return next not f @> t;
        f := f + t;
    end loop;
end $$;
select count(*) filter (where new <> o), count(*) filter (where o) from (
    select bf_put(title, 3000, 0.1) over (order by id) as new, row_number() over (order by id) as n from rows) s
join pg_temp.one_by_one() with ordinality u (o, n) using (n);

-- NULL, and elements of other types.
select x, bf_put(x, 100, 0.001) over (order by i) from (values (1, 'a'), (2, null), (3, 'b'), (4, 'a'), (5, null)) v (i, x);
select x, bf_put(x, 100, 0.001) over (order by i) from (values (1, date '2020-01-01'), (2, 'infinity'), (3, '2020-01-01')) v (i, x);
select count(*) from (select bf_put(null::int, 100, 0.001) over () as new from rows) s where new is not null;
select bf_put(x, 100, 0.001) over (order by i) from (values (1, 'a'::char(3)), (2, 'a '), (3, 'b')) v (i, x);
select bf_put('a', 100, 0.001) over () from generate_series(1, 2);
-- Parameters that the plan does not know are the same for all rows, too.
select count(*) filter (where new) as new from (select bf_put(title, (select count(*) from rows), 1e-9) over () as new from rows) s;
prepare p (bigint, float8, text) as select count(*) filter (where new) as new from (select bf_put(title, $1, $2, $3) over () as new from rows) s;
execute p (3000, 1e-9, 'guava');
set plan_cache_mode = force_generic_plan;
execute p (3000, 1e-9, 'redisson');
-- Scanned again, it starts anew.
select n, (select count(*) filter (where new) from (select bf_put(i % n, 100, 1e-9) over () as new from generate_series(1, 20) i) s) as new from unnest(array[3, 5, 3]) n;

-- Far too many elements, told once; and as many as was said.
\set VERBOSITY default
select count(*) filter (where new) < 3000 as new from (select bf_put(title, 300, 0.001) over () as new from rows) s;
\set VERBOSITY terse
select count(*) filter (where new) < 3000 as new from (select bf_put(title, 10, 0.001) over (partition by part) as new from rows) s;
set bloomext.overfull_notice = off;
select count(*) filter (where new) < 3000 as new from (select bf_put(title, 300, 0.001) over () as new from rows) s;

\set VERBOSITY sqlstate
select bf_put(id, id, 0.001) over () from rows;
select bf_put(id, 100, 0.001 / id) over () from rows;
select bf_put(id, 100, 0.001, case id when 1 then 'guava' else 'guava32' end) over (order by id) from rows;
select bf_put(id, null, 0.001) over () from rows;
select bf_put(id, 100, null) over () from rows;
select bf_put(id, 100, 0.001, null) over () from rows;
select bf_put(id, -1, 0.001) over () from rows;
select bf_put(id, 100, 1) over () from rows;
select bf_put(id, 100, 0.001, 'none') over () from rows;
select bf_put(1.5, 100, 0.001) over () from rows;
-- As a collation of ICU's is, which not every server has.
create collation pg_temp.folding (provider = libc, locale = 'C');
update pg_collation set collisdeterministic = false where oid = 'pg_temp.folding'::regcollation;
select bf_put(title collate pg_temp.folding, 100, 0.001) over () from rows;
alter table rows alter title type text collate pg_temp.folding;
select bf_put(title, 100, 0.001, 'guava' collate "C") over () from rows;
select count(new) from (select bf_put(title collate "C", 100, 0.001) over () as new from rows) s;
select bf_put(id, 100, 0.001) from rows;
