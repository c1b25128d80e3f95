// Ask by clients/node what it takes, in filters that have it, and what it has to refuse: forms.js URL.
const { createClient } = require('redis');
const { Filter } = require('./bloom_reader.js');

const ID = 'c81e728d-9d4c-2f63-6f06-7f89cc14862c', BYTES = Buffer.from(ID.replace(/-/g, ''), 'hex');
const TAKEN = {
	bytea: [Buffer.of(2), Uint8Array.of(2)], uuid: [ID, ID.toUpperCase(), `{${ID}}`, ID.replace(/-/g, '')],
	bigint: [0, 0n, '0', 9223372036854775807n, '9223372036854775807'], integer: [0, -0],
	row: [['', -9223372036854775807n], ['长 '.repeat(30000), -4]],
};
const NEVER = [undefined, null, NaN, {}, [], ['one'], true, 5.5, Symbol('one'), new String('one'), new Number(5), [5], [5n], ['5'], [ID]];
const REFUSED = {
	text: [...NEVER, 5, Buffer.from('one')], integer: [...NEVER, '', '5', 5n, 2 ** 31, Infinity],
	bigint: [...NEVER, new Number(2 ** 53), [2 ** 53], Object(5n), new String('5'), '', ' 5', '5\n', '0x5', 'five', 2 ** 53, 2n ** 63n, Infinity],
	uuid: [...NEVER, new String(ID), '', ` ${ID}`, `${ID}\n`, `urn:uuid:${ID}`, ID.slice(1), `${ID}0`, `g${ID.slice(1)}`, BYTES],
	row: [...NEVER, 'one', ['one', null], ['one', true], ['one', 5.5], ['one', 2n ** 63n], ['one', [5]], ['one', , 1], ['one', { uuid: '5' }], ['one', { uuid: [ID] }], ['one', new Number(5)]],
	bytea: [...NEVER, 5, '\x02', [2], { type: 'Buffer', data: [2] }, Uint16Array.of(2), Uint8Array.of(2).buffer],
};
const LISTS = ['one', new Set(['one']), new Map([['one', 1]]), Promise.resolve(['one']), { 0: 'one', length: 1 }, null, undefined,
	(function* () { yield 'one'; })(), [, 'one']];

(async () => {
	const client = createClient({ url: process.argv[2] });
	await client.connect();
	for (const kind in TAKEN) console.log(kind, ...(await new Filter(client, kind, kind).contains(TAKEN[kind])).map(Number));
	const refused = Object.entries(REFUSED).flatMap(([kind, elements]) => elements.map(element => [kind, [element]]));
	for (const [kind, elements] of [...refused, ...LISTS.map(list => ['text', list])]) {
		const answer = await new Filter(client, kind, kind).contains(elements).catch(error => error);
		if (!(answer instanceof TypeError || answer instanceof RangeError)) console.log(kind, 'takes', elements, answer);
	}
	await client.quit();
})().catch(error => { console.error(error); process.exit(1); });
