// The program of doc/languages.md, by pgx: the page has what differs from psycopg's.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
)

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	check(err)
	defer db.Close(ctx)

	// Which of these are new?
	batch := []string{"Title number 7", "Breaking news", "首页"}
	var found []string
	check(db.QueryRow(ctx, `SELECT ARRAY(SELECT DISTINCT title FROM unnest($1::text[]) AS title WHERE title IS NOT NULL
		AND bf_contains((SELECT f FROM filters WHERE name = 'titles'), title) IS NOT TRUE ORDER BY title)`,
		batch).Scan(&found))
	fmt.Println("new:", strings.Join(found, ", "))

	// Remember them.
	_, err = db.Exec(ctx, "UPDATE filters SET f = bf_add_all(f, $1::text[]) WHERE name = 'titles'", found)
	check(err)

	// Out, as Guava's bytes, for a file, a cache, Java ...
	var stream []byte
	check(db.QueryRow(ctx, "SELECT bf_export(f) FROM filters WHERE name = 'titles'").Scan(&stream))

	// ... and in, from there.
	var count int
	check(db.QueryRow(ctx, `INSERT INTO filters VALUES ('archive', $1::bytea::bloomfilter)
		ON CONFLICT (name) DO UPDATE SET f = filters.f | EXCLUDED.f RETURNING bf_count(f)`, stream).Scan(&count))
	fmt.Println(len(stream), "bytes, some", count, "elements")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
