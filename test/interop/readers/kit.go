// clients/go, which only reads, as an implementation of what test/vectors/README.md says:
// kit URL FOLDER STRATEGY.  guava in layout guava, parquet in layout bitmap.
package main

import (
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
		must(k.client.HSet(ctx, hash, "layout", "bitmap", "strategy", "parquet", "bits", m, "hashes", hashes, "witness", len(stream)).Result())
	}
	must(k.client.Set(ctx, key, stream, 0).Result())
	return &reader{bloomreader.Filter{Client: k.client, Key: key}}
}

type reader struct{ filter bloomreader.Filter }

func elementOf(etype string, value []byte) bloomreader.Element {
	switch etype {
	case "text":
		return bloomreader.Text(string(value))
	case "text16":
		var bytes []byte
		for _, unit := range utf16.Encode([]rune(string(value))) {
			bytes = binary.LittleEndian.AppendUint16(bytes, unit)
		}
		return bloomreader.Bytea(bytes)
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

func (r *reader) contains(etype string, value []byte) bool {
	return must(r.filter.Contains(ctx, []bloomreader.Element{elementOf(etype, value)}))[0]
}
func (*reader) add(string, []byte) bool { return false }
func (*reader) bytes() []byte           { return nil }

func main() {
	client := redis.NewClient(must(redis.ParseURL(os.Args[1])))
	counts := check(&kit{client: client, parquet: os.Args[3] == "parquet"}, os.Args[2], os.Args[3])
	fmt.Printf("%d passed, %d failed, %d left out\n", counts[0], counts[1], counts[2])
}
