"""What test/t/011_drivers.pl asks of each driver, by psycopg 3."""
import psycopg

ELEMENTS = ["plain", 'with "quotes", {braces} and \\', "ünï", None]

with psycopg.connect(autocommit=True) as connection:
    def ask(query, *parameters):
        return connection.execute(query, parameters).fetchone()[0]

    def show(answers):
        print(" ".join({None: "-", True: "t", False: "f"}[answer] for answer in answers))

    for elements in (ELEMENTS, None, []):
        connection.execute("UPDATE filters SET f = bf_add_all(f, %s)", [elements])
        show(ask("SELECT bf_contains_each(f, %s) FROM filters", ELEMENTS + ["other"]))
    connection.execute("UPDATE filters SET f = bf_add(f, %s)", [None])
    show([ask("SELECT bf_contains_all(f, %s) FROM filters", ELEMENTS),
          ask("SELECT bf_contains_all(f, %s) FROM filters", ELEMENTS + ["other"])])
    show(ask("SELECT bf_live_contains_each('titles', %s)", ["title", "other", None]))
    show([ask("SELECT bf_live_contains_all('titles', %s)", ["title", None]),
          ask("SELECT bf_live_contains_all('titles', %s)", ["title", "other"])])
    stream = ask("SELECT bf_export(f) FROM filters")
    show([ask("SELECT %s::bytea::bloomfilter = f FROM filters", stream)])
