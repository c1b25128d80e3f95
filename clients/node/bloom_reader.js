// Ask a filter of bloomext in Redis, of layout guava, bitmap or window: by BITFIELD_RO, in batches.
//
//	const titles = new Filter(client, 'titles', 'text'); // a client of package redis
//	await titles.contains(['Breaking news', '首页']);    // [true, false]
//
// false is certain.  An error means that nothing is known: take it for true.
//
// A question is one round trip of three commands.  The first one reads the bits, and with
// them what shows that they are the filter's: the head of the string in layout guava, and
// bits that the string must have, its witness.  The others read what the filter is, its
// length and the hash next to it.  Where that is not as remembered, the bits may be another
// filter's.
//
// In layout guava the hash only says of which kind the elements are, and may be lost, or be
// about another string.  Where a witness does not prove it, elements are looked for in all
// their forms.
//
// Window asks a window of time, in two round trips: the hash, and then the clock and the
// words of all pieces, which say how far they are turned.

const BATCH = 100; // elements a command; larger ones keep Redis from others for longer
const TRIES = 5;   // where the filter is replaced again and again
const PIECE = 500000; // words of a piece of a window, except for the last one
const FIELDS = ['layout', 'strategy', 'bits', 'hashes', 'funnel', 'elements', 'whole', 'witness', 'mirrored'];
const STRONG = 24; // bits of a witness, which another string has hardly ever

// The kinds of elements: their funnel and what they are, as the hash names them, and their
// bytes.  What is of another kind is refused: its bytes would be others, and the answer a
// wrong no.
const FUNNELS = { text: 'utf8', integer: 'int', bigint: 'long', uuid: 'bytes', bytea: 'bytes', row: 'bytes' };
const NAMES = { text: ['text', 'char(n)'], integer: ['integer'], bigint: ['integer'], uuid: ['uuid'], bytea: ['bytea'], row: ['bytea'] };

function must(fits, element) {
	if (fits) return element;
	throw new TypeError(`no such element, or no array of them: ${typeof element} ${String(element)}`);
}

const isString = (value, pattern) => typeof value === 'string' && pattern.test(value);

const BYTES = {
	text: string => Buffer.from(must(typeof string === 'string', string)),
	integer: number => {
		const bytes = Buffer.alloc(4);
		return bytes.writeInt32LE(must(Number.isInteger(number), number)), bytes;
	},
	bigint: number => {
		const bytes = Buffer.alloc(8), exact = typeof number === 'bigint' || Number.isSafeInteger(number) || isString(number, /^-?\d+$/);
		return bytes.writeBigInt64LE(BigInt(must(exact, number))), bytes;
	},
	uuid: string => Buffer.from(must(isString(string, /^\{?([0-9a-f]-?){32}\}?$/i), string).replace(/[{}-]/g, ''), 'hex'),
	bytea: bytes => Buffer.from(must(bytes instanceof Uint8Array, bytes)),
	row: values => Buffer.concat([...must(Array.isArray(values) && values.length > 1, values)].flatMap(partOf)),
};

// A value of a row: the number of its kind, the length, and the bytes.
function partOf(value) {
	const [number, kind] = { string: [9, 'text'], number: [13, 'bigint'], bigint: [13, 'bigint'] }[typeof value] ?? (value?.uuid ? [12, 'uuid'] : [11, 'bytea']);
	const head = Buffer.of(number, 0, 0, 0, 0), bytes = BYTES[kind](kind === 'uuid' ? value.uuid : value);
	return head.writeUInt32LE(bytes.length, 1), [head, bytes];
}

