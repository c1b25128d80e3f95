// Ask a filter of bloomext in Redis, layout guava: by BITFIELD_RO, in batches.
//
//	const titles = new Filter(client, 'titles', 'text'); // a client of package redis
//	await titles.contains(['Breaking news', '首页']);    // [true, false]
//
// false is certain.  An error means that nothing is known: take it for true.

const BATCH = 100; // elements a command; larger ones keep Redis from others for longer
const TRIES = 5;   // where the filter is replaced again and again

// The kinds of elements, as bytes.  Which one is in the filter, it does not say.  What
// is of another kind is refused: its bytes would be others, and the answer a wrong no.
function must(fits, element) {
	if (fits) return element;
	throw new TypeError(`no such element, or no array of them: ${typeof element} ${String(element)}`);
}
const BYTES = {
	text: string => Buffer.from(must(typeof string === 'string', string)),
	integer: number => {
		const bytes = Buffer.alloc(4);
		return bytes.writeInt32LE(must(Number.isInteger(number), number)), bytes;
	},
	bigint: number => {
		const bytes = Buffer.alloc(8), exact = typeof number === 'number' ? Number.isSafeInteger(number) : /^-?\d+$/.test(number);
		return bytes.writeBigInt64LE(BigInt(must(exact, number))), bytes;
	},
	uuid: string => Buffer.from(must(/^\{?([0-9a-f]-?){32}\}?$/i.test(string), string).replace(/[{}-]/g, ''), 'hex'),
	bytea: bytes => Buffer.from(must(bytes instanceof Uint8Array, bytes)),
	row: values => Buffer.concat([...must(Array.isArray(values) && values.length > 1, values)].flatMap(partOf)),
};

// A value of a row: the number of its kind, the length, and the bytes.
function partOf(value) {
	const [number, kind] = { string: [9, 'text'], number: [13, 'bigint'], bigint: [13, 'bigint'] }[typeof value] ?? (value?.uuid ? [12, 'uuid'] : [11, 'bytea']);
	const head = Buffer.of(number, 0, 0, 0, 0), bytes = BYTES[kind](kind === 'uuid' ? value.uuid : value);
	return head.writeUInt32LE(bytes.length, 1), [head, bytes];
}

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

// The head's strategy, hashes and words: not by >> and &, which are of 32 bits.
const partsOf = head => [Math.floor(head / 2 ** 40), Math.floor(head / 2 ** 32) % 256, head % 2 ** 32];

function positions(element, k, words) {
	const [h1, h2] = murmur3(element), m = BigInt(words) * 64n;
	return Array.from({ length: k }, (_, i) => BigInt.asUintN(63, h1 + BigInt(i) * h2) % m);
}

class Filter {
	constructor(client, key, kind) {
		Object.assign(this, { client, key, bytesOf: BYTES[kind], head: 0 });
	}

	// An answer for each element, each batch of one moment.
	async contains(elements) {
		const all = [...must(Array.isArray(elements), elements)].map(element => this.bytesOf(element)), answers = [];
		for (let tries = 0; answers.length < all.length;) {
			const { head } = this, batch = all.slice(answers.length, answers.length + BATCH);
			// Head and bits by one command: by two, they could be of two filters.
			const [, k, m] = partsOf(head), asked = batch.flatMap(element => positions(element, k, m));
			const gets = asked.flatMap(p => ['GET', 'u1', `${48n + (p ^ 63n)}`]);
			const [seen, ...bits] = await this.client.sendCommand(['BITFIELD_RO', this.key, 'GET', 'u48', '0', ...gets]);
			if (head && seen === head) {
				batch.forEach((_, i) => answers.push(bits.slice(i * k, (i + 1) * k).every(bit => bit)));
				tries = 0;
				continue;
			}
			// The first time, or replaced; perhaps again between the two commands.  Where no key is, all is 0.
			const [strategy, hashes, words] = partsOf(seen), length = await this.client.sendCommand(['STRLEN', this.key]);
			if (strategy === 1 && hashes && words && length === 6 + 8 * words) this.head = seen;
			else if (!length || ++tries >= TRIES) throw new Error(`${this.key} is no filter of layout guava`);
		}
		return answers;
	}
}

module.exports = { Filter };
