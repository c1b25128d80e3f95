-- bf_covers: whether all that a filter holds is in another one.
\set VERBOSITY terse

-- All strategies: what was added to is what was there, and not the other way.
create temp table kinds as
select s.strategy, kind, case kind
       when 'fixed' then bf_create(300, 0.03, strategy)
       when 'growing' then bf_create(100, 0.03, strategy, expansion => 2)
       else bf_create(300, 0.03, strategy, counting => true) end as f
from unnest(array['guava', 'guava32', 'redisson', 'magnuss', 'tale2009', 'cassandra', 'redisbloom', 'spark1', 'spark2', 'bitsandblooms', 'parquet']) s (strategy),
     unnest(array['fixed', 'growing', 'counting']) kind
where kind <> 'counting' or strategy in ('guava', 'guava32', 'spark1', 'spark2');
create temp table grown as
select strategy, kind, n, bf_add_all(f, array(select 'e' || i from generate_series(1, n) i)) as f
from kinds, unnest(array[0, 50, 100, 220, 300, 700]) n where kind = 'growing' or n <= 300;
select a.strategy, a.kind, a.n, b.n as of, bf_covers(a.f, b.f) as covers
from grown a join grown b using (strategy, kind)
where bf_covers(a.f, b.f) <> (a.n >= b.n or bf_contains_all(a.f, array(select 'e' || i from generate_series(1, b.n) i)))
order by 1, 2, 3, 4;
select kind, count(*) as pairs, count(*) filter (where bf_covers(a.f, b.f)) >= count(*) / 2 as covered, bool_or(not bf_covers(a.f, b.f)) as some_not,
       bool_or((bf_info(a.f)).layers <> (bf_info(b.f)).layers and bf_covers(a.f, b.f)) as grown_further
from grown a join grown b using (strategy, kind) group by 1 order by 1;
-- Of strangers, too, all that looks to be in b looks to be in a, where a covers b.
select a.strategy, a.kind, a.n, b.n from grown a join grown b using (strategy, kind)
where a.n <> b.n and bf_covers(a.f, b.f) and exists (select from generate_series(1, 3000) i where b.f @> ('x' || i) and not a.f @> ('x' || i));

-- The element that made a filter grow is in the new layer alone.
do $$
declare
    f bloomfilter := bf_create(10, 0.001, 'redisbloom', expansion => 2);
    before bloomfilter;
begin
    for i in 1 .. 100 loop
        before := f;
        f := f + i;
        exit when (bf_info(f)).layers = 2;
    end loop;
    assert (bf_info(f)).layers = 2 and bf_covers(f, before), 'an older filter has more';
    assert not bf_covers(before, f), 'a layer was left out';
end $$;

-- A union covers both, and an intersection is covered.
select bf_covers(f | g, f) and bf_covers(f | g, g) as union, bf_covers(f, f & g) and bf_covers(g, f & g) as intersection, bf_covers(f, g) as apart, bf_covers(f, f) as itself
from (select bf_agg(i, 1000) as f, bf_agg(-i, 1000) as g from generate_series(1, 500) i) s;
-- Of counters, how much they count does not matter.
select bf_covers(f + 'a', f + 'a' + 'a') as less, bf_covers(f + 'a', f + 'a' + 'b') as other, bf_covers(bf_remove(f + 'a' + 'b', 'b'), f + 'a' + 'b') as removed
from (select bf_create(100, counting => true) as f) s;

-- What holds nothing is in all that could hold it.
select bf_covers(bf_create(100) + 'a', bf_create(100)) as unbound, bf_covers(bf_create(100), bf_create(100) + 'a') as by_unbound,
       bf_covers(bf_create(100), bf_create(100)) as both, bf_covers(bf_create(100, expansion => 2), bf_create(100, expansion => 2) + 'a') as growing;
select bf_covers(bf_create(100) + 'a', null) as none, bf_covers(null, bf_create(100)) as no_filter;

-- A filter of char(n) looks up no blanks, which one of nobody knows what may have.
select bf_covers(c, u) as unknown, bf_covers(u, c) as char, bf_covers(c, bf_create(100)) as unbound,
       bf_covers(c, bf_create(100, funnel => 'utf8')) as empty
from (select c, bf_import(bf_export(c)) as u from (select bf_create(100) + 'x'::char(3) as c) s) s;

-- Stored filters: all pairs of where they are, with one bit that differs at an end.
create table stored (id int, f bloomfilter);
alter table stored alter f set storage external;
insert into stored select id, f from (select bf_agg(i, 3000000, 0.01) as f from generate_series(1, 1000) i) s, generate_series(1, 3) id;
update stored set f = f + (select i from generate_series(1001, 100000) i where 26000000 < all (bf_positions(f, i)) limit 1) where id = 2;
update stored set f = f + (select i from generate_series(1001, 1000000) i where 26000000 < any (bf_positions(f, i)) limit 1) where id = 3;
create temp table memory as select id, bf_union(f, f) as f from stored;
select pg_column_size(f) > 3000000 as large, count(*) from stored group by 1;
create temp table pairs as
select a.id as a, b.id as b, bf_covers(a.f, b.f) as covers, a.f | b.f = a.f as is_so from memory a, memory b;
select * from pairs where covers <> is_so;
select a, b, covers from pairs where not covers order by 1, 2;
select a.id, b.id from stored a, stored b, pairs where a.id = pairs.a and b.id = pairs.b and bf_covers(a.f, b.f) <> covers;
create table compressed (id int, f bloomfilter);
alter table compressed alter f set storage extended;
insert into compressed select * from memory;
select a.id, b.id from compressed a, stored b, pairs where a.id = pairs.a and b.id = pairs.b and (bf_covers(a.f, b.f) <> covers or bf_covers(b.f, a.f) <> (select p.covers from pairs p where p.a = pairs.b and p.b = pairs.a));
-- Filters of several layers, stored, of which one has more.
truncate stored;
insert into stored select n, bf_add_all(bf_create(1000, 0.001, expansion => 2), array(select i from generate_series(1, n) i)) from unnest(array[500, 5000, 20000]) n;
select a.id, b.id as of, (bf_info(a.f)).layers, (bf_info(b.f)).layers as of_layers, bf_covers(a.f, b.f) from stored a, stored b order by 1, 2;
drop table stored, compressed;

-- What cannot be compared.
\set VERBOSITY sqlstate
select bf_covers(bf_create(100) + 'a', bf_create(200) + 'a');
select bf_covers(bf_create(100) + 'a', bf_create(100, 0.01) + 'a');
select bf_covers(bf_create(100) + 'a', bf_create(100) + 1);
select bf_covers(bf_create(100) + 1, bf_create(100) + date '2020-01-01');
select bf_covers(bf_create(100) + 'a', bf_create(100, 0.03, 'guava32') + 'a');
select bf_covers(bf_create(100) + 'a', bf_create(100, counting => true) + 'a');
select bf_covers(bf_add_all(bf_create(10, expansion => 2), array(select i from generate_series(1, 100) i)), bf_create(10, expansion => 3) + 1);
