// doc/readers/node, which only reads, as an implementation of strategy guava: reader.js FOLDER STRATEGY
//
// What it asks a client is answered out of the bytes, as Redis does.
const { Filter } = require('./bloom_reader.js');
const { check } = require('./vectors.js');

const KINDS = {
	text: ['text', value => value.toString()], text16: ['bytea', value => Buffer.from(value.toString(), 'utf16le')],
	int4: ['integer', value => +value], int8: ['bigint', value => value.toString()], bytea: ['bytea', value => value],
};
const clientOf = bytes => ({
	sendCommand: async ([command, , ...gets]) => {
		if (command === 'STRLEN') return bytes.length;
		const bit = i => bytes[i >> 3] >> (7 - i % 8) & 1;
		return gets.filter((_, i) => i % 3 === 2).map((at, i) => i ? bit(+at) : bytes.readUIntBE(0, 6));
	},
});

const implementation = {
	empty(m, k) {
		const bytes = Buffer.alloc(6 + m / 8);
		bytes.writeUInt16BE(256 + k), bytes.writeUInt32BE(m / 64, 2);
		return bytes;
	},
	open: bytes => ({
		async contains(etype, value) {
			const [kind, made] = KINDS[etype];
			return (await new Filter(clientOf(bytes), 'key', kind).contains([made(value)]))[0];
		},
		add: () => false,
	}),
};

check(implementation, ...process.argv.slice(2)).then(([passed, failed, leftOut]) => {
	console.log(`${passed} passed, ${failed} failed, ${leftOut} left out`);
	process.exit(failed > 0 ? 1 : 0);
});
