// Ask by clients/node, as ask.py does.
const { createClient } = require('redis');
const { Filter, Window } = require('./bloom_reader.js');

const PARSE = { text: String, integer: Number, bigint: BigInt, uuid: String, bytea: line => Buffer.from(line, 'hex') };
const VALUES = { t: String, n: BigInt, u: uuid => ({ uuid }), b: PARSE.bytea };
PARSE.row = line => line.split('\t').map(value => VALUES[value[0]](value.slice(1)));

async function ask(client, key, kind, file, ...command) {
	const elements = require('fs').readFileSync(file, 'utf8').split('\n').slice(0, -1).map(line => PARSE[kind](line));
	const reader = new (key.startsWith('window') ? Window : Filter)(client, key, kind);
	if (command.length > 0) {
		await reader.contains(elements);
		const send = client.sendCommand;
		client.sendCommand = async question => {
			client.sendCommand = send;
			await client.sendCommand(command);
			await reader.contains(elements);
			return client.sendCommand(question);
		};
	}
	return (await reader.contains(elements)).map(Number).join('');
}

(async () => {
	for await (const line of require('readline').createInterface({ input: process.stdin })) {
		const [url, ...question] = line.split('\t'), client = createClient({ url });
		await client.connect();
		const answer = await ask(client, ...question).catch(error => error.message.replace(/\s+/g, ' '));
		await client.quit();
		console.log(answer);
	}
})();
