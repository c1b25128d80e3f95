// What test/t/interop/drivers.pl asks of each driver, by node-postgres.
const { Client } = require('pg');

const ELEMENTS = ['plain', 'with "quotes", {braces} and \\', 'ünï', null];

const show = answers => console.log(answers.map(answer => answer === null ? '-' : answer ? 't' : 'f').join(' '));

(async () => {
	const client = new Client({ connectionString: process.env.DATABASE_URL });
	await client.connect();
	const ask = async (query, ...parameters) =>
		Object.values((await client.query(query, parameters)).rows[0])[0];
	const careless = async (query, ...parameters) => {
		const answer = await ask(query, ...parameters).catch(() => 'error');
		console.log(`${answer}`.startsWith('\\x6266') ? 'text' : typeof answer === 'string' ? answer : 'works');
	};

	for (const elements of [ELEMENTS, null, []]) {
		await client.query('UPDATE filters SET f = bf_add_all(f, $1)', [elements]);
		show(await ask('SELECT bf_contains_each(f, $1) FROM filters', [...ELEMENTS, 'other']));
	}
	await client.query('UPDATE filters SET f = bf_add(f, $1)', [null]);
	show([await ask('SELECT bf_contains_all(f, $1) FROM filters', ELEMENTS),
		await ask('SELECT bf_contains_all(f, $1) FROM filters', [...ELEMENTS, 'other'])]);
	show(await ask("SELECT bf_live_contains_each('titles', $1)", ['title', 'other', null]));
	show([await ask("SELECT bf_live_contains_all('titles', $1)", ['title', null]),
		await ask("SELECT bf_live_contains_all('titles', $1)", ['title', 'other'])]);
	show([await ask('SELECT bf_contains(f, $1::bigint) FROM numbers', 5),
		await ask('SELECT bf_contains(f, $1::bigint) FROM numbers', -5)]);
	const stream = await ask('SELECT bf_export(f) FROM filters');
	show([await ask('SELECT $1::bytea::bloomfilter = f FROM filters', stream)]);

	// Prepared, as it has a name.
	const late = async () => (await client.query(
		{ name: 'late', text: 'SELECT bf_contains(f, $1::text) AS there FROM filters', values: ['late'] })).rows[0].there;
	const answers = [];
	for (let i = 0; i < 12; i++) answers.push(await late());
	show(answers);
	await client.query("UPDATE filters SET f = bf_add(f, 'late')");
	show([await late()]);

	await careless('SELECT f FROM filters');
	await careless('SELECT $1::bloomfilter IS NOT NULL', stream);
	await careless('SELECT bf_contains_each(f, $1) FROM filters', ['plain']);
	await careless('SELECT bf_contains_each(f, $1) FROM filters', '{plain}');
	await careless('SELECT bf_contains(f, $1) FROM numbers', 5);
	await careless('SELECT (bf_info(bf_add(bf_create(100), $1))).funnel', 5);
	await client.end();
})().catch(error => { console.error(error.message); process.exit(1); });
