-- What aggregates return is their state's own filter: it lasts as long as the
-- executor needs it, and later rows, groups and frames leave it as it was.
set bloomext.overfull_notice = off;

create table g (k int, x text);
insert into g select i % 7, 'x' || i from generate_series(1, 700) i;
insert into g values (7, 'one'), (7, null);
analyze g;
-- The same filters by another way.
create table want as
select k, bf_add_all(bf_create(100, 0.01), array_agg(x)) as f, bf_add_all(bf_create(20, 0.1, expansion => 2), array_agg(x order by x)) as grown
from g group by k;

-- One group after another, and all at once.
create function pg_temp.compare(query text) returns table (strategy text, rows bigint, ok boolean) language plpgsql as $$
begin
    for i in 0 .. 1 loop
        perform set_config('enable_hashagg', (i = 1)::text, true), set_config('enable_sort', (i = 0)::text, true);
        strategy := case i when 0 then 'sorted' else 'hashed' end;
        execute 'select count(*), bool_and(q.f = w.f) from (' || query || ') q join want w using (k)' into rows, ok;
        return next;
    end loop;
end $$;
create temp table queries (query text);
insert into queries values
('select k, bf_agg(x, 100, 0.01) as f from g group by k'),
('select k, bf_agg_into(bf_create(100, 0.01), x) as f from g group by k'),
-- of several in a group, of which some are the same
('select k, case when a = b and b = c then a end as f from (select k, bf_agg(x, 100, 0.01) as a, bf_agg(x, 100, 0.01) as b, bf_agg_into(bf_create(100, 0.01), x) as c from g group by k) s'),
('select k, bf_agg(x, 100, 0.01) as f from g group by k having bf_contains_all(bf_agg(x, 100, 0.01), array_remove(array_agg(x), null))'),
('select k, bf_agg(distinct x, 100, 0.01) as f from g group by k'),
('select k, bf_agg(x, 100, 0.01 order by x desc) as f from g group by k'),
('select k, bf_agg(x, 100, 0.01) filter (where x <> ''none'') as f from g group by k'),
('select k, bf_union_agg(bf_create(100, 0.01) + x) as f from g group by k'),
('select k, bf_union_agg(f) as f from (select k, x > ''x5'', bf_agg(x, 100, 0.01) as f from g group by 1, 2) s group by k'),
-- used when the next group is there
('select k, lag(f) over (order by k desc) as f from (select k + 1 as k, bf_agg(x, 100, 0.01) as f from g group by 1) s'),
('select k, f[k + 1] as f from (select array_agg(f order by k) as f from (select k, bf_agg(x, 100, 0.01) as f from g group by 1) s) s, generate_series(0, 7) k'),
('select k, f from (select k, bf_agg(x, 100, 0.01) as f from g group by 1 offset 0) s order by bloomfilter_hash(f)'),
-- used twice, and in an expression
('select k, f | f as f from (select k, bf_agg(x, 100, 0.01) as f from g group by 1 offset 0) s'),
('select k, bf_agg(x, 100, 0.01) | bf_agg(x, 100, 0.01) as f from g group by 1'),
-- scanned again
('select k, s.f from generate_series(0, 7) k, lateral (select bf_agg(x, 100, 0.01) as f from g where g.k = k.k offset 0) s'),
('select k, (select bf_agg(x, 100, 0.01) from g where g.k = k.k) as f from generate_series(0, 7) k'),
('select k, s.f from generate_series(0, 7) k, lateral (select bf_union_agg(bf_create(100, 0.01) + x) as f from g where g.k = k.k offset 0) s'),
-- side by side
('select k, bf_agg(x, 100, 0.01) as f from g group by grouping sets ((k), ())'),
('select k, bf_agg(x, 100, 0.01) as f from g group by rollup (k, x is null) having grouping(x is null) = 1'),
('select k, bf_agg(x, 100, 0.01) as f from g group by grouping sets ((k), (x))');
create temp table compared as select * from queries, pg_temp.compare(query);
select strategy, rows, ok, count(*) from compared group by 1, 2, 3 order by 1, 2, 3;
select * from compared where ok is not true;
set enable_hashagg = off;
explain (costs off) select k, bf_agg(x, 100, 0.01) as f from g group by k;
reset enable_hashagg;
set enable_sort = off;
explain (costs off) select k, bf_agg(x, 100, 0.01) as f from g group by k;
reset enable_sort;

-- Growing ones move while they are built.
select count(*), bool_and(q.f = want.grown) from (select k, bf_agg(x, 20, 0.1, 'guava', 2 order by x) as f from g group by k) q join want using (k);

-- Frames of a window: earlier results stay as they were.
select count(*), bool_and(f = bf_add_all(bf_create(100, 0.01), a)) from (
    select bf_agg(x, 100, 0.01) over w as f, array_agg(x) over w as a from g where k = 3 window w as (order by x)) s;
select count(*), bool_and(f = w) from (
    select bf_union_agg(bf_create(100, 0.01) + x) over (order by x) as f, bf_agg(x, 100, 0.01) over (order by x) as w from g where k = 3 offset 0) s;
select count(*), bool_and(lagged = bf_add_all(bf_create(100, 0.01), a)) from (
    select lag(f) over (order by x) as lagged, lag(a) over (order by x) as a from (
        select x, bf_union_agg(bf_create(100, 0.01) + x) over w as f, array_agg(x) over w as a from g where k = 3
        window w as (order by x rows between 20 preceding and current row)) s) s;

-- Row by row, and after the query.
begin;
declare c cursor for select k, bf_agg(x, 100, 0.01) as f from g group by k order by k;
declare h cursor with hold for select k, bf_agg(x, 100, 0.01) as f from g group by k order by k;
create function pg_temp.fetched(c refcursor) returns table (rows int, same boolean) language plpgsql as $$
declare
    r record;
begin
    rows := 0;
    same := true;
    loop
        fetch c into r;
        exit when not found;
        rows := rows + 1;
        same := same and r.f = (select f from want w where w.k = r.k);
    end loop;
    return next;
end $$;
select * from pg_temp.fetched('c');
commit;
select * from pg_temp.fetched('h');
prepare p (int) as select q.f = w.f from (select bf_agg(x, 100, 0.01) as f from g where k = $1) q, want w where k = $1;
execute p (1);
execute p (2);
execute p (3);
execute p (4);
execute p (5);
execute p (6);
execute p (7);
-- Rows that are stored; a cursor that is left half-way; a group that fails.
create table stored as select k, bf_agg(x, 100, 0.01) as f, bf_agg(x, 100, 0.01) as again from g group by k;
select count(*), bool_and(s.f = w.f and s.again = w.f) from stored s join want w using (k);
begin;
declare c cursor for select bf_agg(x, 100, 0.01) from g group by k order by k;
move 3 from c;
savepoint s;
select bf_agg(x, 100, 1 / (6 - k)) from g group by k;
rollback to s;
move 2 from c;
commit;
drop table g, want, stored;
