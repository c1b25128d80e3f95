// Ask by clients/node: ask.js URL KEY KIND [COMMAND...] < elements, one a line, as ask.py does.
const { createClient } = require('redis');
const { Filter } = require('./bloom_reader.js');

const PARSE = { text: String, integer: Number, bigint: BigInt, uuid: String, bytea: line => Buffer.from(line, 'hex') };
const VALUES = { t: String, n: BigInt, u: uuid => ({ uuid }), b: PARSE.bytea };
PARSE.row = line => line.split('\t').map(value => VALUES[value[0]](value.slice(1)));

(async () => {
	const [url, key, kind, ...command] = process.argv.slice(2);
	const client = createClient({ url });
	await client.connect();
	const elements = require('fs').readFileSync(0, 'utf8').split('\n').slice(0, -1).map(line => PARSE[kind](line));
	const reader = new Filter(client, key, kind);
	if (command.length > 0) {
		await reader.contains(elements);
		const ask = client.sendCommand;
		client.sendCommand = async question => {
			client.sendCommand = ask;
			await client.sendCommand(command);
			await reader.contains(elements);
			return client.sendCommand(question);
		};
	}
	process.stdout.write((await reader.contains(elements)).map(answer => `${Number(answer)}\n`).join(''));
	await client.quit();
})().catch(error => { console.error(error.message); process.exit(1); });
