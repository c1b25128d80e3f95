// clients/node, which only reads, as an implementation: reader.js FOLDER STRATEGY
//
// guava in layout guava, as bytes, since without a hash their kind is not known; parquet in
// layout bitmap, where no reader takes an empty filter, and none is asked.  What it asks a
// client is answered out of the bytes, as Redis does.
const { Filter } = require('./bloom_reader.js');
const { check } = require('./vectors.js');

const [folder, strategy] = process.argv.slice(2);
const KINDS = {
	text: ['text', value => value.toString()], text16: ['bytea', value => Buffer.from(value.toString(), 'utf16le')],
	int4: ['integer', value => +value], int8: ['bigint', value => value.toString()], bytea: ['bytea', value => value],
	uuid: ['uuid', value => value.toString('hex')],
};
if (strategy === 'guava') {
	const integer = (bytes, write, number) => (bytes[write](number), bytes);
	KINDS.text = KINDS.bytea;
	KINDS.int4 = ['bytea', value => integer(Buffer.alloc(4), 'writeInt32LE', +value)];
	KINDS.int8 = ['bytea', value => integer(Buffer.alloc(8), 'writeBigInt64LE', BigInt(value.toString()))];
}

// Parquet's bits lie the other way round in a byte, behind a head.
function redisOf(bytes, m, k) {
	const parquet = strategy === 'parquet', string = parquet ? bytes.subarray(bytes.length - m / 8) : bytes;
	const bit = i => string[i >> 3] >> (parquet ? i % 8 : 7 - i % 8) & 1;
	const word = number => Array.from({ length: 32 }, (_, i) => bit(32 * number + i)).reduce((sum, one) => sum * 2 + one);
	const first = string.findIndex(byte => byte), number = first >> 2;
	const empty = parquet && first < 0;
	const fields = parquet && !empty
		? ['bitmap', 'parquet', `${m}`, `${k}`, null, null, null, `${string.length} ${number}:${word(number)}`, null] : Array(9).fill(null);
	const get = (size, at) => ({ u1: bit, u32: word, u48: () => string.readUIntBE(0, 6) })[size](+at.replace('#', ''));
	const replies = {
		STRLEN: () => string.length,
		HMGET: () => fields,
		BITFIELD_RO: gets => gets.flatMap((size, i) => i % 3 === 1 ? [get(size, gets[i + 1])] : []),
	};
	return { empty, sendCommand: async ([command, , ...gets]) => replies[command](gets) };
}

const varint = number => number > 127 ? [number & 127 | 128, ...varint(number >> 7)] : [number];

const implementation = {
	empty(m, k) {
		if (strategy === 'parquet')
			return Buffer.concat([Buffer.of(0x15, ...varint(m / 4)), Buffer.from('1c1c00001c1c00001c1c000000', 'hex'), Buffer.alloc(m / 8)]);
		const bytes = Buffer.alloc(6 + m / 8);
		bytes.writeUInt16BE(256 + k), bytes.writeUInt32BE(m / 64, 2);
		return bytes;
	},
	open(bytes, m, k) {
		const redis = redisOf(bytes, m, k);
		return {
			async contains(etype, value) {
				const [kind, made] = KINDS[etype];
				return !redis.empty && (await new Filter(redis, 'key', kind).contains([made(value)]))[0];
			},
			add: () => false,
		};
	},
};

check(implementation, folder, strategy).then(([passed, failed, leftOut]) => {
	console.log(`${passed} passed, ${failed} failed, ${leftOut} left out`);
	process.exit(failed > 0 ? 1 : 0);
});
