-- Whatever kind a filter is of, whatever type is asked for, and by whichever way it
-- comes: what is equal in SQL is found, or an error; never a "no".
\set VERBOSITY terse
set client_min_messages = warning;
create function pg_temp.outcome(query text) returns text language plpgsql as $$
declare
    found boolean;
begin
    execute query into found;
    return case found when true then 'ok' when false then 'no' end;
exception when others then
    return sqlstate;
end $$;
-- A type of anybody's that is silently taken for text, and whose equality is another.
create type shout;
create function shout_in(cstring) returns shout language internal immutable strict as 'textin';
create function shout_out(shout) returns cstring language internal immutable strict as 'textout';
create type shout (input = shout_in, output = shout_out, like = text, category = 'S');
create cast (shout as text) without function as implicit;
create function shout_eq(shout, shout) returns boolean language sql immutable as $$ select lower(shout_out($1)::text) = lower(shout_out($2)::text) $$;
create operator = (leftarg = shout, rightarg = shout, function = shout_eq);
create domain shouted as shout;
create domain titled as text;
-- As if it were not deterministic, for builds without ICU.
create collation folding (provider = libc, locale = 'C');
update pg_collation set collisdeterministic = false where oid = 'folding'::regcollation;
create table kinds (type text, value text, primary key (type, value));
insert into kinds values ('text', '5'), ('text', 'a'), ('text', 'a '), ('text', 'A'), ('varchar', '5'), ('varchar', 'a '), ('name', 'a'), ('name', '5'), ('titled', 'a'), ('char(3)', 'a'), ('char(3)', '5'), ('bpchar', 'a  '),
    ('shout', 'a'), ('shout', 'A'), ('shouted', 'A'), ('text collate folding', 'A'), ('text collate folding', 'a'), ('"char"', 'a'), ('"char"', '5'),
    ('smallint', '5'), ('smallint', '-1'), ('integer', '5'), ('integer', '-1'), ('bigint', '5'), ('bigint', '-1'), ('bigint', '4294967295'), ('oid', '5'), ('oid', '4294967295'), ('numeric', '5.0'), ('float8', '5'),
    ('boolean', 'true'), ('date', '2024-05-01'), ('timestamp', '2024-05-01'), ('timestamptz', '2024-05-01'), ('bytea', '\x61'), ('bytea', '\x35'),
    ('uuid', '00000000-0000-0000-0000-000000000005'), ('inet', '10.0.0.1'), ('cidr', '10.0.0.1'), ('macaddr', '08:00:2b:01:02:03'), ('regclass', 'pg_class'), ('interval', '1 day'), ('interval', '24:00');
create function pg_temp.typed(value text, type text) returns text language sql as $$
    select case when type ~ ' collate ' then format('(%L::text collate folding)', value) else format('%L::%s', value, type) end $$;
create function pg_temp.bare(type text) returns text language sql as $$ select regexp_replace(type, ' collate .*', '') $$;
-- Pairs that are equal in SQL, as far as it compares them at all.
create table equal as
select h.type as held, h.value as held_value, a.type as asked, a.value as asked_value, pg_temp.typed(h.value, h.type) as h, pg_temp.typed(a.value, a.type) as a
from kinds h, kinds a where pg_temp.outcome(format('select %s = %s', pg_temp.typed(h.value, h.type), pg_temp.typed(a.value, a.type))) = 'ok';
-- A varchar is compared with a char(n) as one, so that its trailing blanks count for
-- nothing; a filter of text has them, and is not asked without.
delete from equal where held = 'varchar' and held_value ~ ' $' and asked ~ '^(bp|char)';
select count(*) > 100 as many from equal;
-- The filter is a column, but where it must be a constant.
create table held (id serial, type text, value text, strategy text, f bloomfilter);
create procedure hold(strategies text[]) language plpgsql as $$
declare
    k record;
    s text;
begin
    foreach s in array strategies loop
        for k in select * from kinds loop
            begin
                execute format('insert into held (type, value, strategy, f) select $1, $2, $3, bf_create(10, 0.0001, $3) + %s', pg_temp.typed(k.value, k.type)) using k.type, k.value, s;
            exception when feature_not_supported or invalid_parameter_value then
            end;
        end loop;
    end loop;
