// Round trip between bits-and-blooms and bloomext, driven by test/t/interop/go.pl.
//
// Usage: roundtrip DIR.  Reads, under DIR,
//
//	sql.tsv       id n p filter(hex): what SQL made of the parts a and b
//	elements.tsv  id seq kind part value(hex): kind is text or bytea; part is a
//	              or b, the halves of the filter, or probe: what is not in it
//
// and writes what Go makes of the same elements,
//
//	go.tsv        id whole(hex) a(hex) b(hex) union(hex) again(hex): the filter,
//	              its halves, their Merge, and SQL's filter read and written
//	answers.tsv   id seq own sql: what the whole and SQL's filter say
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/bits-and-blooms/bloom/v3"
)

type filter struct {
	whole, a, b, sql *bloom.BloomFilter
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func unhex(s string) []byte {
	data, err := hex.DecodeString(s)
	check(err)
	return data
}

func read(stream []byte) *bloom.BloomFilter {
	f := &bloom.BloomFilter{}
	n, err := f.ReadFrom(bytes.NewReader(stream))
	check(err)
	if n != int64(len(stream)) {
		log.Fatalf("%d of %d bytes read", n, len(stream))
	}
	return f
}

func written(f *bloom.BloomFilter) string {
	var stream bytes.Buffer
	_, err := f.WriteTo(&stream)
	check(err)
	return hex.EncodeToString(stream.Bytes())
}

func rows(path string) (rows [][]string) {
	data, err := os.ReadFile(path)
	check(err)
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return
}

func add(f *bloom.BloomFilter, kind string, value []byte) {
	if kind == "text" {
		f.AddString(string(value))
	} else {
		f.Add(value)
	}
}

func ask(f *bloom.BloomFilter, kind string, value []byte) bool {
	if kind == "text" {
		return f.TestString(string(value))
	}
	return f.Test(value)
}

func output(path string) (*bufio.Writer, func()) {
	file, err := os.Create(path)
	check(err)
	w := bufio.NewWriter(file)
	return w, func() {
		check(w.Flush())
		check(file.Close())
	}
}

func main() {
	dir := os.Args[1]
	filters := map[string]filter{}
	made := rows(filepath.Join(dir, "sql.tsv"))
	elements := rows(filepath.Join(dir, "elements.tsv"))

	for _, row := range made {
		var n uint
		var p float64
		_, err := fmt.Sscan(row[1]+" "+row[2], &n, &p)
		check(err)
		filters[row[0]] = filter{bloom.NewWithEstimates(n, p), bloom.NewWithEstimates(n, p),
			bloom.NewWithEstimates(n, p), read(unhex(row[3]))}
	}
	for _, row := range elements {
		f, value := filters[row[0]], unhex(row[4])
		if row[3] == "a" {
			add(f.a, row[2], value)
		} else if row[3] == "b" {
			add(f.b, row[2], value)
		}
		if row[3] != "probe" {
			add(f.whole, row[2], value)
		}
	}

	answers, finish := output(filepath.Join(dir, "answers.tsv"))
	for _, row := range elements {
		f, value := filters[row[0]], unhex(row[4])
		fmt.Fprintf(answers, "%s\t%s\t%t\t%t\n", row[0], row[1], ask(f.whole, row[2], value), ask(f.sql, row[2], value))
	}
	finish()

	streams, finish := output(filepath.Join(dir, "go.tsv"))
	for _, row := range made {
		f := filters[row[0]]
		union := f.a.Copy()
		check(union.Merge(f.b))
		fmt.Fprintln(streams, strings.Join([]string{row[0], written(f.whole), written(f.a), written(f.b),
			written(union), written(f.sql)}, "\t"))
	}
	finish()
}
