// The program of doc/languages.md, by node-postgres: the page has what differs from psycopg's.
const { Client } = require('pg');

(async () => {
	const db = new Client({ connectionString: process.env.DATABASE_URL });
	await db.connect();

	// Which of these are new?
	const batch = ['Title number 7', 'Breaking news', '首页'];
	const ask = await db.query(`SELECT ARRAY(SELECT DISTINCT title FROM unnest($1::text[]) AS title WHERE title IS NOT NULL
		AND bf_contains((SELECT f FROM filters WHERE name = 'titles'), title) IS NOT TRUE ORDER BY title) AS found`, [batch]);
	const { found } = ask.rows[0];
	console.log('new:', found.join(', '));

	// Remember them.
	await db.query("UPDATE filters SET f = bf_add_all(f, $1::text[]) WHERE name = 'titles'", [found]);

	// Out, as Guava's bytes, for a file, a cache, Java ...
	const out = await db.query("SELECT bf_export(f) AS stream FROM filters WHERE name = 'titles'");
	const { stream } = out.rows[0];

	// ... and in, from there.
	const put = await db.query(`INSERT INTO filters VALUES ('archive', $1::bytea::bloomfilter)
		ON CONFLICT (name) DO UPDATE SET f = filters.f | EXCLUDED.f RETURNING bf_count(f) AS count`, [stream]);
	console.log(stream.length, 'bytes, some', put.rows[0].count, 'elements');
	await db.end();
})();
