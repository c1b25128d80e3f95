-- Probing stored filters: the answers are those of a filter in memory, however
-- the value is stored and however often it changes; and a single probe reads
-- little of it.
\set VERBOSITY terse

create table stored (id int primary key, f bloomfilter);
-- 6 MB each; 1 and 2 hold different elements.
insert into stored
select 1, bf_agg('a' || i, 5000000, 0.01) from generate_series(1, 100000) i
union all
select 2, bf_agg('b' || i, 5000000, 0.01) from generate_series(1, 100000) i
union all
select 3, bf_agg('a' || i, 2000000, 0.01, 'guava32') from generate_series(1, 50000) i
union all
select 4, bf_agg(i, 2000000, 0.01) from generate_series(1, 50000) i;
analyze stored;
select id, pg_column_size(f) > 2000000 as larger_than_2mb, (bf_info(f)).bits_set > 300000 as filled from stored order by id;

-- ---------------------------------------------------------------------------
-- A single probe reads some pages for each of its k bits, not the whole value
-- ---------------------------------------------------------------------------
create function pg_temp.buffers(query text) returns bigint language plpgsql as $$
declare
    plan json;
begin
    execute 'explain (analyze, buffers, timing off, format json) ' || query into plan;
    return (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
end $$;
-- Once each for what the session loads only once.
create temp table warm as
select pg_temp.buffers('select bf_contains(f, ''a1'') from stored where id = 1') as a,
       pg_temp.buffers('select bf_union(f, f) from stored where id = 1') as b;
select pg_temp.buffers('select bf_contains(f, ''a1'') from stored where id = 1') <= 40 * 7 as present,
       pg_temp.buffers('select bf_contains(f, ''surely not'') from stored where id = 1') <= 40 * 7 as absent,
       pg_temp.buffers('select f @> ''a1'' from stored where id = 1') <= 40 * 7 as operator,
       pg_temp.buffers('select ''a1'' <@ f from stored where id = 1') <= 40 * 7 as commuted,
       pg_temp.buffers('select bf_contains(f, 77) from stored where id = 4') <= 40 * 7 as int4,
       pg_temp.buffers('select bf_contains(f, ''a1'') from stored where id = 3') <= 40 * 7 as guava32,
       -- the measure itself: the whole value takes more
       pg_temp.buffers('select bf_union(f, f) from stored where id = 1') > 40 * 7 as whole;
-- What needs only the header reads only that.
select pg_temp.buffers('select bf_positions(f, ''a1'') from stored where id = 1') <= 40 * 7 as positions;

-- Many probes in one query read it once, not once each: less than thrice the whole.
create function pg_temp.many_buffers() returns boolean language plpgsql as $$
declare
    once bigint := pg_temp.buffers('select bf_union(f, f) from stored where id = 1');
    many bigint := pg_temp.buffers('select count(*) from generate_series(1, 50000) i, stored where id = 1 and bf_contains(f, ''c'' || i)');
begin
    return many < 3 * once + 40 * 7 * 1000;
end $$;
select pg_temp.many_buffers() as once;

-- A compressed one is read and decompressed once, not once for each part of it.
create table compressed (f bloomfilter);
alter table compressed alter f set storage extended;
insert into compressed select bf_agg(i, 20000000, 0.01) from generate_series(1, 20000) i;
select pg_column_size(f) between 10000 and (bf_info(f)).bytes / 10 as is_compressed from compressed;
create function pg_temp.compressed_buffers() returns boolean language plpgsql as $$
declare
    once bigint := pg_temp.buffers('select bf_count(f) from compressed');
begin
    return pg_temp.buffers('select count(*) from compressed, generate_series(1, 5000) i where bf_contains(f, i)') < 2 * once;
end $$;
select pg_temp.compressed_buffers() as once from generate_series(1, 2);
drop table compressed;

-- ---------------------------------------------------------------------------
-- The same answers as in memory, below and beyond the point where it is loaded
-- ---------------------------------------------------------------------------
create temp table elements as
select i, 'a' || i as x from generate_series(99000, 103000) i union all select -i, 'b' || i from generate_series(99000, 103000) i;
create function pg_temp.compare(from_id int, n int) returns table (wrong bigint, hits boolean) language plpgsql as $$
declare
    f_memory bloomfilter := (select bf_union(f, f) from stored where id = from_id);
begin
    return query
    select count(*) filter (where bf_contains(s.f, e.x) <> bf_contains(f_memory, e.x)),
           count(*) filter (where bf_contains(s.f, e.x)) between 1 and count(*) - 1
    from stored s, (select * from elements order by i limit n) e where s.id = from_id;
end $$;
select id, n, c.* from unnest(array[1, 2]) id, unnest(array[2, 50, 500, 8002]) n, pg_temp.compare(id, n) c
where wrong > 0 or n = 8002 and not hits order by 1, 2;
-- No element is lost, and the false ones are as few as promised.
select count(*) filter (where not f @> ('a' || i)) as lost, count(*) filter (where f @> ('c' || i)) < 1000 as few
from stored, generate_series(1, 100000) i where id = 1;
select count(*) filter (where not f @> ('a' || i)) as lost from stored, generate_series(1, 50000) i where id = 3;
select count(*) filter (where not f @> i) as lost, count(*) filter (where f @> -i) < 500 as few
from stored, generate_series(1, 50000) i where id = 4;

-- Filters that alternate from row to row: each has its own answer.
set enable_hashjoin = off;
set enable_mergejoin = off;
select id, count(*) filter (where f @> x) as found, count(*) filter (where (f @> x) <> ((id = 1) = (i > 0))) as wrong
from (select e.i, e.x, s.id, s.f from (select * from elements where abs(i) <= 100000 order by x offset 0) e,
          (select * from stored where id in (1, 2) order by id offset 0) s offset 0) p
group by id order by id;
select count(*), count(*) filter (where (a.f @> x) <> (i > 0) or (b.f @> x) <> (i < 0)) as wrong
from stored a, stored b, (select * from elements where abs(i) <= 100000) e where a.id = 1 and b.id = 2;
reset enable_hashjoin;
reset enable_mergejoin;

-- Many small filters, stored inline and toasted, one after another.
create table small as
select i as id, bf_add_all(bf_create(case i % 3 when 0 then 100 when 1 then 3000 else 20000 end), array['own' || i, 'both']) as f
from generate_series(1, 600) i;
select count(*) filter (where not f @> ('own' || id)) as lost, count(*) filter (where not f @> 'both') as lost,
       count(*) filter (where f @> ('own' || id + 1)) < 20 as few from small;
select count(*) filter (where a.f @> ('own' || b.id) <> (a.id = b.id)) < 600 as few,
       count(*) filter (where a.id = b.id and not a.f @> ('own' || b.id)) as lost
from small b, small a where b.id <= 300 and a.id <= 300;

-- Several layers, each looked at by slices, as no call site asks twice.
create table layered as select bf_agg(i, 20000, 0.01, 'guava', 2) as f from generate_series(1, 200000) i;
create function pg_temp.lost() returns bigint language plpgsql as $$
declare
    lost bigint := 0;
    found boolean;
begin
    for i in 1..200000 by 5000 loop
        execute format('select f @> %s from layered', i) into found;
        lost := lost + (not found)::int;
    end loop;
    return lost;
end $$;
select (bf_info(f)).layers, pg_temp.lost(), pg_temp.buffers('select f @> 150001 from layered') < pg_temp.buffers('select bf_count(f) from layered') as by_slices
from layered;
drop table layered;

-- ---------------------------------------------------------------------------
-- A filter that changes is never answered from what it was
-- ---------------------------------------------------------------------------
begin;
select f @> 'added' as before from stored where id = 1;
update stored set f = f + 'added' where id = 1;
select f @> 'added' as after from stored where id = 1;
rollback;
select f @> 'added' as rolled_back from stored where id = 1;

create function pg_temp.change_stored() returns text language plpgsql as $$
declare
    ok boolean;
begin
    for i in 1 .. 12 loop
        for j in 1 .. 3 loop
            select f @> ('loop' || i) into ok from small where id = j;
            if ok then return 'there before ' || i; end if;
            update small set f = f + ('loop' || i) where id = j;
            select f @> ('loop' || i) into ok from small where id = j;
            if not ok then return 'lost ' || i; end if;
        end loop;
    end loop;
    for i in 1 .. 5 loop
        begin
            update small set f = f + ('undone' || i) where id <= 3;
            select bool_and(f @> ('undone' || i)) into ok from small where id <= 3;
            if not ok then return 'lost in a subtransaction ' || i; end if;
            raise exception sqlstate 'ZZ999';
        exception when sqlstate 'ZZ999' then
            select bool_or(f @> ('undone' || i)) into ok from small where id <= 3;
            if ok then return 'there after its rollback ' || i; end if;
        end;
    end loop;
    return 'ok';
end $$;
select pg_temp.change_stored();
-- The large one, often enough to be loaded whole in between.
create function pg_temp.change_large() returns text language plpgsql as $$
declare
    hits bigint;
begin
    for i in 1 .. 3 loop
        select count(*) into hits from generate_series(1, 2000) j, stored where id = 2 and f @> ('round' || i || '/' || j);
        if hits > 20 then return 'there before ' || i; end if;
        update stored set f = bf_add_all(f, array(select 'round' || i || '/' || j from generate_series(1, 2000) j)) where id = 2;
        select count(*) into hits from generate_series(1, 2000) j, stored where id = 2 and f @> ('round' || i || '/' || j);
        if hits <> 2000 then return 'lost ' || i; end if;
    end loop;
    return 'ok';
end $$;
select pg_temp.change_large();
-- A row that goes, and another that takes its place.
create table replaced (f bloomfilter);
create function pg_temp.replace_rows() returns text language plpgsql as $$
begin
    for i in 1 .. 10 loop
        truncate replaced;
        insert into replaced select bf_add_all(bf_create(20000), array['r' || i, 's' || i]);
        if not (select f @> ('r' || i) from replaced) or (select f @> ('r' || i - 1) from replaced) then
            return 'wrong at ' || i;
        end if;
        delete from replaced;
        insert into replaced select bf_create(20000) + ('t' || i);
        if not (select f @> ('t' || i) from replaced) or (select f @> ('r' || i) from replaced) then
            return 'wrong after delete at ' || i;
        end if;
    end loop;
    return 'ok';
end $$;
select pg_temp.replace_rows();

-- Variables: values in memory that come and go at the same places.
create function pg_temp.change_variables(n int) returns text language plpgsql as $$
declare
    f bloomfilter := bf_create(n);
    g bloomfilter := bf_create(n);
    h bloomfilter;
begin
    for i in 1 .. 200 loop
        f := bf_add(f, 'f' || i);
        if not bf_contains(f, 'f' || i) then return 'lost f' || i; end if;
        g := bf_add(g, 'g' || i);
        if not bf_contains(g, 'g' || i) then return 'lost g' || i; end if;
        h := f;
        f := g;
        g := h;
        if not bf_contains(g, 'f' || i) or not bf_contains(f, 'g' || i) then return 'lost by swapping ' || i; end if;
        h := bf_create(n);
        if bf_contains(h, 'f' || i) then return 'an empty filter has ' || i; end if;
        h := bf_add(h, 'h');
        if not bf_contains(h, 'h') then return 'lost h ' || i; end if;
        g := h;
        f := bf_create(n);
    end loop;
    return 'ok';
end $$;
select n, pg_temp.change_variables(n) from unnest(array[100, 5000, 100000]) n order by n;
-- Prepared: the function call stays, the value changes.
prepare probe(text) as select f @> $1 as found from small where id = 5;
execute probe('prepared');
update small set f = f + 'prepared' where id = 5;
execute probe('prepared');
update small set f = bf_create(10) where id = 5;
execute probe('prepared');
deallocate probe;

-- ---------------------------------------------------------------------------
-- However it is stored
-- ---------------------------------------------------------------------------
-- Compressed, out of line and inline; and uncompressed inline.
create table modes (mode text, f bloomfilter, e bloomfilter, m bloomfilter, p bloomfilter);
alter table modes alter e set storage extended, alter m set storage main, alter p set storage plain;
set default_toast_compression = pglz;
insert into modes
select 'sparse', f, f, f, bf_add_all(bf_create(1000), array['one', 'two'])
from (select bf_add_all(bf_create(50000), array['one', 'two']) as f) s;
insert into modes
select 'small', f, f, f, f from (select bf_add_all(bf_create(3000), array['one', 'two']) as f) s;
reset default_toast_compression;
select mode, pg_column_size(f) = (bf_info(f)).bytes or pg_column_size(f) = (bf_info(f)).bytes + 4 as f_plain, pg_column_size(e) < 2000 as e_compressed,
       pg_column_size(m) < 2000 as m_compressed from modes order by mode;
select mode, f @> 'one' and f @> 'two' and not f @> 'three' as f, e @> 'one' and e @> 'two' and not e @> 'three' as e,
       m @> 'one' and m @> 'two' and not m @> 'three' as m, p @> 'one' and p @> 'two' and not p @> 'three' as p,
       f = e and e = m as equal, bf_export(e) = bf_export(f) as export, (bf_info(e)).bits_set = (bf_info(f)).bits_set as info,
       bf_positions(e, 'x') = bf_positions(f, 'x') as positions, e::text = f::text as text,
       e | m = f as union_, (e + 'three') @> 'three' as add, bf_contains_each(e, array['one', 'three']) as each
from modes order by mode;
select mode, count(*) filter (where e @> ('x' || i) <> (f @> ('x' || i)) or m @> ('x' || i) <> (f @> ('x' || i))) as differ
from modes, generate_series(1, 3000) i group by 1 order by 1;
select (bf_agg(x, 10) | bf_union_agg(e)) is not null as aggregated
from (select 'x' as x, bf_create(10) as e) s;
select bf_union_agg(e) = bf_union_agg(f) as union_agg from modes where mode = 'sparse';

-- ---------------------------------------------------------------------------
-- Adding what is there gives the same value
-- ---------------------------------------------------------------------------
select id, (f + 'a1') = f as equal, (f + 'a1')::text = f::text as identical, bf_add_all(f, array['a1', 'a2']) = f as all
from stored where id in (1, 3) order by id;
select count(*) filter (where f + 'both' <> f or (f + 'both')::text <> f::text) as changed from small where id > 5;
-- Nothing was written to the stored value by all this.
select id, bf_contains(f, 'a1') as a1, bf_count(f) between 95000 and 110000 as count from stored where id = 1;
drop table stored, small, replaced, modes;
