-- bf_agg_into: rows into a filter that is given; bf_agg_distinct, which sizes
-- itself at a probability; and what is said of filters that hold too much.
\set VERBOSITY terse

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate || ' ' || sqlerrm;
end $$;
create temp table e as select 'é' || i as x, i, i::bigint as l, i % 3 as g, ('\x' || md5(i::text))::bytea as b, md5(i::text)::uuid as u
from generate_series(1, 3000) i;
insert into e select null from generate_series(1, 10);
insert into e select * from e where i % 7 = 0;

-- Every filter there is to give, over text: what bf_add_all makes of it.
create temp table given (id serial, f bloomfilter);
insert into given (f)
select bf_create(n, p, s, funnel) from (values (0), (1), (100), (5000)) n(n), (values (0.2), (0.001)) p(p),
    (values ('guava'), ('guava32'), ('redisson'), ('magnuss'), ('tale2009'), ('cassandra'), ('redisbloom'), ('spark1'), ('spark2'), ('bitsandblooms'), ('parquet')) s(s), (values (null), ('utf8'), ('utf16')) f(funnel)
where pg_temp.outcome(format('select bf_create(%s, %s, %L, %L)', n, p, s, funnel)) = 'ok';
insert into given (f) select bf_create(n, 0.01, s, counting => true) from (values (1), (1000)) n(n), (values ('guava'), ('guava32')) s(s);
insert into given (f) values (bf_create_bits(1, 1)), (bf_create_bits(12345, 7, 'guava', 'utf16')), (bf_create_bits(64, 255, 'magnuss')), (bf_create_buckets(1000, 12));
set bloomext.overfull_notice = off;
create temp table elements as select array_agg(x order by i) as a from e where x is not null;
select count(*) > 100 as many, count(*) filter (where made <> bf_add_all(f, a)) as wrong,
       count(*) filter (where (bf_info(made)).fpp is distinct from (bf_info(f)).fpp) as other
from (select id, f, (select bf_agg_into(f, x order by i) from e) as made from given) s, elements;
-- The filter as a column of the rows: in the table, or in TOAST.
select count(*) > 100 as many, count(*) filter (where (bf_info(f)).bytes > 3000) > 10 as toasted, count(*) filter (where made <> bf_add_all(f, a)) as wrong
from (select id, bf_agg_into(f, x order by i) as made from given, e group by id) s join given using (id), elements;
-- The other kinds of elements, and no funnel but the kind's own.
select bf_agg_into(bf_create(3000), b) = bf_agg(b, 3000) as bytea, bf_agg_into(bf_create(3000), u) = bf_agg(u, 3000) as uuid,
       bf_agg_into(bf_create(3000), i) = bf_agg(i, 3000) as int4, bf_agg_into(bf_create(3000), l) = bf_agg(l, 3000) as int8,
       bf_agg_into(bf_create(3000, funnel => 'int'), l) = bf_agg(i, 3000) as int_, bf_agg_into(bf_create(3000, funnel => 'long'), i::smallint) = bf_agg(l, 3000) as long,
       bf_agg_into(bf_create(10), 'literal') = bf_create(10) + 'literal' as literal
from e;
-- FILTER, groups, windows.
select bf_agg_into(bf_create(1000, funnel => 'utf16'), x) filter (where g = 1) = bf_add_all(bf_create(1000, funnel => 'utf16'), array_agg(x) filter (where g = 1)) as filter,
       bf_agg_into(bf_create(1000, counting => true), x) = bf_add_all(bf_create(1000, counting => true), array_agg(x)) as counted
from e;
select g, bf_agg_into(bf_create(1000), x) = bf_agg(x, 1000) as same from e group by g order by g;
select count(*), count(*) filter (where f is distinct from bf_add_all(bf_create(20, funnel => 'utf16'), coalesce(a, '{}'))) as wrong
from (select bf_agg_into(bf_create(20, funnel => 'utf16'), x) over w as f, array_agg(x) over w as a
      from e where i < 100 window w as (order by i rows between 3 following and 5 following)) s;

-- No rows, or only NULLs: the filter, for such elements.
select bf_agg_into(bf_create(100, 0.01, 'guava32', 'utf16'), x) = bf_create(100, 0.01, 'guava32', 'utf16') as given_,
       bf_agg_into(bf_create(100), x) = bf_create(100, funnel => 'utf8') as bound, bf_agg_into(bf_create(100), i) = bf_create(100, funnel => 'int') as bound,
       bf_agg_into(bf_create(100, counting => true, expansion => 0), l) = bf_create(100, counting => true, funnel => 'long') as counting,
       bf_agg_into((select f from given where (bf_info(f)).funnel = 'utf16' order by id limit 1), x) =
       (select f from given where (bf_info(f)).funnel = 'utf16' order by id limit 1) as stored,
       bf_agg_into(f, x) is null as column
from given, e where x = 'none';
select bf_agg_into(bf_create(100, funnel => 'utf16'), x) = bf_create(100, funnel => 'utf16') as nulls from e where x is null;
-- A parameter that changes from scan to scan, and a prepared one.
select id, (select bf_agg_into(f, x) from e where i < 10) = bf_add_all(f, array(select x from e where i < 10)) as same
from (select id, f from given union all select 0, bf_create(7) union all select -1, bf_create(7)) s where id < 4 order by id;
prepare into_(bloomfilter) as select bf_agg_into($1, x) from e where i < 10;
set plan_cache_mode = force_generic_plan;
execute into_(bf_create(2, 0.5, funnel => 'utf16'));
execute into_(bf_create(2, 0.5));
execute into_(null);
reset plan_cache_mode;

