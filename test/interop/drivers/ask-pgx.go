// What test/t/interop/drivers.pl asks of each driver, by pgx 5.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
)

var ctx = context.Background()

func text(s string) *string { return &s }

func show(answers []*bool) {
	words := make([]string, len(answers))
	for i, answer := range answers {
		words[i] = "-"
		if answer != nil {
			words[i] = fmt.Sprint(*answer)[:1]
		}
	}
	fmt.Println(strings.Join(words, " "))
}

func ask[T any](c *pgx.Conn, query string, parameters ...any) (answer T) {
	if err := c.QueryRow(ctx, query, parameters...).Scan(&answer); err != nil {
		log.Fatalf("%s: %v", query, err)
	}
	return
}

func careless[T any](c *pgx.Conn, query string, parameters ...any) {
	var answer T
	word := "works"
	if err := c.QueryRow(ctx, query, parameters...).Scan(&answer); err != nil {
		word = "error"
	} else if bytes, ok := any(answer).([]byte); ok && strings.HasPrefix(string(bytes), `\x6266`) {
		word = "text"
	} else if kind, ok := any(answer).(string); ok {
		word = kind
	}
	fmt.Println(word)
}

func run(c *pgx.Conn, query string, parameters ...any) {
	if _, err := c.Exec(ctx, query, parameters...); err != nil {
		log.Fatalf("%s: %v", query, err)
	}
}

func main() {
	c, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close(ctx)
	elements := []*string{text("plain"), text(`with "quotes", {braces} and \`), text("ünï"), nil}
	more := append(append([]*string{}, elements...), text("other"))

	for _, added := range [][]*string{elements, nil, {}} {
		run(c, "UPDATE filters SET f = bf_add_all(f, $1::text[])", added)
		show(ask[[]*bool](c, "SELECT bf_contains_each(f, $1::text[]) FROM filters", more))
	}
	run(c, "UPDATE filters SET f = bf_add(f, $1)", nil)
	show([]*bool{
		ask[*bool](c, "SELECT bf_contains_all(f, $1::text[]) FROM filters", elements),
		ask[*bool](c, "SELECT bf_contains_all(f, $1::text[]) FROM filters", more)})
	show(ask[[]*bool](c, "SELECT bf_live_contains_each('titles', $1::text[])", []*string{text("title"), text("other"), nil}))
	show([]*bool{
		ask[*bool](c, "SELECT bf_live_contains_all('titles', $1::text[])", []*string{text("title"), nil}),
		ask[*bool](c, "SELECT bf_live_contains_all('titles', $1::text[])", []string{"title", "other"})})
	show([]*bool{
		ask[*bool](c, "SELECT bf_contains(f, $1::bigint) FROM numbers", 5),
		ask[*bool](c, "SELECT bf_contains(f, $1::bigint) FROM numbers", -5)})
	stream := ask[[]byte](c, "SELECT bf_export(f) FROM filters")
	show([]*bool{ask[*bool](c, "SELECT $1::bytea::bloomfilter = f FROM filters", stream)})

	// All are prepared, once.
	const late = "SELECT bf_contains(f, $1::text) FROM filters"
	var answers []*bool
	for i := 0; i < 12; i++ {
		answers = append(answers, ask[*bool](c, late, "late"))
	}
	show(answers)
	run(c, "UPDATE filters SET f = bf_add(f, 'late')")
	show([]*bool{ask[*bool](c, late, "late")})

	careless[[]byte](c, "SELECT f FROM filters")
	careless[bool](c, "SELECT $1::bloomfilter IS NOT NULL", stream)
	careless[[]bool](c, "SELECT bf_contains_each(f, $1) FROM filters", []string{"plain"})
	careless[[]bool](c, "SELECT bf_contains_each(f, $1) FROM filters", "{plain}")
	careless[bool](c, "SELECT bf_contains(f, $1) FROM numbers", 5)
	careless[string](c, "SELECT (bf_info(bf_add(bf_create(100), $1))).funnel", 5)
}