// What an element may be in a filter of which the kind is not known.
function forms(funnel, element) {
	if (funnel === 'utf8') { // that of char(n) is without trailing blanks
		const trimmed = element.subarray(0, element.findLastIndex(byte => byte !== 32) + 1);
		return [element, trimmed].flatMap(text => [text, Buffer.from(text.toString(), 'utf16le')]);
	}
	if (funnel !== 'int' && funnel !== 'long') return [element];
	const number = element.readIntLE(0, 4), long = Buffer.alloc(8);
	long.writeBigInt64LE(funnel === 'int' ? BigInt(number) : element.readBigInt64LE());
	return long.readBigInt64LE() === BigInt(number) ? [long.subarray(0, 4), long] : [long];
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

// XXH64.
const P1 = 0x9e3779b185ebca87n, P2 = 0xc2b2ae3d27d4eb4fn, P3 = 0x165667b19e3779f9n, P4 = 0x85ebca77c2b2ae63n, P5 = 0x27d4eb2f165667c5n;
const take = (lane, word) => rotate(lane + word * P2 & MASK, 31n) * P1 & MASK;

function xxh64(bytes) {
	let h = P5, at = 0;
	if (bytes.length >= 32) {
		let lanes = [P1 + P2, P2, 0n, -P1];
		for (; at + 32 <= bytes.length; at += 32) lanes = lanes.map((lane, i) => take(lane, bytes.readBigUInt64LE(at + 8 * i)));
		h = lanes.reduce((sum, lane, i) => sum + rotate(lane, [1n, 7n, 12n, 18n][i]), 0n);
		for (const lane of lanes) h = (h & MASK ^ take(0n, lane)) * P1 + P4;
	}
	h = h + BigInt(bytes.length) & MASK;
	for (; at + 8 <= bytes.length; at += 8) h = rotate(h ^ take(0n, bytes.readBigUInt64LE(at)), 27n) * P1 + P4 & MASK;
	if (at + 4 <= bytes.length) {
		h = rotate(h ^ BigInt(bytes.readUInt32LE(at)) * P1 & MASK, 23n) * P2 + P3 & MASK;
		at += 4;
	}
	for (const byte of bytes.subarray(at)) h = rotate(h ^ BigInt(byte) * P5 & MASK, 11n) * P1 & MASK;
	h = (h ^ h >> 33n) * P2 & MASK;
	h = (h ^ h >> 29n) * P3 & MASK;
	return h ^ h >> 32n;
}

// Positions in m bits: of parquet a block of 256 of them by the upper half of the hash, and
// a bit in each of its words by the lower half.
const SALTS = [0x47b6137bn, 0x44974d91n, 0x8824ad5bn, 0xa2b7289dn, 0x705495c7n, 0x2df1424bn, 0x9efc4947n, 0x5c6bfb31n];
const POSITIONS = {
	guava(element, m, k) {
		const [h1, h2] = murmur3(element);
		return Array.from({ length: k }, (_, i) => BigInt.asUintN(63, h1 + BigInt(i) * h2) % m);
	},
	parquet(element, m) {
		const h = xxh64(element), block = (h >> 32n) * (m / 256n) >> 32n;
		return SALTS.map((salt, i) => 256n * block + 32n * BigInt(i) + (h * salt >> 27n & 31n));
	},
};

// How the elements of a filter become positions, and of which kind they are.
class Plan {
	constructor(key, funnel, elements) {
		Object.assign(this, { key, funnel, elements });
	}

	refuse(why) {
		throw new Error(`${this.key}: ${why}`);
	}

	number(text, least, most = 1e15 - 1) {
		if (!/^(0|[1-9]\d{0,14})$/.test(text) || +text < least || +text > most)
			this.refuse(`no filter: its hash says ${text}, and not a number from ${least} to ${most}`);
		return +text;
	}

	// By a hash that describes a filter.
	read(strategy, bits, hashes) {
		Object.assign(this, { strategy, m: this.number(bits, 1, 2 ** 32), k: this.number(hashes, 1, 255) });
		if (!Object.hasOwn(POSITIONS, strategy) || this.m % 64 || strategy === 'parquet' && (this.k !== 8 || this.m % 256))
			this.refuse(`strategy ${strategy} with ${bits} bits and ${hashes} hashes is not known`);
	}

	positions(element) {
		return POSITIONS[this.strategy](element, BigInt(this.m), this.k);
	}

	// Refuse elements of another kind than the hash says.
	check(kind, elements) {
		if (this.funnel && this.funnel !== FUNNELS[kind] || this.elements && !NAMES[kind].includes(this.elements))
			this.refuse(`its elements are ${this.elements || 'known'} as ${this.funnel}, not ${kind}`);
		if (this.elements === 'char(n)' && elements.some(element => element.at(-1) === 32))
			this.refuse('its elements are char(n): ask for them without trailing blanks');
	}
}

// What a filter is, by the first 48 bits of its string, its length and the hash next to it.
class Shape extends Plan {
	constructor(key, head, length, fields) {
		const [layout, strategy, bits, hashes, funnel, elements, whole, witness, mirrored] = fields;
		super(key, funnel, elements);
		Object.assign(this, { described: JSON.stringify([length, fields]), head: null });
		this.witness = Array.from((witness ?? '').matchAll(/ (\d+):(\d+)/g), ([, word, set]) => [word, BigInt(set)]);
		let shard = whole != null;
		if (layout === 'bitmap') {
			this.read(strategy, bits, hashes);
			if (length !== Math.ceil(this.m / 8)) this.refuse(`no filter: it has ${length} bytes, not ${bits} bits`);
			if (!/^\d+( \d+:[1-9]\d*)+$/.test(witness)) this.refuse('it has no witness, so that a lost filter looks like an empty one');
		} else {
			// Not by >> and &, which are of 32 bits.
			Object.assign(this, { head, strategy: 'guava', m: head % 2 ** 32 * 64, k: Math.floor(head / 2 ** 32) % 256 });
			if (Math.floor(head / 2 ** 40) !== 1 || !this.k || !this.m || length !== 6 + this.m / 8) this.refuse('no filter of layout guava or bitmap');
			// A hash that is about another string says nothing.
			const about = fields.slice(0, 4).join() === `guava,guava,${this.m},${this.k}`;
			if (!about) this.funnel = this.elements = shard = null;
			const ones = this.witness.map(([, set]) => set.toString(2).replaceAll('0', '')).join('').length;
			if (!about || mirrored == null || ones < STRONG) this.witness = [];
		}
		if (shard) this.refuse('a shard, which has some of the elements only');
	}

	isOf(head, described) {
		return described === this.described && (this.head === null || this.head === head);
	}

	// What BITFIELD_RO is to read: words of the witness, then bits.
	gets(elements) {
		const bits = elements.flatMap(element => this.positions(element));
		const offset = this.head === null ? p => p : p => 48n + (p ^ 63n);
		return [...this.witness.flatMap(([word]) => ['GET', 'u32', `#${word}`]), ...bits.flatMap(p => ['GET', 'u1', `${offset(p)}`])];
	}

	// By the values of gets().
	hasWitness(values) {
		return this.witness.every(([, set], i) => (BigInt(values[i]) & set) === set);
	}

	answers(values) {
		const bits = values.slice(this.witness.length);
		return Array.from({ length: bits.length / this.k }, (_, i) => bits.slice(i * this.k, (i + 1) * this.k).every(bit => bit));
	}
}

// What a window is, by its hash.
class WindowPlan extends Plan {
	constructor(key, [id, slice, slices, newest, turned, layout, strategy, bits, hashes, funnel, elements, whole]) {
		super(key, funnel, elements);
		if (layout !== 'window' || whole !== null || !id) this.refuse('no filter of layout window');
		this.read(strategy, bits, hashes);
		Object.assign(this, { id, slice: this.number(slice, 1000), slices: this.number(slices, 1, 30), newest: this.number(newest, 0) });
		this.turned = this.number(turned, 0, this.newest);
	}

	// For each piece that has words of elements their numbers, and those of the elements.
	pieces(elements) {
		const pieces = new Map();
		elements.forEach((element, i) => this.positions(element).map(Number).forEach(position => {
			const piece = Math.floor(position / PIECE);
			if (!pieces.has(piece)) pieces.set(piece, []);
			pieces.get(piece).push([position % PIECE, i]);
		}));
		return pieces;
	}

	now([seconds, micros]) {
		const slice = Math.floor((seconds * 1000 + Math.floor(micros / 1000)) / this.slice);
		if (this.newest > slice + 1) this.refuse('the clock is behind its newest slice');
		return Math.max(slice, this.newest);
	}

	isPiece(piece, at, id, length) {
		return id === this.id && length === 24 + 4 * Math.min(this.m - piece * PIECE, PIECE) && at >= this.turned && at <= this.newest;
	}

	// The bits that count of the words of a piece that was turned to a slice.
	live(at, now) {
		let bits = 0;
		for (let slice = Math.max(now - this.slices - 1, at - 31); slice <= at; slice++) bits |= 1 << slice;
		return bits;
	}
}

class Reader {
	constructor(client, key, kind) {
		const hash = `${key.includes('{') ? key : `{${key}}`}:bloomext`;
		Object.assign(this, { client, key, kind, hash, bytesOf: BYTES[kind] });
	}

	send(commands) {
		return Promise.all(commands.map(command => this.client.sendCommand(command)));
	}

	// An answer for each element.
	async contains(elements) {
		const all = [...must(Array.isArray(elements), elements)].map(element => this.bytesOf(element)), answers = [];
		for (let tries = TRIES; answers.length < all.length;) {
			const found = await this.ask(all.slice(answers.length, answers.length + BATCH), tries === 1);
			answers.push(...found);
			tries = found.length ? TRIES : tries - 1;
			if (!tries) throw new Error(`${this.key}: it is replaced again and again`);
		}
		return answers;
	}
}

// Each batch is of one moment.
class Filter extends Reader {
	shape = null;

	// An answer for each, or none if the filter is not as remembered; then the last try says why.
	async ask(batch, last) {
		const { shape } = this;
		const asked = batch.map(element => shape?.witness.length ? [element] : forms(FUNNELS[this.kind], element));
		const [[head, ...values], length, fields] = await this.send([
			['BITFIELD_RO', this.key, 'GET', 'u48', '0', ...(shape ? shape.gets(asked.flat()) : [])],
			['STRLEN', this.key], ['HMGET', this.hash, ...FIELDS],
		]);
		if (shape?.isOf(head, JSON.stringify([length, fields]))) {
			if (shape.hasWitness(values)) {
				shape.check(this.kind, batch);
				const found = shape.answers(values);
				return asked.map(formsOfOne => found.splice(0, formsOfOne.length).includes(true));
			}
			if (last || shape.head === null) shape.refuse('it has lost bits');
			// The hash is about another string of this shape.
			this.shape = Object.assign(Object.create(Shape.prototype), shape, { witness: [], funnel: null, elements: null });
			return [];
		}
		this.shape = null;
		try {
			this.shape = new Shape(this.key, head, length, fields);
		} catch (error) {
			// Of two filters, perhaps, but not where there is none.
			if (last || !length) throw error;
		}
		return [];
	}
}

// A window of time.
class Window extends Reader {
	// An answer for each, or none if it was turned, or replaced, after its hash was read.
	async ask(batch, last) {
		const [fields] = await this.send([['HMGET', this.hash, 'id', 'slice', 'slices', 'newest', 'turned', ...FIELDS]]);
		const plan = new WindowPlan(this.key, fields);
		plan.check(this.kind, batch);
		const pieces = plan.pieces(batch);
		const [time, ...replies] = await this.send([['TIME'], ...[...pieces].flatMap(([piece, words]) => {
			const key = `${this.hash}-window-${plan.id}-${piece}`;
			return [['BITFIELD_RO', key, 'GET', 'i64', '0', ...words.flatMap(([word]) => ['GET', 'u32', `#${word + 6}`])],
				['GETRANGE', key, '8', '23'], ['STRLEN', key]];
		})]);
		const now = plan.now(time), common = new Int32Array(batch.length).fill(-1);
		for (const [piece, words] of pieces) {
			const [[at, ...found], id, length] = replies.splice(0, 3);
			if (!plan.isPiece(piece, at, id, length)) {
				if (last) plan.refuse('it has lost a part');
				return [];
			}
			const live = plan.live(at, now);
			found.forEach((word, i) => { common[words[i][1]] &= word & live; });
		}
		// An element is there if its words have a bit in common.
		return Array.from(common, bits => bits !== 0);
	}
}

module.exports = { Filter, Window };
