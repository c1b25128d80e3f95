-- bf_only_grows: an UPDATE takes no elements out of a filter.
\set VERBOSITY default

create table filters (name text primary key, f bloomfilter, note text);
create trigger guard before update on filters for each row execute function bf_only_grows('f');
insert into filters values ('small', bf_create(100) + 'a'),
    ('large', (select bf_agg('a' || i, 1000000, 0.01) from generate_series(1, 1000) i)),
    ('growing', bf_add_all(bf_create(100, 0.01, expansion => 2), array(select 'a' || i from generate_series(1, 90) i))),
    ('counting', bf_create(100, counting => true) + 'a' + 'b'), ('none', null);

-- An application reads the row, another session adds, and the first one saves all
-- columns as it read them.
select f as read from filters where name = 'small' \gset
update filters set f = bf_add(f, 'committed') where name = 'small';
update filters set f = :'read', note = 'seen' where name = 'small';
select f @> 'committed' as kept, note from filters where name = 'small';
create temp table copies as select * from filters;
update filters set f = f + ('new in ' || name) where name <> 'none';
\set VERBOSITY sqlstate
update filters t set f = c.f, note = 'older' from copies c where t.name = c.name and t.name = 'small';
update filters t set f = c.f, note = 'older' from copies c where t.name = c.name and t.name = 'large';
update filters t set f = c.f, note = 'older' from copies c where t.name = c.name and t.name = 'growing';
update filters t set f = c.f, note = 'older' from copies c where t.name = c.name and t.name = 'counting';
-- An older copy is no better for what it was given since.
update filters t set f = c.f + 'x' from copies c where t.name = c.name and t.name = 'large';
-- One that grew lost a layer.
update filters set f = bf_add_all(f, array(select 'b' || i from generate_series(1, 200) i)) where name = 'growing';
update filters t set f = c.f from copies c where t.name = c.name and t.name = 'growing';
update filters set f = null where name = 'large';
update filters set f = bf_create(100) where name = 'small';
update filters set f = bf_remove(f, 'b') where name = 'counting';
insert into filters values ('small', bf_create(100)) on conflict (name) do update set f = excluded.f;
select name, note from filters where note = 'older';
select c.name from copies c join filters t using (name) where not t.f @> ('new in ' || c.name);

-- What holds all that was there passes, and what is made anew.
update filters set f = f where f is not null;
update filters set f = f | f, note = 'united' where f is not null;
update filters set note = 'noted';
update filters set f = f | (select f from copies where copies.name = filters.name) where name in ('small', 'large');
update filters set f = bf_create(100) + 'first' where name = 'none';
update filters set f = bf_create(10000) + 'x' where name = 'small';
-- One of the same size is not known to be made anew: of another kind, or counting.
update filters set f = bf_create(10000) + 1 where name = 'small';
update filters set f = bf_create(10000, funnel => 'utf16') where name = 'small';
update filters set f = bf_create(10000, counting => true) + 'x' where name = 'small';
update filters set f = bf_plain(f) where name = 'counting';
delete from filters where name = 'counting';
select name, f @> 'first' from filters where name = 'none';

-- Where rebuilding is allowed, NULL is not.
drop trigger guard on filters;
create trigger guard before update on filters for each row execute function bf_only_grows('f', 'rebuild');
update filters set f = bf_create(10000) + 2 where name = 'small';
update filters set f = null where name = 'small';

-- After an UPDATE; with WHEN; of a column; and all columns but those generated.
drop trigger guard on filters;
create constraint trigger guard after update on filters deferrable initially deferred for each row execute function bf_only_grows('f');
begin;
update filters set f = bf_create(10000) where name = 'small';
update filters set note = 'x';
commit;
begin;
update filters set f = f + 3 where name = 'small';
update filters set f = f | bf_agg from (select bf_agg('a' || i, 1000000, 0.01) from generate_series(1, 1100) i) s where name = 'large';
update filters set f = f + 'after' where name = 'large';
commit;
select f @> 'a1100', f @> 'after' from filters where name = 'large';
drop trigger guard on filters;
create trigger guard before update of f on filters for each row when (old.f is distinct from new.f) execute function bf_only_grows();
update filters set f = bf_create(10000) where name = 'small';
drop trigger guard on filters;
create domain titles as bloomfilter;
delete from filters where name <> 'small';
alter table filters drop column note, add g titles default bf_create(10) + 'g', add h bloomfilter generated always as (f + 3) stored;
create trigger guard before update on filters for each row execute function bf_only_grows();
update filters set f = f + 4;
update filters set g = bf_create(10) + 'other';
update filters set f = bf_create(10000);
update filters set f = f + 5, g = g + 'h';
select f @> 4, f @> 5, g @> 'h', h @> 4 from filters;

-- Moved to another partition, and changed by another trigger.
create table parted (id int, f bloomfilter) partition by list (id);
create table parted_1 partition of parted for values in (1);
create table parted_2 (f bloomfilter, id int);
alter table parted attach partition parted_2 for values in (2);
create trigger guard before update on parted for each row execute function bf_only_grows();
insert into parted select i, bf_create(10) + 'a' from generate_series(1, 2) i;
update parted set id = 2, f = bf_create(10) where id = 1;
update parted set f = f + 'b';
update parted set id = 2 where id = 1;
select id, f @> 'a', f @> 'b' from parted;
create function forget() returns trigger language plpgsql as $$ begin new.f := bf_create(10); return new; end $$;
create trigger forget before update on parted for each row execute function forget();
update parted set id = 2;
drop trigger forget on parted;
-- After an UPDATE that moves a row it is not called, so it is not for partitions then.
create or replace trigger guard after update on parted for each row execute function bf_only_grows();
update parted set f = f + 'c';

-- Triggers that it cannot serve.
\set VERBOSITY terse
create table other (n int, f bloomfilter, g bloomfilter generated always as (f + n) stored);
insert into other values (1, bf_create(10));
create trigger t before update on other for each row execute function bf_only_grows('n');
update other set n = 1;
create or replace trigger t before update on other for each row execute function bf_only_grows('missing');
update other set n = 1;
create or replace trigger t before update on other for each row execute function bf_only_grows('f', 'sometimes');
update other set n = 1;
create or replace trigger t before update on other for each row execute function bf_only_grows('f', 'rebuild', '');
update other set n = 1;
create or replace trigger t before update on other for each row execute function bf_only_grows('g');
update other set n = 1;
create or replace trigger t before insert or update on other for each row execute function bf_only_grows('f');
insert into other values (1, null);
create or replace trigger t before update on other for each statement execute function bf_only_grows('f');
update other set n = 1;
create view of_other as select * from other;
create trigger t instead of update on of_other for each row execute function bf_only_grows('f');
update of_other set n = 1;
drop view of_other;
set client_min_messages = warning;
alter table other drop column f cascade;
reset client_min_messages;
create or replace trigger t before update on other for each row execute function bf_only_grows();
update other set n = 1;
select bf_only_grows();
drop table filters, parted, other;
drop function forget();
drop domain titles;
