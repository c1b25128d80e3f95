-- Probing several stored filters in turns: the answers are those of each filter
-- alone, whatever the memory to keep them in; and what is kept is not read again.
\set VERBOSITY terse
set max_parallel_workers_per_gather = 0;
set hash_mem_multiplier = 1;

-- 24 filters: of 120 kB and of 1.2 kB, compressed, and inline.
create table kept (id int primary key, f bloomfilter);
insert into kept
select i, bf_agg(i || '/' || j, case when i % 4 = 3 then 1000 else 100000 end, 0.01)
from generate_series(1, 24) i, generate_series(1, 800) j group by i;
create table pressed (id int primary key, f bloomfilter);
alter table pressed alter f set storage extended;
set default_toast_compression = pglz;
insert into pressed
select i, bf_agg(i || '/' || j, 100000, 0.01) from generate_series(1, 4) i, generate_series(1, 800) j group by i;
reset default_toast_compression;
select bool_and(pg_column_size(f) between 3000 and 60000) as compressed from pressed;
create view filters as select id, f from kept union all select -id, f from pressed;
analyze kept, pressed;

-- ---------------------------------------------------------------------------
-- The same answers as one at a time
-- ---------------------------------------------------------------------------
create table elements as
select i || '/' || j as x from generate_series(1, 24) i, generate_series(1, 1200, 47) j;
create table alone (id int, x text, answer boolean);
do $$
begin
    for one in -4 .. 24 loop
        insert into alone
        select one, x, bf_contains((select bf_union(f, f) from filters where id = one), x) from elements where one <> 0;
    end loop;
end $$;
select count(*), count(*) filter (where answer) between 1 and 1000 as some from alone;

-- In turns: every element is asked of all filters, in several orders.
set enable_hashjoin = off;
set enable_mergejoin = off;
create function pg_temp.wrong(memory text) returns table (by_element bigint, by_chance bigint, each bigint) language plpgsql as $$
begin
    perform set_config('work_mem', memory, true);
    return query
    select (select count(*) filter (where bf_contains(f, x) <> answer)
            from (select f, x, answer from alone join filters using (id) order by x, id offset 0) a),
           (select count(*) filter (where (f @> x) <> answer)
            from (select f, x, answer from alone join filters using (id) order by md5(x || id) offset 0) a),
           (select count(*) filter (where bf_contains_each(f, xs) <> answers)
            from (select f, xs, answers
                  from (select id, x > '2' as part, array_agg(x order by x) as xs, array_agg(answer order by x) as answers
                        from alone group by 1, 2) s join filters using (id) order by md5(part::text || id) offset 0) a);
end $$;
select memory, w.* from unnest(array['64kB', '512kB', '64MB']) memory, pg_temp.wrong(memory) w;

-- In memory, in between: a filter that is not stored is none of those kept.
create function pg_temp.between(memory text) returns bigint language plpgsql as $$
begin
    perform set_config('work_mem', memory, true);
    return (select count(*) filter (where bf_contains(case when n % 3 = 0 then bf_union(f, f) else f end, x) <> answer)
            from (select f, x, answer, row_number() over (order by x, id) as n
                  from alone join filters using (id) order by x, id offset 0) a);
end $$;
select memory, pg_temp.between(memory) as wrong from unnest(array['64kB', '64MB']) memory;
reset enable_hashjoin;
reset enable_mergejoin;

-- ---------------------------------------------------------------------------
-- What is kept is not read again, and what is not costs no more than alone
-- ---------------------------------------------------------------------------
create function pg_temp.buffers(query text) returns bigint language plpgsql as $$
declare
    plan json;