end $$;
call hold('{guava,redisson,cassandra,redisbloom,spark2}');
select strategy, count(*) from held group by 1 order by 1;
create function pg_temp.by(way text, filter text, a text, type text) returns text language plpgsql as $$
declare
    answer text;
begin
    case way
        when 'constant' then answer := pg_temp.outcome(format('select %L::bloomfilter @> %s', filter, a));
        when 'column' then answer := pg_temp.outcome(format('select f @> x from (select %L::bloomfilter as f, %s as x offset 0) s', filter, a));
        when 'contained' then answer := pg_temp.outcome(format('select x <@ f from (select %L::bloomfilter as f, %s as x offset 0) s', filter, a));
        when 'any' then answer := pg_temp.outcome(format('select %L::bloomfilter @> any (array[%s])', filter, a));
        when 'all' then answer := pg_temp.outcome(format('select bf_contains_all(f, array[x]) from (select %L::bloomfilter as f, %s as x offset 0) s', filter, a));
        when 'each' then answer := pg_temp.outcome(format('select (bf_contains_each(%L::bloomfilter, array[%s]))[1]', filter, a));
        when 'new' then answer := pg_temp.outcome(format('select not exists (select from bf_new(%L::bloomfilter, array[%s]))', filter, a));
        when 'add' then answer := pg_temp.outcome(format('select f + %s = f from (select %L::bloomfilter as f) s', a, filter));
        when 'add_each' then answer := pg_temp.outcome(format('select not (bf_add_each(%L::bloomfilter, array[%s])).added[1]', filter, a));
        when 'parameter' then
            execute format('prepare asked (%s) as select %L::bloomfilter @> $1', pg_temp.bare(type), filter);
            answer := pg_temp.outcome(format('execute asked (%s)', a));
            deallocate asked;
        when 'inlined' then
            execute format('create function pg_temp.seen(f bloomfilter, x %s) returns boolean language sql as ''select f @> x''', pg_temp.bare(type));
            answer := pg_temp.outcome(format('select pg_temp.seen(%L::bloomfilter, %s)', filter, a));
            execute format('drop function pg_temp.seen(bloomfilter, %s)', pg_temp.bare(type));
        when 'default' then
            begin
                execute format('create temp table defaults (i int, seen boolean default %L::bloomfilter @> %s)', filter, a);
                insert into defaults (i) values (1);
                answer := (select case when seen then 'ok' else 'no' end from defaults);
                drop table defaults;
            exception when others then
                answer := sqlstate;
            end;
    end case;
    return answer;
end $$;
select way, strategy, held, held_value, asked, asked_value, answer
from equal join held on held = type and held_value = value,
    unnest('{constant,column,contained,any,all,each,new,add,add_each,parameter,inlined,default}'::text[]) way,
    -- A parameter and an argument have the default collation.
    lateral (select pg_temp.by(way, f::text, a, asked) as answer where not (asked ~ 'collate' and way in ('parameter', 'inlined'))) b
where answer not in ('ok', '22023', '0A000', '42883') or answer = '22023' and held = asked
order by 1, 2, 3, 4, 5, 6;
-- Live filters, of the column's type.
create function pg_temp.live(type text, value text, a text) returns text language plpgsql as $$
declare
    answer text;
begin
    execute format('create temp table rows_of (x %s)', type);
    execute format('insert into rows_of select %L::%s', value, pg_temp.bare(type));
    create index on rows_of using bloomfilter (x);
    answer := concat_ws(' ', pg_temp.outcome(format('select bf_live_contains(''rows_of'', %s)', a)), pg_temp.outcome(format('select bf_live_contains_all(''rows_of'', array[%s])', a)),
        pg_temp.outcome(format('select not exists (select from bf_live_new(''rows_of'', array[%s]))', a)), pg_temp.outcome(format('select exists (select from rows_of where x = %s)', a)));
    drop table rows_of;
    return answer;
exception when feature_not_supported then
    return 'refused';
end $$;
select held, held_value, asked, asked_value, answer from equal, lateral (select pg_temp.live(held, held_value, a) as answer) b
where answer <> 'refused' and (answer ~ 'no' or answer !~ '^(ok|22023|0A000|42883)( (ok|22023|0A000|42883))* ok$') order by 1, 2, 3, 4;
drop table kinds, equal, held;
drop procedure hold;
drop type shout cascade;
drop domain titled;
drop collation folding;
