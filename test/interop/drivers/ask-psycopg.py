"""What test/t/interop/drivers.pl asks of each driver, by psycopg 3."""
import os

import psycopg

ELEMENTS = ["plain", 'with "quotes", {braces} and \\', "ünï", None]
LATE = "SELECT bf_contains(f, %s::text) FROM filters"

with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
    def ask(query, *parameters):
        return connection.execute(query, parameters).fetchone()[0]

    def show(answers):
        print(" ".join({None: "-", True: "t", False: "f"}[answer] for answer in answers))

    def careless(query, *parameters):
        try:
            answer = ask(query, *parameters)
        except psycopg.Error:
            return "error"
        return "text" if str(answer).startswith("\\x6266") else answer if isinstance(answer, str) else "works"

    for elements in (ELEMENTS, None, []):
        connection.execute("UPDATE filters SET f = bf_add_all(f, %s)", [elements])
        show(ask("SELECT bf_contains_each(f, %s) FROM filters", ELEMENTS + ["other"]))
    connection.execute("UPDATE filters SET f = bf_add(f, %s)", [None])
    show([ask("SELECT bf_contains_all(f, %s) FROM filters", ELEMENTS),
          ask("SELECT bf_contains_all(f, %s) FROM filters", ELEMENTS + ["other"])])
    show(ask("SELECT bf_live_contains_each('titles', %s)", ["title", "other", None]))
    show([ask("SELECT bf_live_contains_all('titles', %s)", ["title", None]),
          ask("SELECT bf_live_contains_all('titles', %s)", ["title", "other"])])
    show(ask("SELECT bf_contains(f, %s::bigint) FROM numbers", number) for number in (5, -5))
    stream = ask("SELECT bf_export(f) FROM filters")
    show([ask("SELECT %s::bytea::bloomfilter = f FROM filters", stream)])

    # Prepared after the fifth.
    show(ask(LATE, "late") for _ in range(12))
    connection.execute("UPDATE filters SET f = bf_add(f, 'late')")
    show([ask(LATE, "late")])

    print(careless("SELECT f FROM filters"))
    print(careless("SELECT %s::bloomfilter IS NOT NULL", stream))
    print(careless("SELECT bf_contains_each(f, %s) FROM filters", ["plain"]))
    print(careless("SELECT bf_contains_each(f, %s) FROM filters", "{plain}"))
    print(careless("SELECT bf_contains(f, %s) FROM numbers", 5))
    print(careless("SELECT (bf_info(bf_add(bf_create(100), %s))).funnel", 5))