-- What cannot be given.
create temp table twice (id int, f bloomfilter);
insert into twice select i, bf_create(100 + i / 3 * 5000) from generate_series(1, 4) i;
insert into twice select 10 + i, bf_create(100000 + i / 3) from generate_series(1, 4) i;
select query, pg_temp.outcome(query) from (values
('select bf_agg_into(null, x) from e'),
('select bf_agg_into(null, x) from e where x is null'),
('select bf_agg_into(case when i < 2999 then bf_create(10) end, x) from e'),
('select bf_agg_into(bf_create(10) + ''a''::text, x) from e'),
('select bf_agg_into(bf_create(10) + ''a''::text, x) from e where x = ''none'''),
('select bf_agg_into(bf_create(10, counting => true) + ''a''::text, x) from e'),
('select bf_agg_into(bf_create(100000) + ''a''::text, x) from e'),
('select bf_agg_into(bf_create(10, expansion => 2), x) from e'),
('select bf_agg_into(case when i < 3000 then bf_create(10) else bf_create(10) + x end, x) from e where x > '''''),
('select bf_agg_into(bf_create(10 + i / 3000), x) from e where i > 0'),
('select bf_agg_into(bf_create(10, 0.01 + i / 3000 * 0.0001), x) from e where i > 0'),
('select bf_agg_into(bf_create(10, 0.01, case i when 3000 then ''guava32'' else ''guava'' end), x) from e where i > 0'),
('select bf_agg_into(bf_create(10, 0.01, funnel => case i when 3000 then ''utf16'' else ''utf8'' end), x) from e where i > 0'),
('select bf_agg_into(f, x) from twice, e where id < 3'),
('select bf_agg_into(f, x) from twice, e where id < 4'),
('select bf_agg_into(f, x) from twice, e where id in (11, 12)'),
('select bf_agg_into(f, x) from twice, e where id > 10'),
('select bf_agg_into(bf_create(10, funnel => ''utf8''), i) from e'),
('select bf_agg_into(bf_create(10, funnel => ''int''), l + 4000000000) from e'),
('select bf_agg_into(bf_create(10), i::numeric) from e')) v(query);

-- ---------------------------------------------------------------------------
-- bf_agg_distinct: bf_agg without a size, but with a probability
-- ---------------------------------------------------------------------------
select p, bf_agg_distinct(x, p) = bf_agg(x, 3000, p) as text, bf_agg_distinct(i, p) = bf_agg(i, 3000, p) as int4,
       bf_agg_distinct(x, p) filter (where g = 1) = bf_agg(x, 1000, p) filter (where g = 1) as filter, (bf_info(bf_agg_distinct(b, p))).expected
from e, (values (0.5), (0.03), (0.0001)) v(p) group by p order by p;
select bf_agg_distinct(x, 0.03) = bf_agg(x) as same, bf_agg_distinct(x, 0.03) filter (where false) is null as none, bf_agg_distinct(x, 0.1) filter (where i is null) is null as nulls from e;
set work_mem = '64kB';
select bf_agg_distinct(i % 20000, 0.001) = bf_agg(i % 20000, (select (bf_info(bf_agg_distinct(j, 0.001))).expected from generate_series(0, 19999) j), 0.001) as spilled
from generate_series(1, 50000) i;
reset work_mem;
select query, pg_temp.outcome(query) from (values
('select bf_agg_distinct(x, null) from e'),
('select bf_agg_distinct(x, 0) from e'),
('select bf_agg_distinct(x, ''-0'') from e'),
('select bf_agg_distinct(x, ''NaN'') from e'),
('select bf_agg_distinct(x, 0.01 + i / 3000 * 0.01) from e where i > 0')) v(query);

-- ---------------------------------------------------------------------------
-- A notice, once a statement, of filters ten times worse than was wanted
-- ---------------------------------------------------------------------------
reset bloomext.overfull_notice;
\set VERBOSITY default
select bf_agg(x, 10, 0.001) is null as sized from e;
select bf_agg_into(bf_create(10, 0.001), x) is null as into from e;
select bf_union_agg(f) is null as union_ from (select bf_agg(x, 100, 0.001) as f from e group by i % 30) s;
\set VERBOSITY terse
select bf_agg_into(bf_create(10, 0.001, counting => true), x) is null as counting from e;
select bf_agg(i, 10, 0.001, 'tale2009') is null as tale from e;
select count(f) as groups from (select bf_agg(x, 10, 0.001) as f from e group by g) s;
select count(f) as frames from (select bf_agg(x, 10, 0.001) over (order by i rows 100 preceding) as f from e) s;
select bf_agg(x, 10, 0.001, 'guava', 1) is null as equal_layers from e;
do $$ begin for i in 1 .. 3 loop perform bf_agg(x, 10, 0.001) from e; end loop; end $$;
-- Not of what fits, repeats, grows, wanted little, or does not know.
select bf_agg(x, 3000, 0.001) is null as fits, bf_agg('same', 2, 0.001) is null as repeats, bf_agg(x, 10, 0.001, 'guava', 2) is null as grows,
       bf_agg(x, 10, 0.1) is null as little, bf_agg_into(bf_create_bits(64, 3), x) is null as unknown, bf_agg(x, 2000, 0.01) is null as more,
       bf_agg(x) is null as itself, bf_agg_distinct(x, 0.001) is null as distinct from e;
set bloomext.overfull_notice = off;
select bf_agg(x, 10, 0.001) is null as off from e;
