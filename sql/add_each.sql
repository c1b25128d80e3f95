-- bf_add_each: the filter of bf_add_all, and which elements were new, as asking
-- and adding one after the other tells it.
\set VERBOSITY terse

create function pg_temp.one_by_one(f bloomfilter, elements anyarray, out filter bloomfilter, out added boolean[])
language plpgsql as $$
begin
    filter := f;
    for i in 1 .. cardinality(elements) loop
        added[i] := not bf_contains(filter, elements[i]);
        filter := bf_add(filter, elements[i]);
    end loop;
end $$;

create temp table kinds as
select s.strategy, kind, case kind
       when 'fixed' then bf_create(200, 0.03, strategy)
       when 'growing' then bf_create(100, 0.03, strategy, expansion => 2)
       else bf_create(200, 0.03, strategy, counting => true) end as f
from unnest(array['guava', 'guava32', 'redisson', 'magnuss', 'tale2009', 'cassandra', 'redisbloom', 'spark1', 'spark2', 'bitsandblooms', 'parquet']) s (strategy),
     unnest(array['fixed', 'growing', 'counting']) kind
where kind <> 'counting' or strategy in ('guava', 'guava32', 'spark1', 'spark2');

-- 1,500 elements, more than are hashed at once, of which every third comes twice,
-- near by or far off, and far too many for most of these filters.
set bloomext.overfull_notice = off;
create temp table elements as
select array_agg(case when i % 3 = 0 then 'e' || i / 2 else 'e' || i end order by i) as texts from generate_series(1, 1500) i;

select strategy, kind, e.filter = o.filter as filter, e.added = o.added as added, bf_add_all(f, texts) = e.filter as like_all,
       bf_contains_all(e.filter, texts) as holds_all
from kinds, elements, bf_add_each(f, texts) e, pg_temp.one_by_one(f, texts) o
where e.filter <> o.filter or e.added <> o.added or bf_add_all(f, texts) <> e.filter or not bf_contains_all(e.filter, texts);
select count(*) as filters, bool_and(bf_count(filter) > 0) as some, min(array_length(added, 1)) as answers from kinds, elements, bf_add_each(f, texts);
-- Those that grow did, and what was there before is not new.
select strategy from kinds, elements, bf_add_each(f, texts) e where kind = 'growing' and (bf_info(e.filter)).layers < 2;
select strategy, kind from kinds, elements, bf_add_each(f, texts) e, bf_add_each(e.filter, texts) again where true = any (again.added);
-- A counting filter counts what comes again.
select bf_contains(bf_remove(filter, 'a'), 'a') as twice, bf_contains(bf_remove(bf_remove(filter, 'a'), 'a'), 'a') as gone, added
from bf_add_each(bf_create(10, counting => true), array['a', 'b', 'a']);

-- A stored filter stays as it is.
create table stored (f bloomfilter);
insert into stored select bf_agg('a' || i, 1000000, 0.01) from generate_series(1, 1000) i;
select (select count(*) from unnest(added) a where a) between 980 and 1000 as new, bf_contains_all(e.filter, x.list) as holds,
       not bf_contains_all(f, x.list) as unchanged
from stored, (select array_agg('a' || i order by i) as list from generate_series(1, 2000) i) x, bf_add_each(f, x.list) e;
update stored set f = (bf_add_each(f, array['b'])).filter;
select f @> 'b', f @> 'a1' from stored;
drop table stored;

-- Shapes and NULLs.
select added from bf_add_each(bf_create(100), '{}'::text[]);
select added from bf_add_each(bf_create(100), '[5:7]={1,NULL,1}'::int[]);
select added from bf_add_each(bf_create(100), '{{a,b},{NULL,a}}'::text[]);
select added, bf_info(filter) = bf_info(bf_create(100)) as as_it_was from bf_add_each(bf_create(100), array[NULL, NULL]::text[]);
select added is null as no_array, filter = bf_create(100) as filter from bf_add_each(bf_create(100), null::int[]);
select added is null as no_filter, filter is null as filter from bf_add_each(null, array[1]);

-- Elements of every kind, and those that there are not.
select added, filter @> date '2020-01-01' as date from bf_add_each(bf_create(100), array[date '2020-01-01', 'infinity', '2020-01-01']);
select added from bf_add_each(bf_create(100), array[inet '10.0.0.1', '10.0.0.1/32', '10.0.0.1/8']);
select added from bf_add_each(bf_create(100), array['a ', 'a', 'a  ']::char(3)[]);
\set VERBOSITY sqlstate
select bf_add_each(bf_create(100, funnel => 'int'), array[1, 5000000000]);
select bf_add_each(bf_create(100) + 'a', array[1]);
select bf_add_each(bf_create(100), array[1.5]);
select bf_add_each(bf_create(100), null::numeric[]);
select bf_add_each(bf_create(100), 'a'::text);
