-- Malformed input: every truncation and every change of one byte of a small
-- value, and of a small Guava stream, is refused with the right SQLSTATE or
-- gives a filter that is valid in all respects.
\set VERBOSITY terse

-- 'refused: CODE', or 'ok', or what is wrong with the filter that came of it.
create function pg_temp.try_text(v bytea) returns text language plpgsql as $$
declare
    f bloomfilter;
    i record;
begin
    begin
        f := v::text::bloomfilter;
    exception when others then
        return 'refused: ' || sqlstate;
    end;
    begin
        if bloomfilter_send(f) <> v or f::text <> v::text then
            return 'goes out otherwise';
        end if;
        select * into i from bf_info(f);
        if i.hashes not between 1 and 255 or i.bits < 1
            or i.bits_set not between 0 and i.bits or i.layers < 1 or i.expected < 0
            or not (i.fpp > 0 and i.fpp < 1) or bf_fpp(f) not between 0 and 1 or bf_count(f) < 0 then
            return 'bf_info: ' || i;
        end if;
        if i.layers = 1 and (i.strategy in ('guava', 'guava32') and octet_length(bf_export(f)) <> 6 + i.bits / 8
                             or octet_length(bf_export(f, 'redis')) <> (i.bits + 7) / 8) then
            return 'wrong export';
        end if;
        if f | f <> f or f & f <> f or not bf_compatible(f, f) then
            return 'union with itself';
        end if;
        if not (case i.funnel
            when 'int' then (f + 7) @> 7
            when 'long' then (f + 7) @> 7
            when 'bytes' then (f + '\x00'::bytea) @> '\x00'::bytea
            else (f + 'x') @> 'x' end) then
            return 'lost an element';
        end if;
        return 'ok';
    exception when program_limit_exceeded then
        -- It says that it grows, but cannot grow so far.
        return case when i.expansion > 0 then 'ok' else 'broken: ' || sqlerrm end;
    when invalid_parameter_value then
        -- It says that it is of dates, or the like: the 7th octet.
        return case when get_byte(v, 6) > 0 then 'ok' else 'broken: ' || sqlerrm end;
    when others then
        return 'broken: ' || sqlstate || ' ' || sqlerrm;
    end;
end $$;

create function pg_temp.try_stream(v bytea) returns text language plpgsql as $$
declare
    f bloomfilter;
    code text := 'ok';
begin
    begin
        f := bf_import(v);
    exception when others then
        code := sqlstate;
    end;
    begin
        f := v::bloomfilter;
    exception when others then
        if code = sqlstate then
            return 'refused: ' || sqlstate;
        end if;
    end;
    if code <> 'ok' then
        return 'cast and import differ';
    end if;
    if bf_export(f) <> v or f::bytea <> v then
        return 'goes out otherwise';
    end if;
    return pg_temp.try_text(bloomfilter_send(f));
end $$;

create function pg_temp.put(v bytea, at int, b int) returns bytea language sql immutable as $$
    select set_byte(v, at, b)
$$;

create temp table originals (name text, v bytea, header int);
-- Of a value all but its bits is header: they are the last octets.
insert into originals
select name, bloomfilter_send(f), octet_length(bloomfilter_send(f)) - 16
from (values ('text', bf_create(10) + 'one' + 'two'),
             ('unbound', bf_create(10)),
             ('int', bf_create(10, 0.03, 'guava32') + 1)) v(name, f);
select name, header > 20 as header, pg_temp.try_text(v) from originals order by 1;

-- ---------------------------------------------------------------------------
-- Values
-- ---------------------------------------------------------------------------
-- Truncated anywhere, or longer: refused.
select name, outcome, count(*) = max(octet_length(v)) as all_of_them
from originals, generate_series(0, octet_length(v) - 1) n, pg_temp.try_text(substr(v, 1, n)) outcome
group by 1, 2 order by 1, 2;
select name, outcome, count(*)
from originals, generate_series(1, 20) n, pg_temp.try_text(v || decode(repeat('00', n), 'hex')) outcome
group by 1, 2 order by 1, 2;
-- Cut within a digit pair, too.
create function pg_temp.try_hex(hex text) returns text language plpgsql as $$
begin
    perform hex::bloomfilter;
    return 'ok';
exception when others then
    return 'refused: ' || sqlstate;
end $$;
select name, outcome, count(*) = max(octet_length(v)) as all_of_them
from originals, generate_series(0, octet_length(v) - 1) n, pg_temp.try_hex(left(v::text, 3 + 2 * n)) outcome
group by 1, 2 order by 1, 2;
-- And a digit that is none, anywhere.
select name, outcome, count(*) = max(octet_length(v::text)) as all_of_them
from originals, generate_series(1, octet_length(v::text)) n, pg_temp.try_hex(overlay(v::text placing 'g' from n)) outcome
group by 1, 2 order by 1, 2;

-- One byte changed: to all other values in the header, to some in the bits.
create temp table changed as
select name, at, b, pg_temp.try_text(pg_temp.put(v, at, b)) as outcome
from originals, generate_series(0, octet_length(v) - 1) at, generate_series(0, 255) b
where b <> get_byte(v, at) and (at < header or b in (0, 1, 127, 128, 255));
select name, at, b, outcome from changed
where outcome not in ('ok', 'refused: 22P02')
order by 1, 2, 3 limit 20;
-- The bits may be anything; in the header both happen.
select name, bool_and(outcome = 'ok') filter (where at >= header) as bits,
       count(*) filter (where at < header and outcome = 'ok') > 100 as some_ok,
       count(*) filter (where at < header and outcome <> 'ok') > 5000 as some_refused
