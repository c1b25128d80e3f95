// Tests an implementation against the vectors: what it is to offer is said in ../README.md.
const { readFileSync } = require('fs');

const LARGEST = 1 << 20; // bits of a filter that is made here; what has more, or a seed, is left out
const WORDS = i => [Math.floor(i / 64) * 8 + 7 - Math.floor(i % 64 / 8), 1 << i % 8], LEAST = i => [Math.floor(i / 8), 1 << i % 8];
const ORDERS = { write_to_hex: WORDS, stream_hex: LEAST, bits_lsb_hex: LEAST, redis_hex: i => [Math.floor(i / 8), 128 >> i % 8] };

const cell = (row, ...names) => row[names.find(name => name in row)];
const m = row => 'blocks' in row ? 256 * row.blocks : +cell(row, 'bit_size', 'm', 'size', 'bits');
const k = row => 'blocks' in row ? 8 : +cell(row, 'k', 'hash_iterations');
const bitsOf = bytes => [...bytes].reduce((sum, byte) => sum + byte.toString(2).replace(/0/g, '').length, 0);

function element(row) {
	const { etype = 'text', value } = row, [, times = 1, unit = value] = value.startsWith('rep:') ? value.split(':') : [];
	return [etype, etype.startsWith('int') ? Buffer.from(value) : Buffer.from(unit.repeat(times), 'hex')];
}

// How many agree, how many do not, and how many are left out.
async function check(implementation, folder, strategy) {
	const counts = [0, 0, 0], count = agrees => counts[agrees ? 0 : 1]++;
	const rows = name => {
		const [head, ...lines] = readFileSync(`${folder}/${name}.tsv`, 'utf8').trimEnd().split('\n').map(line => line.split('\t'));
		return lines.map(line => Object.fromEntries(head.map((column, i) => [column, line[i]])))
			.filter(row => strategy.endsWith(row.version ?? ''));
	};
	const filters = rows('filters'), inserted = rows('filter_elements'), probes = rows('probes');
	const elements = new Map(rows('hashing').map(row => [row.elem_id, element(row)]));
	const kind = Object.keys(ORDERS).find(column => column in filters[0]);
	const leftOut = row => !(m(row) > 0 && m(row) <= LARGEST) || +(row.seed ?? 0) || /^sha256/.test(row[kind]);

	for (const row of rows('positions')) {
		if (leftOut(row)) { counts[2]++; continue; }
		const positions = [...new Set(row.positions.split(','))], answers = [];
		for (const missing of [null, ...positions]) {
			const bytes = Buffer.from(await implementation.empty(m(row), k(row)));
			const start = bytes.length - (ORDERS[kind] === WORDS ? Math.ceil(m(row) / 64) * 8 : Math.ceil(m(row) / 8));
			for (const [at, mask] of positions.filter(i => i !== missing).map(ORDERS[kind])) bytes[start + at] |= mask;
			answers.push(await (await implementation.open(bytes, m(row), k(row))).contains(...elements.get(row.elem_id)));
		}
		count(answers.every((answer, i) => answer === (i === 0)));
	}
	for (const row of filters) {
		if (leftOut(row)) { counts[2]++; continue; }
		const empty = await implementation.empty(m(row), k(row)), bytes = Buffer.alloc(empty.length, 0), mine = x => x.filter_id === row.filter_id;
		bytes.write(row[kind], 'hex');
		const [full, made] = [await implementation.open(bytes, m(row), k(row)), await implementation.open(empty, m(row), k(row))];
		let adds = false;
		for (const x of inserted.filter(mine)) {
			const unlike = await made.contains(...element(x)) ? '1' : '0'; // what is in a filter does not change it
			adds = await made.add(...element(x));
			count(await full.contains(...element(x)) && !(adds && cell(x, 'put_result', 'changed') === unlike));
		}
		count(bitsOf(bytes) - bitsOf(empty) === +row.bit_count && !(adds && bytes.compare(await made.bytes())));
		for (const x of probes.filter(mine))
			count(await full.contains(...element(x)) === (cell(x, 'contains_all_k', 'might_contain', 'present', 'contains') === '1'));
	}
	return counts;
}

module.exports = { check };
