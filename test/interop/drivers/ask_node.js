// What test/t/011_drivers.pl asks of each driver, by node-postgres.
const { Client } = require('pg');

const ELEMENTS = ['plain', 'with "quotes", {braces} and \\', 'ünï', null];

const show = answers => console.log(answers.map(answer => answer === null ? '-' : answer ? 't' : 'f').join(' '));

(async () => {
	const client = new Client();
	await client.connect();
	const ask = async (query, ...parameters) =>
		Object.values((await client.query(query, parameters)).rows[0])[0];

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
	const stream = await ask('SELECT bf_export(f) FROM filters');
	show([await ask('SELECT $1::bytea::bloomfilter = f FROM filters', stream)]);
	await client.end();
})().catch(error => { console.error(error.message); process.exit(1); });