from changed join originals using (name) group by name, header order by 1;
-- Of what is one of a list there is no more than the list: of strategies, funnels, cells and meanings.
select name, at, count(*) from changed where at between 3 and 6 and outcome = 'ok' group by 1, 2 order by 1, 2;

-- Two bytes of the header at their extremes: sizes that overflow, mostly.
select outcome, count(*) > 0 as some
from originals, generate_series(0, header - 2) a, generate_series(a + 1, header - 1) b,
    unnest(array[0, 255]) x, unnest(array[1, 127]) y,
    pg_temp.try_text(pg_temp.put(pg_temp.put(v, a, x), b, y)) outcome
where name = 'text' and outcome not in ('ok', 'refused: 22P02')
group by 1 order by 1;

-- What no function makes: an expansion beyond all, more elements than bits would
-- do for, counters where there are none, or where layers are to follow.
select what, outcome
from (select bloomfilter_send(bf_create(10, 0.01, expansion => 2)) as growing,
             bloomfilter_send(bf_create(10, counting => true)) as counting) v,
    lateral (values ('expansion 32768', pg_temp.put(pg_temp.put(growing, 8, 0), 9, 128), 'ok'),
                    ('expansion 32769', pg_temp.put(pg_temp.put(growing, 8, 1), 9, 128), 'refused: 22P02'),
                    ('layer for 2^24', pg_temp.put(growing, 43, 1), 'refused: 22P02'),
                    ('filter for 2^56', pg_temp.put(growing, 23, 1), 'refused: 22P02'),
                    ('counters of redisson', pg_temp.put(counting, 3, 3), 'refused: 22P02'),
                    ('counters that grow', pg_temp.put(counting, 8, 2), 'refused: 22P02')) t(what, v, wanted),
    pg_temp.try_text(t.v) outcome
where outcome <> wanted;

-- ---------------------------------------------------------------------------
-- Guava streams
-- ---------------------------------------------------------------------------
create temp table streams (name text, v bytea);
insert into streams values
    ('guava', '\x01050000000202285340b2c5203201769a2a2e828626'),
    ('guava32', '\x000500000002401b64b1026d084075a11c8160a84892');
select name, pg_temp.try_stream(v) from streams order by 1;
select name, outcome, count(*) = max(octet_length(v)) as all_of_them
from streams, generate_series(0, octet_length(v) - 1) n, pg_temp.try_stream(substr(v, 1, n)) outcome
group by 1, 2 order by 1, 2;
select name, outcome, count(*)
from streams, generate_series(1, 20) n, pg_temp.try_stream(v || decode(repeat('00', n), 'hex')) outcome
group by 1, 2 order by 1, 2;
-- Ordinals 0 and 1, any k but 0, this number of words, any bits.
select name, at, b, outcome
from streams, generate_series(0, octet_length(v) - 1) at, generate_series(0, 255) b,
    pg_temp.try_stream(pg_temp.put(v, at, b)) outcome
where outcome <> case
    when at = 0 and b > 1 or at = 1 and b = 0 or at between 2 and 5 and b <> get_byte(v, at)
    then 'refused: 22P03' else 'ok' end
order by 1, 2, 3 limit 20;

-- ---------------------------------------------------------------------------
-- Four-bit counters of 64 cells: another length, and no other.
-- ---------------------------------------------------------------------------
select pg_temp.try_text(set_byte(substr(bloomfilter_send(f), 1, octet_length(bloomfilter_send(f)) - 8), 5, 4)
                        || decode(repeat('00', n), 'hex')) as outcome, count(*)
from bf_create_bits(64, 5, 'guava', 'utf8') f, generate_series(0, 64) n
group by 1 order by 1;

-- ---------------------------------------------------------------------------
-- A layer of fewer bits than its filter's n and p are for: written all the same.
-- ---------------------------------------------------------------------------
select bf_export_layer(('\x' || encode(set_byte(substr(v, 1, 72), 12, 2)
                                        || '\x4000000000000000'
                                        || decode(repeat('00', 24), 'hex')
                                        || '\x0500000000000000'
                                        || substr(v, 73)
                                        || '\x0100000000000000', 'hex'))::bloomfilter, 1)
from bloomfilter_send(bf_create(1000, expansion => 2)) v;

-- ---------------------------------------------------------------------------
-- Bits beyond the end of a layer, which is not a whole word: of any layer.
-- ---------------------------------------------------------------------------
select layer, bits % 64 <> 0 as partial, pg_temp.try_text(pg_temp.put(v, at, get_byte(v, at) | 128)) as outcome
from (select bf_agg(i, 10, 0.01, 'redisson', 2) as f from generate_series(1, 40) i) a, bloomfilter_send(f) v,
    lateral (select layer, bits, (32 + count(*) over () * 40 + sum((bits + 63) / 64 * 8) over (order by layer))::int - 8 as at from bf_layers(f)) l
order by 1;
