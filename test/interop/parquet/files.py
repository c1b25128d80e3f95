"""Parquet files of elements, and the filters in them: files.py FOLDER

FOLDER has lift.py, which is the function of doc/scale.md, and elements.tsv: kind, part
("present" or "absent"), value, a line each.  Made are filters.tsv, the filters of all
files that pyarrow and DuckDB write, by writer, kind, file and row group; and
answers.tsv, what DuckDB says of some elements: file, kind, value, whether it reads any
row group for it.
"""
import sys
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
sys.path.insert(0, folder)
from lift import bloom_filters  # noqa: E402

TYPES = {'text': (pa.string(), str), 'bytea': (pa.binary(), bytes.fromhex),
         'uuid': (pa.uuid(), lambda x: uuid.UUID(x).bytes), 'integer': (pa.int32(), int), 'bigint': (pa.int64(), int)}
SQL = {'text': 'VARCHAR', 'bytea': 'BLOB', 'uuid': 'UUID', 'integer': 'INTEGER', 'bigint': 'BIGINT'}

elements = {}
with open(f'{folder}/elements.tsv', encoding='utf-8') as lines:
    for line in lines:
        kind, part, value = line.rstrip('\n').split('\t')
        elements.setdefault((kind, part), []).append(value)


def table(kind, values):
    type_, read = TYPES[kind]
    return pa.table({'x': pa.array([read(value) for value in values], type_)})


def write(kind, values):
    """Files of the values, each written in another way: the writer, and its path."""
    rows = table(kind, values)
    for ndv, fpp in ((len(values), 0.01), (2 * len(values), 0.0001)):
        path = f'{folder}/pyarrow-{kind}-{fpp}.parquet'
        pq.write_table(rows, path, row_group_size=len(values) // 3 + 1, bloom_filter_options={'x': {'ndv': ndv, 'fpp': fpp}})
        yield 'pyarrow', path
    # Only a dictionary gets a filter: each value is there more than once, in row groups of its own.
    path = f'{folder}/duckdb-{kind}.parquet'
    with duckdb.connect() as db:
        db.register('rows', rows)
        db.execute(f"COPY (SELECT x::{SQL[kind]} AS x FROM rows, range(20) ORDER BY x) TO '{path}' "
                   '(ROW_GROUP_SIZE 400000, DICTIONARY_SIZE_LIMIT 1000000)')
    yield 'duckdb', path


def literal(kind, value):
    return f"'{value}'::{SQL[kind]}" if kind != 'bytea' else f"from_hex('{value}')"


with open(f'{folder}/filters.tsv', 'w', encoding='ascii') as filters, open(f'{folder}/answers.tsv', 'w', encoding='utf-8') as answers:
    for kind in TYPES:
        for writer, path in write(kind, elements[kind, 'present']):
            for group, stream in bloom_filters(path, 'x'):
                print(writer, kind, path, group, '\\N' if stream is None else stream.hex(), sep='\t', file=filters)
            for value in elements[kind, 'present'][:20] + elements[kind, 'absent'][:200]:
                probe = f"SELECT bool_and(bloom_filter_excludes) FROM parquet_bloom_probe('{path}', 'x', {literal(kind, value)})"
                print(path, kind, value, 'f' if duckdb.execute(probe).fetchall()[0][0] else 't', sep='\t', file=answers)
