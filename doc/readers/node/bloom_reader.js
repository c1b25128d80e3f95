// Ask a filter of bloomext in Redis, layout guava: by BITFIELD_RO, in batches.
//
//	const titles = new Filter(client, 'titles', 'text'); // a client of package redis
//	await titles.contains(['Breaking news', '首页']);    // [true, false]
//
// false is certain.  An error means that nothing is known: take it for true.

const BATCH = 100; // elements a command; larger ones keep Redis from others for longer

// The kinds of elements, as bytes.  Which one is in the filter, it does not say.
const BYTES = {
	text: string => Buffer.from(string),
	integer: number => { const bytes = Buffer.alloc(4); bytes.writeInt32LE(number); return bytes; },
	bigint: number => { const bytes = Buffer.alloc(8); bytes.writeBigInt64LE(BigInt(number)); return bytes; },
	uuid: string => Buffer.from(string.replace(/-/g, ''), 'hex'),
	bytea: bytes => bytes,
};

// MurmurHash3 x64 128: its halves.
const MASK = (1n << 64n) - 1n, C1 = 0x87c37b91114253d5n, C2 = 0x4cf5ad432745937fn;
const rotate = (x, r) => (x << r | x >> 64n - r) & MASK;
const mix = (k, factor) => (k ^ k >> 33n) * factor & MASK;
const finish = k => mix(mix(mix(k, 0xff51afd7ed558ccdn), 0xc4ceb9fe1a85ec53n), 1n);

function murmur3(bytes) {
	const blocks = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 15)]), length = BigInt(bytes.length);
	let h1 = 0n, h2 = 0n;
	for (let at = 0; at < blocks.length; at += 16) {
		const whole = at + 16 <= bytes.length;
		h1 ^= rotate(blocks.readBigUInt64LE(at) * C1 & MASK, 31n) * C2 & MASK;
		if (whole) h1 = (rotate(h1, 27n) + h2) * 5n + 0x52dce729n & MASK;
		h2 ^= rotate(blocks.readBigUInt64LE(at + 8) * C2 & MASK, 33n) * C1 & MASK;
		if (whole) h2 = (rotate(h2, 31n) + h1) * 5n + 0x38495ab5n & MASK;
	}
	h1 ^= length, h2 ^= length, h1 = h1 + h2 & MASK, h2 = h1 + h2 & MASK;
	h1 = finish(h1), h2 = finish(h2);
	return [h1 + h2 & MASK, h1 + 2n * h2 & MASK];
}

// The head's parts: not by >> and &, which are of 32 bits.
const strategyOf = head => Math.floor(head / 2 ** 40);
const hashesOf = head => Math.floor(head / 2 ** 32) % 256;
const wordsOf = head => head % 2 ** 32;

function positions(element, head) {
	const [h1, h2] = murmur3(element), m = BigInt(wordsOf(head)) * 64n;
	return Array.from({ length: hashesOf(head) }, (_, i) => BigInt.asUintN(63, h1 + BigInt(i) * h2) % m);
}

class Filter {
	constructor(client, key, kind) {
		Object.assign(this, { client, key, bytesOf: BYTES[kind], head: 0 });
	}

	// An answer for each element, each batch of one moment.
	async contains(elements) {
		const answers = [];
		while (answers.length < elements.length) {
			const { head } = this, batch = elements.slice(answers.length, answers.length + BATCH).map(this.bytesOf);
			// Head and bits by one command: by two, they could be of two filters.
			const gets = batch.flatMap(element => positions(element, head)).flatMap(p => ['GET', 'u1', `${48n + (p ^ 63n)}`]);
			const [seen, ...bits] = await this.client.sendCommand(['BITFIELD_RO', this.key, 'GET', 'u48', '0', ...gets]);
			if (head && seen === head) {
				const k = hashesOf(head);
				batch.forEach((_, i) => answers.push(bits.slice(i * k, (i + 1) * k).every(bit => bit)));
				continue;
			}
			// The first time, or replaced by another one.  Where no key is, all is 0: that is no filter.
			if (strategyOf(seen) !== 1 || await this.client.sendCommand(['STRLEN', this.key]) !== 6 + 8 * wordsOf(seen))
				throw new Error(`${this.key} is no filter of layout guava`);
			this.head = seen;
		}
		return answers;
	}
}

module.exports = { Filter };
