"""The program of doc/languages.md, by asyncpg: the page has what differs from psycopg's."""
import asyncio
import os
import asyncpg

async def main():
    db = await asyncpg.connect(os.environ["DATABASE_URL"])
    batch = ["Title number 7", "Breaking news", "首页"]

    # Which of these are new?
    new = await db.fetchval("""SELECT ARRAY(SELECT DISTINCT title FROM unnest($1::text[]) AS title WHERE title IS NOT NULL
        AND bf_contains((SELECT f FROM filters WHERE name = 'titles'), title) IS NOT TRUE ORDER BY title)""", batch)
    print("new:", ", ".join(new))

    # Remember them.
    await db.execute("UPDATE filters SET f = bf_add_all(f, $1::text[]) WHERE name = 'titles'", new)

    # Out, as Guava's bytes, for a file, a cache, Java ...
    stream = await db.fetchval("SELECT bf_export(f) FROM filters WHERE name = 'titles'")

    # ... and in, from there.
    count = await db.fetchval("""INSERT INTO filters VALUES ('archive', $1::bytea::bloomfilter)
        ON CONFLICT (name) DO UPDATE SET f = filters.f | EXCLUDED.f RETURNING bf_count(f)""", stream)
    print(len(stream), "bytes, some", count, "elements")
    await db.close()

asyncio.run(main())
