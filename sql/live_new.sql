-- Which elements are surely in no row: each once, in the order given, no NULL; an
-- error where that is not sure, instead of an answer of nothing.
\set VERBOSITY terse
CREATE TABLE fresh (id int, title text, code char(8), day date);
INSERT INTO fresh SELECT i, 'Title ' || i, 'C' || i, date '2024-01-01' + i FROM generate_series(1, 1000) AS i;
CREATE INDEX fresh_title ON fresh USING bloomfilter (title) WITH (expected = 10000);
CREATE INDEX fresh_code ON fresh USING bloomfilter (code);
CREATE INDEX fresh_day ON fresh USING bloomfilter (day);
CREATE INDEX fresh_lower ON fresh USING bloomfilter (lower(title));
SELECT array_agg(n) FROM bf_live_new('fresh_title', '{new 2,Title 7,new 1,NULL,new 2,Title 1000,"new 1 "}') AS n;
SELECT array_agg(n) FROM bf_live_new('fresh', ARRAY['c5 ', 'C5', 'C5  '], col => 'code') AS n;
SELECT array_agg(n) FROM bf_live_new('fresh', ARRAY['c5 ', 'c5', 'c5  ', 'c6'], col => 'code') AS n;
SELECT array_agg(n) FROM bf_live_new('fresh', '{TITLE 5,title 5,title 0}', 'lower(title)') AS n;
SELECT array_agg(n), pg_typeof(array_agg(n)) FROM bf_live_new('fresh', ARRAY[date '2024-01-02', '2023-01-01']) AS n GROUP BY pg_typeof(n);
SELECT count(*) FROM bf_live_new('fresh', NULL::date[]);
SELECT count(*) FROM bf_live_new('fresh', '{}'::date[]);
SELECT count(*) FROM bf_live_new(NULL, ARRAY[date '2023-01-01']);
-- Of many, just those that bf_live_contains denies; and so they are stored.
SELECT count(*), bool_and(NOT bf_live_contains('fresh_title', n)) FROM bf_live_new('fresh_title', ARRAY(SELECT 'Title ' || i FROM generate_series(1, 3000) AS i)) AS n;
INSERT INTO fresh (title) SELECT bf_live_new('fresh_title', ARRAY(SELECT 'Title ' || i FROM generate_series(900, 1100) AS i));
SELECT count(*), count(DISTINCT title) FROM fresh;
-- Other kinds, columns that have no filter, and types that are none.
SELECT bf_live_new('fresh', ARRAY[1]);
SELECT bf_live_new('fresh_day', ARRAY['2024-01-02']);
SELECT bf_live_new('fresh', '{x}', 'id');
SELECT bf_live_new('fresh', '{x}');
SELECT bf_live_new('fresh_title', ARRAY[1.5]);
SELECT bf_live_new('fresh_title', 'x'::text);
-- Where a "no" is not sure: an error, where bf_live_contains warns once a session and reason.
CREATE TABLE divided (title text) PARTITION BY LIST (title);
CREATE TABLE divided_a PARTITION OF divided FOR VALUES IN ('a');
SELECT array_agg(n) FROM bf_live_new('divided', '{a,b}') AS n;
CREATE INDEX divided_title ON ONLY divided USING bloomfilter (title);
SELECT bf_live_new('divided', '{a,b}');
SELECT bf_live_contains('divided', 'a'), bf_live_contains('divided', 'b');
CREATE INDEX divided_a_title ON divided_a USING bloomfilter (title);
ALTER INDEX divided_title ATTACH PARTITION divided_a_title;
SELECT array_agg(n) FROM bf_live_new('divided', '{a,b}') AS n;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'divided_a_title'::regclass;
SELECT bf_live_new('divided', '{a,b}');
SELECT bf_live_contains('divided', 'b'), bf_live_contains('divided', 'b');
SELECT bf_live_contains('divided', 'b');
-- Another filter of the leaf, which is sure, is enough.
CREATE INDEX divided_a_sure ON divided_a USING bloomfilter (title);
SELECT array_agg(n) FROM bf_live_new('divided_a', '{a,b}', 'title') AS n;
DROP TABLE fresh, divided;
-- Where nearly nothing is new as the filter is over-full, it says so, once.
CREATE TABLE crowded AS SELECT 'title ' || i AS title FROM generate_series(1, 3000) AS i;
SET client_min_messages = error;
CREATE INDEX crowded_title ON crowded USING bloomfilter (title) WITH (expected = 10, fpp = 0.01);
RESET client_min_messages;
\set VERBOSITY default
SELECT bf_live_new('crowded', '{new,newer}');
SELECT bf_live_new('crowded', '{new,newer}');
