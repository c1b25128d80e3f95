"""What test/t/011_drivers.pl asks of each driver, by asyncpg."""
import asyncio

import asyncpg

ELEMENTS = ["plain", 'with "quotes", {braces} and \\', "ünï", None]


def show(answers):
    print(" ".join({None: "-", True: "t", False: "f"}[answer] for answer in answers))


async def main():
    connection = await asyncpg.connect()
    ask = connection.fetchval
    for elements in (ELEMENTS, None, []):
        await connection.execute("UPDATE filters SET f = bf_add_all(f, $1::text[])", elements)
        show(await ask("SELECT bf_contains_each(f, $1::text[]) FROM filters", ELEMENTS + ["other"]))
    await connection.execute("UPDATE filters SET f = bf_add(f, $1)", None)
    show([await ask("SELECT bf_contains_all(f, $1::text[]) FROM filters", ELEMENTS),
          await ask("SELECT bf_contains_all(f, $1::text[]) FROM filters", ELEMENTS + ["other"])])
    show(await ask("SELECT bf_live_contains_each('titles', $1::text[])", ["title", "other", None]))
    show([await ask("SELECT bf_live_contains_all('titles', $1::text[])", ["title", None]),
          await ask("SELECT bf_live_contains_all('titles', $1::text[])", ["title", "other"])])
    stream = await ask("SELECT bf_export(f) FROM filters")
    show([await ask("SELECT $1::bytea::bloomfilter = f FROM filters", stream)])
    await connection.close()


asyncio.run(main())
