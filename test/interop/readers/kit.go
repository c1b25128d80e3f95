// clients/go, which only reads, as an implementation of what test/vectors/README.md says:
// kit URL FOLDER STRATEGY.  guava in layout guava, as bytes, since without a hash their kind
// is not known; parquet in layout bitmap, where no reader takes an empty filter, and none is
// asked.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"unicode/utf16"

	bloomreader "bloomext/reader"
	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

type kit struct {
	client  redis.UniversalClient
	parquet bool
	opened  int
}

func (k *kit) empty(m, hashes uint64) []byte {
	if !k.parquet {
		return append(binary.BigEndian.AppendUint32([]byte{1, byte(hashes)}, uint32(m/64)), make([]byte, m/8)...)
	}
	head := binary.AppendUvarint([]byte{0x15}, m/4)
	return append(append(head, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0), make([]byte, m/8)...)
}

// Two filters are open at a time.
func (k *kit) open(stream []byte, m, hashes uint64) filter {
	k.opened++
	key := fmt.Sprint("kit", k.opened%4)
	hash := "{" + key + "}:bloomext"
	must(k.client.Del(ctx, hash).Result())
	if k.parquet {
		mirrored := make([]byte, m/8)
		for i, b := range stream[len(stream)-len(mirrored):] {
			mirrored[i] = bits.Reverse8(b)
		}
		stream = mirrored
		at := 0
		for at+4 < len(stream) && binary.BigEndian.Uint32(stream[at:]) == 0 {
			at += 4
		}
		witness := fmt.Sprint(len(stream), " ", at/4, ":", binary.BigEndian.Uint32(stream[at:]))
		must(k.client.HSet(ctx, hash, "layout", "bitmap", "strategy", "parquet", "bits", m, "hashes", hashes, "witness", witness).Result())
	}
	must(k.client.Set(ctx, key, stream, 0).Result())
	empty := k.parquet && len(bytes.Trim(stream, "\x00")) == 0
	return &reader{bloomreader.Filter{Client: k.client, Key: key}, empty, k.parquet}
}

type reader struct {
	filter         bloomreader.Filter
	empty, parquet bool
}

func elementOf(etype string, value []byte) bloomreader.Element {
	switch etype {
	case "text":
		return bloomreader.Text(string(value))
	case "text16":
		var text []byte
		for _, unit := range utf16.Encode([]rune(string(value))) {
			text = binary.LittleEndian.AppendUint16(text, unit)
		}
		return bloomreader.Bytea(text)
	case "int4":
		return bloomreader.Integer(int32(must(strconv.ParseInt(string(value), 10, 32))))
	case "int8":
		return bloomreader.Bigint(must(strconv.ParseInt(string(value), 10, 64)))
	case "uuid":
		return bloomreader.UUID(*(*[16]byte)(value))
	default:
		return bloomreader.Bytea(value)
	}
}

func bytesOf(etype string, value []byte, element bloomreader.Element) bloomreader.Element {
	switch etype {
	case "text":
		return bloomreader.Bytea(value)
	case "int4":
		return bloomreader.Bytea(binary.LittleEndian.AppendUint32(nil, uint32(must(strconv.ParseInt(string(value), 10, 32)))))
	case "int8":
		return bloomreader.Bytea(binary.LittleEndian.AppendUint64(nil, uint64(must(strconv.ParseInt(string(value), 10, 64)))))
	default:
		return element
	}
}

func (r *reader) contains(etype string, value []byte) bool {
	element := elementOf(etype, value)
	if !r.parquet {
		element = bytesOf(etype, value, element)
	}
	return !r.empty && must(r.filter.Contains(ctx, []bloomreader.Element{element}))[0]
}
func (*reader) add(string, []byte) bool { return false }
func (*reader) bytes() []byte           { return nil }

func main() {
	client := redis.NewClient(must(redis.ParseURL(os.Args[1])))
	counts := check(&kit{client: client, parquet: os.Args[3] == "parquet"}, os.Args[2], os.Args[3])
	fmt.Printf("%d passed, %d failed, %d left out\n", counts[0], counts[1], counts[2])
}