begin
    execute 'explain (analyze, buffers, timing off, format json) ' || query into plan;
    return (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
end $$;
create temp table warm as
select pg_temp.buffers('select bf_contains(f, ''1''), bf_union(f, f) is null from kept') as a;
create function pg_temp.in_turns(memory text) returns bigint language plpgsql as $$
begin
    perform set_config('work_mem', memory, true);
    return pg_temp.buffers('select count(*) filter (where bf_contains(f, n::text))
        from (select f, n from kept, generate_series(1, 2000) n where id % 4 <> 3 order by n, id offset 0) s');
end $$;
create function pg_temp.whole() returns bigint language sql as $$
    select pg_temp.buffers('select count(bf_union(f, f)) from kept where id % 4 <> 3')
$$;
-- 18 filters, 36,000 lookups: each filter is read by slices, and once whole.
select pg_temp.in_turns('64MB') < 3 * pg_temp.whole() as read_once;
-- With little memory it takes slices, and as much again for nothing at most: two
-- or three for an absent element, of two or three buffers each.
select pg_temp.in_turns('64kB') > 36000 as by_slices, pg_temp.in_turns('64kB') < 36000 * 8 as at_most_twice;
-- Filters larger than that memory are not loaded for turns of one lookup: seven
-- slices, of three buffers each, and little else.
create table large as
select i as id, bf_agg('x' || j, 1000000, 0.01) as f from generate_series(1, 4) i, generate_series(1, 500) j group by i;
create function pg_temp.of_large(memory text) returns bigint language plpgsql as $$
begin
    perform set_config('work_mem', memory, true);
    return pg_temp.buffers('select count(*) filter (where bf_contains(f, ''x'' || n))
        from (select f, n from large, generate_series(1, 500) n order by n, id offset 0) s');
end $$;
select pg_temp.of_large('256kB') < 2000 * 7 * 3 * 1.1 as by_slices, pg_temp.of_large('64MB') < 2000 * 7 * 3 / 2 as read_once;
drop table large;

-- ---------------------------------------------------------------------------
-- A filter that changes is never answered from what is kept of it
-- ---------------------------------------------------------------------------
create function pg_temp.change_kept(memory text) returns text language plpgsql as $$
declare
    one record;
    ok boolean;
begin
    perform set_config('work_mem', memory, true);
    for i in 1 .. 6 loop
        for one in select id, f from kept order by id loop
            ok := bf_contains(one.f, 'new' || i);
            if ok then return format('there before: %s in %s', i, one.id); end if;
            update kept set f = f + ('new' || i) where id = one.id;
            ok := bf_contains(one.f, 'new' || i);
            if ok then return format('changed in place: %s in %s', i, one.id); end if;
        end loop;
        for one in select id, f from kept order by id desc loop
            ok := bf_contains(one.f, 'new' || i) and bf_contains(one.f, one.id || '/1');
            if not ok then return format('lost: %s of %s', i, one.id); end if;
        end loop;
        select bool_and(f @> ('new' || i)) into ok from kept, generate_series(1, 40);
        if not ok then return 'lost ' || i; end if;
    end loop;
    begin
        update kept set f = bf_create(100000);
        for one in select id, f from kept loop
            ok := bf_contains(one.f, 'new1');
            if ok then return 'there after it was emptied'; end if;
        end loop;
        raise exception sqlstate 'ZZ999';
    exception when sqlstate 'ZZ999' then
        for one in select id, f from kept loop
            ok := bf_contains(one.f, 'new1');
            if not ok then return 'lost by a rollback'; end if;
        end loop;
    end;
    update kept set f = bf_create(100000) + (id || '/1');
    return 'ok';
end $$;
begin;
select pg_temp.change_kept('64kB');
rollback;
select pg_temp.change_kept('64MB');

-- ---------------------------------------------------------------------------
-- Very many filters, each with its own answer
-- ---------------------------------------------------------------------------
create table tenants as
select i as id, bf_add_all(bf_create(3000, 0.01), array['own' || i, 'both']) as f from generate_series(1, 10000) i;
create function pg_temp.lost(memory text) returns table (lost bigint, few boolean) language plpgsql as $$
begin
    perform set_config('work_mem', memory, true);
    return query
    select count(*) filter (where not f @> x), count(*) filter (where f @> (x || '?')) < 40
    from (select f, case n when 2 then 'both' else 'own' || id end as x
          from tenants, generate_series(1, 3) n order by n, md5(id::text) offset 0) s;
end $$;
select memory, l.* from unnest(array['64kB', '8MB', '256MB']) memory, pg_temp.lost(memory) l;

drop view filters;
drop table kept, pressed, elements, alone, tenants;
