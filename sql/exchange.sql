-- Exchange: the bit orders of others, checked bit by bit against positions;
-- padding; what is too long or too short; layers.
\set VERBOSITY terse

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

create temp table filters (id int, strategy text, f bloomfilter, bits bigint, hashes int, n bigint, p float8, element text);
insert into filters
select row_number() over (order by s.strategy, n, p), s.strategy, f, i.bits, i.hashes, n, p, element
from (select strategy, n, p from unnest(array['guava', 'guava32']) strategy,
      (values (1, 0.5), (10, 0.03), (50, 0.01), (333, 0.001)) v(n, p)) s,
    lateral (select bf_create(n, p, s.strategy) as empty) e,
    lateral (select 'e' || n as element) x,
    lateral (select bf_add_all(empty, array(select 'e' || j from generate_series(1, n) j)) as f) a,
    bf_info(f) i;

-- The bits that ought to be set: those that bf_positions names.
create temp table wanted as
select distinct id, pos
from filters, generate_series(1, n) j, unnest(bf_positions(f, 'e' || j)) pos;
select count(*) > 1000 as enough from wanted;

-- ---------------------------------------------------------------------------
-- Out
-- ---------------------------------------------------------------------------
-- Bit i in each order. get_bit() counts from the least significant bit of each byte.
--   bitset: byte i / 8, mask 1 << (i % 8)
--   redis:  byte i / 8, mask 0x80 >> (i % 8)
--   guava:  byte 6 + 8 * (i / 64) + 7 - (i % 64) / 8, mask 1 << (i % 8)
create temp view exported as
select id, i, exists (select from wanted w where w.id = f.id and w.pos = i) as want,
       get_bit(bitset, i) = 1 as bitset,
       get_bit(redis, i / 8 * 8 + 7 - i % 8) = 1 as redis,
       get_bit(guava, (6 + 8 * (i / 64) + 7 - i % 64 / 8) * 8 + i % 8) = 1 as guava
from (select id, bits, bf_export(f, 'bitset') as bitset, bf_export(f, 'redis') as redis,
             bf_export(f, 'guava') as guava from filters offset 0) f,
    generate_series(0, bits::int - 1) i;
select id, count(*) from exported where bitset <> want or redis <> want or guava <> want group by 1 order by 1;
select count(*) = (select sum(bits) from filters) as all_bits, count(*) filter (where want) = (select count(*) from wanted) as all_set
from exported;

-- Full length always: ceil(m / 8), or 6 more.
select id from filters
where octet_length(bf_export(f, 'bitset')) <> (bits + 7) / 8
   or octet_length(bf_export(f, 'redis')) <> (bits + 7) / 8
   or octet_length(bf_export(f, 'guava')) <> 6 + bits / 8
   or octet_length(bf_export(bf_create(n, p, strategy), 'redis')) <> (bits + 7) / 8
   or octet_length(bf_export(bf_create(n, p, strategy), 'bitset')) <> (bits + 7) / 8
order by 1;
-- The stream's header: ordinal, k, number of words.
select id from filters
where substr(bf_export(f), 1, 6) <>
      set_byte(set_byte('\x0000'::bytea, 0, case strategy when 'guava' then 1 else 0 end), 1, hashes)
      || decode(lpad(to_hex(bits / 64), 8, '0'), 'hex')
order by 1;
-- No format: the strategy's own.
select id from filters where bf_export(f) <> bf_export(f, 'guava') or bf_export(f, null) <> bf_export(f) order by 1;

-- One layer, number 0.
select id from filters
where bf_export_layer(f, 0) is distinct from bf_export(f)
   or bf_export_layer(f, 0, 'guava') is distinct from bf_export(f, 'guava')
   or bf_export_layer(f, 0, 'redis') is distinct from bf_export(f, 'redis')
   or bf_export_layer(f, 0, 'bitset') is distinct from bf_export(f, 'bitset')
   or bf_export_layer(f, layer => 0, format => 'redis') is distinct from bf_export(f, format => 'redis')
   or bf_export_layer(null, 0) is not null
order by 1;

-- ---------------------------------------------------------------------------
-- In
-- ---------------------------------------------------------------------------
select id, format from filters, unnest(array['redis', 'bitset']) format,
    lateral (select bf_import(bf_export(f, format), format, n, p, strategy) as a,
                    bf_import(bf_export(f, format), format, n, p, strategy, 'utf16') as a16,
                    bf_import_bits(bf_export(f, format), format, bits, hashes, strategy) as b,
                    bf_import_bits(bf_export(f, format), format, bits, hashes, strategy, 'bytes') as bb) i
where a is distinct from f or b is distinct from f or not a @> element or not b @> element
   or (bf_info(a16)).funnel <> 'utf16' or (bf_info(bb)).funnel <> 'bytes'
   or ((bf_info(a)).expected, (bf_info(a)).fpp) is distinct from (n, p)
   or bf_export(a16) <> bf_export(f) or bf_export(bb) <> bf_export(f)
