"""What test/t/interop/drivers.pl asks of each driver, by asyncpg."""
import asyncio
import os

import asyncpg

ELEMENTS = ["plain", 'with "quotes", {braces} and \\', "ünï", None]
LATE = "SELECT bf_contains(f, $1::text) FROM filters"


def show(answers):
    print(" ".join({None: "-", True: "t", False: "f"}[answer] for answer in answers))


async def main():
    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    ask = connection.fetchval

    async def careless(query, *parameters):
        try:
            answer = await ask(query, *parameters)
        except (asyncpg.PostgresError, asyncpg.DataError):
            return "error"
        return "text" if str(answer).startswith("\\x6266") else answer if isinstance(answer, str) else "works"

    for elements in (ELEMENTS, None, []):
        await connection.execute("UPDATE filters SET f = bf_add_all(f, $1::text[])", elements)
        show(await ask("SELECT bf_contains_each(f, $1::text[]) FROM filters", ELEMENTS + ["other"]))
    await connection.execute("UPDATE filters SET f = bf_add(f, $1)", None)
    show([await ask("SELECT bf_contains_all(f, $1::text[]) FROM filters", ELEMENTS),
          await ask("SELECT bf_contains_all(f, $1::text[]) FROM filters", ELEMENTS + ["other"])])
    show(await ask("SELECT bf_live_contains_each('titles', $1::text[])", ["title", "other", None]))
    show([await ask("SELECT bf_live_contains_all('titles', $1::text[])", ["title", None]),
          await ask("SELECT bf_live_contains_all('titles', $1::text[])", ["title", "other"])])
    show([await ask("SELECT bf_contains(f, $1::bigint) FROM numbers", number) for number in (5, -5)])
    stream = await ask("SELECT bf_export(f) FROM filters")
    show([await ask("SELECT $1::bytea::bloomfilter = f FROM filters", stream)])

    # All are prepared, once.
    show([await ask(LATE, "late") for _ in range(12)])
    await connection.execute("UPDATE filters SET f = bf_add(f, 'late')")
    show([await ask(LATE, "late")])

    print(await careless("SELECT f FROM filters"))
    print(await careless("SELECT $1::bloomfilter IS NOT NULL", stream))
    print(await careless("SELECT bf_contains_each(f, $1) FROM filters", ["plain"]))
    print(await careless("SELECT bf_contains_each(f, $1) FROM filters", "{plain}"))
    print(await careless("SELECT bf_contains(f, $1) FROM numbers", 5))
    print(await careless("SELECT (bf_info(bf_add(bf_create(100), $1))).funnel", 5))
    await connection.close()


asyncio.run(main())
