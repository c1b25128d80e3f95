// Tests an implementation against the vectors: what it is to offer is said in ../README.md.
const { readFileSync } = require('fs');
const ELEMENT = /^(?:int[48]:(-?\d+)|(?:text|text16|bytea|uuid):(?:rep:(\d+):)?((?:[0-9a-f]{2})*))$/;
const WORDS = (i, m) => [Math.floor(i / 64) * 8 + 7 - Math.floor(i % 64 / 8) - Math.ceil(m / 64) * 8, 1 << i % 8]; // from the end
const LEAST = (i, m) => [Math.floor(i / 8) - Math.ceil(m / 8), 1 << i % 8], MOST = (i, m) => [LEAST(i, m)[0], 128 >> i % 8];
const ORDERS = { write_to_hex: WORDS, stream_hex: LEAST, bits_lsb_hex: LEAST, redis_hex: MOST };
const cell = (row, ...names) => row[names.find(name => name in row)];
const number = text => { if (!/^-?\d+$/.test(text)) throw Error(`${text} is no number`); return +text; };
const m = row => 'blocks' in row ? 256 * number(row.blocks) : number(cell(row, 'bit_size', 'm', 'size', 'bits'));
const k = row => 'blocks' in row ? 8 : number(cell(row, 'k', 'hash_iterations'));
const bitsOf = bytes => bytes.reduce((sum, byte) => sum + byte.toString(2).replace(/0/g, '').length, 0);
const element = ({ etype, value }) => {
	const [, digits, times, unit] = ELEMENT.exec(`${etype}:${value}`);
	return [etype, digits ? Buffer.from(digits) : Buffer.from(unit.repeat(times ?? 1), 'hex')];
};

// How many agree, how many do not, and how many are left out.
module.exports.check = async (implementation, folder, strategy) => {
	const counts = [0, 0, 0], count = agrees => counts[agrees ? 0 : 1]++;
	const rows = name => {
		const [head, ...lines] = readFileSync(`${folder}/${name}.tsv`, 'utf8').slice(0, -1).split('\n').map(line => line.split('\t'));
		counts[1] += lines.filter(line => line.length !== head.length).length || !lines.length;
		return lines.map(line => Object.fromEntries(head.map((column, i) => [column, line[i]])));
	};
	const filters = rows('filters'), inserted = rows('filter_elements'), probes = rows('probes');
	const elements = new Map(rows('hashing').map(row => [row.elem_id, element(row)]));
	const kind = Object.keys(ORDERS).find(column => column in filters[0]), ids = filters.map(row => row.filter_id);
	const fits = ({ version = '', seed = '0', ...row }) => {
		if (m(row) > 0 && m(row) <= 1 << 20 && seed === '0' && !/^sha256:/.test(row[kind]) && strategy.endsWith(version)) return true;
		counts[/^[12]?$/.test(version) ? 2 : 1]++;
	};
	counts[1] += [...inserted, ...probes].filter(x => !ids.includes(x.filter_id)).length;
	for (const row of rows('positions').filter(fits)) {
		const positions = row.positions.split(',').map(number), answers = [];
		for (const missing of new Set([null, ...positions])) {
			const bytes = Buffer.from(await implementation.empty(m(row), k(row)));
			for (const i of positions) if (i !== missing) bytes[bytes.length + ORDERS[kind](i, m(row))[0]] |= ORDERS[kind](i, m(row))[1];
			answers.push(await (await implementation.open(bytes, m(row), k(row))).contains(...elements.get(row.elem_id)));
		}
		count(positions.length === k(row) && answers.every((answer, i) => answer === (i === 0)));
	}
	for (const row of filters.filter(fits)) {
		const empty = await implementation.empty(m(row), k(row)), mine = x => x.filter_id === row.filter_id;
		const bytes = Buffer.concat([element({ etype: 'bytea', value: row[kind] })[1]], empty.length);
		const [full, made] = [await implementation.open(bytes, m(row), k(row)), await implementation.open(empty, m(row), k(row))];
		let before = empty, adds = false;
		for (const [i, x] of inserted.filter(mine).entries()) {
			const asked = 'add_result' in x ? await implementation.open(before, m(row), k(row) - 1) : made; // Redisson leaves out the last
			const changed = await asked.contains(...element(x)) ? '0' : '1';
			adds = await made.add(...element(x));
			before = adds ? await made.bytes() : empty;
			const said = Object.keys(x).length > 4 ? cell(x, 'put_result', 'add_result', 'changed') : changed;
			count(await full.contains(...element(x)) && x.seq === `${i + 1}` && (adds ? said === changed : /^[01]$/.test(said)));
		}
		count(`${bitsOf(bytes.map((byte, i) => byte ^ empty[i]))}` === row.bit_count && !(adds && bytes.compare(before)));
		for (const x of probes.filter(mine))
			count(cell(x, 'contains_all_k', 'might_contain', 'present', 'contains') === (await full.contains(...element(x)) ? '1' : '0'));
	}
	return counts;
};
