CREATE TABLE articles (id bigint GENERATED ALWAYS AS IDENTITY, title text);
INSERT INTO articles (title)
    SELECT 'Title number ' || i FROM generate_series(1, 100000) AS i;

-- One filter, kept in a row: a million titles, one false alarm in ten thousand.
CREATE TABLE filters (name text PRIMARY KEY, f bloomfilter);
INSERT INTO filters
    SELECT 'titles', bf_agg(title, 1000000, 0.0001) FROM articles;

-- Seen this title?  false: surely not.  true: almost surely.
SELECT bf_contains(f, 'Title number 42'), bf_contains(f, 'A new title')
    FROM filters WHERE name = 'titles';

-- A batch at once: which of these are new?
SELECT title
    FROM unnest(ARRAY['Title number 7', 'Breaking news', 'Old hat']) AS title
    WHERE NOT bf_contains((SELECT f FROM filters WHERE name = 'titles'), title);

-- Remember them.
UPDATE filters SET f = bf_add_all(f, ARRAY['Breaking news', 'Old hat'])
    WHERE name = 'titles';
CREATE INDEX articles_title_bf ON articles
    USING bloomfilter (title) WITH (expected = 1000000, fpp = 0.0001);

INSERT INTO articles (title) VALUES ('Breaking news');
SELECT bf_live_contains('articles', 'Breaking news'),
       bf_live_contains('articles', 'Something else');

-- How full is it?  And as a value, to export it.
SELECT estimated_count, fill FROM bf_live_info('articles');
SELECT length(bf_export(bf_live_filter('articles')));