order by 1, 2;
select id from filters
where bf_import(bf_export(f)) is distinct from f
   or bf_import(bf_export(f), 'guava') is distinct from f
   or bf_import(bf_export(f), 'guava', 'utf8') is distinct from f
   or (bf_info(bf_import(bf_export(f), funnel => 'long'))).funnel is distinct from 'long'
order by 1;

-- Strings that end at the last bit set, as Redis and BitSet leave them, are padded.
create function pg_temp.trimmed(b bytea) returns bytea language plpgsql immutable as $$
begin
    while octet_length(b) > 0 and get_byte(b, octet_length(b) - 1) = 0 loop
        b := substr(b, 1, octet_length(b) - 1);
    end loop;
    return b;
end $$;
create temp table sparse as
select id, strategy, n, p, bits, hashes, bf_create(n, p, strategy) + 'x' as f, bf_create(n, p, strategy, 'utf8') as empty
from filters;
select count(*) > 4 as shorter from sparse
where octet_length(pg_temp.trimmed(bf_export(f, 'redis'))) < octet_length(bf_export(f, 'redis'));
select id, format from sparse, unnest(array['redis', 'bitset']) format
where bf_import(pg_temp.trimmed(bf_export(f, format)), format, n, p, strategy) is distinct from f
   or bf_import_bits(pg_temp.trimmed(bf_export(f, format)), format, bits, hashes, strategy) is distinct from f
   or bf_import('', format, n, p, strategy) is distinct from empty
   or bf_import_bits('', format, bits, hashes, strategy) is distinct from empty
order by 1, 2;

-- Longer ones only where nothing is set beyond the end; a set bit there is refused.
select id, format from sparse, unnest(array['redis', 'bitset']) format
where bf_import(bf_export(f, format) || '\x00', format, n, p, strategy) is distinct from f
   or bf_import(bf_export(f, format) || decode(repeat('00', 1000), 'hex'), format, n, p, strategy) is distinct from f
   or bf_import_bits(bf_export(f, format) || '\x000000', format, bits, hashes, strategy) is distinct from f
order by 1, 2;
select format, tail, outcome, count(*)
from filters, unnest(array['redis', 'bitset']) format, unnest(array['\x01', '\x80', '\x0001', '\x000000000000000080']::bytea[]) tail,
    lateral (select pg_temp.outcome(format('select bf_import(%L, %L, %s, %s, %L)', bf_export(f, format) || tail,
                                           format, n, p, strategy)) as a,
                    pg_temp.outcome(format('select bf_import_bits(%L, %L, %s, %s, %L)', bf_export(f, format) || tail,
                                           format, bits, hashes, strategy)) as b) o,
    lateral (select case when a = b then a else a || ' ' || b end as outcome) c
group by 1, 2, 3 order by 1, 2, 3;

-- Single bits, by literal: bit 0, bit 9, bit 63 of 64.
select bf_export(bf_import_bits('\x80', 'redis', 64, 3)) as redis0,
       bf_export(bf_import_bits('\x0040', 'redis', 64, 3)) as redis9,
       bf_export(bf_import_bits('\x0000000000000001', 'redis', 64, 3)) as redis63,
       bf_export(bf_import_bits('\x01', 'bitset', 64, 3)) as bitset0,
       bf_export(bf_import_bits('\x0002', 'bitset', 64, 3)) as bitset9,
       bf_export(bf_import_bits('\x0000000000000080', 'bitset', 64, 3)) as bitset63;
-- guava rounds bits up to words: 65 are 128.
select (bf_info(bf_create_bits(65, 3))).bits, (bf_info(bf_import_bits('\x01', 'redis', 65, 3))).bits,
       (bf_info(bf_create_bits(64, 3))).bits, (bf_info(bf_create_bits(1, 1, 'guava32'))).bits,
       octet_length(bf_export(bf_create_bits(65, 3), 'redis')) as bytes;
-- A filter that comes in unchanged goes on taking elements.
select bf_import(bf_export(f)) + 'new' = f + 'new' as same, (bf_import(bf_export(f)) + 'new') @> 'new' as found
from filters where id = 2;
-- An imported filter holds what it is told it holds.
select bf_import(bf_export(bf_create(100) + 7::bigint), 'guava', 'long') @> 7 as long,
       bf_import(bf_export(bf_create(100) + 7), 'guava', 'int') @> 7::bigint as int,
       bf_import(bf_export(bf_create(100) + '\x00ff'::bytea), 'guava', 'bytes') @> '\x00ff'::bytea as bytes,
       bf_import(bf_export(bf_create(100, funnel => 'utf16') + 'ä'), 'guava', 'utf16') @> 'ä' as utf16,
       pg_temp.outcome($$select bf_import(bf_export(bf_create(100) + 7)) @> 7$$) as utf8_by_default;
