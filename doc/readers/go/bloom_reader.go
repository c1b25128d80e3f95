// Package bloomreader asks a filter of bloomext in Redis, layout guava: by BITFIELD_RO,
// in batches.
//
//	titles := bloomreader.Filter{Client: client, Key: "titles"} // a client of go-redis
//	titles.Contains(ctx, [][]byte{[]byte("Breaking news"), []byte("首页")}) // [true false]
//
// false is certain.  An error means that nothing is known: take it for true.
package bloomreader

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
	"github.com/twmb/murmur3"
)

const (
	batch = 100 // elements a command; larger ones keep Redis from others for longer
	tries = 5   // where the filter is replaced again and again
)

// Filter may be shared by goroutines, by its address.
type Filter struct {
	Client redis.UniversalClient
	Key    string
	head   atomic.Int64
}

// Integer and Bigint are the bytes of such elements.  Those of text are its UTF-8, of
// bytea and uuid their own.  Which kind is in the filter, it does not say.
func Integer(i int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(i)) }
func Bigint(i int64) []byte  { return binary.LittleEndian.AppendUint64(nil, uint64(i)) }

// Part is a value of an element of several columns: the number of its kind, the length,
// and the bytes.
type Part []byte

func Text(text string) Part   { return part(9, []byte(text)) }
func Bytea(bytes []byte) Part { return part(11, bytes) }
func UUID(id [16]byte) Part   { return part(12, id[:]) }
func Number(i int64) Part     { return part(13, Bigint(i)) } // smallint, integer, bigint

func part(kind byte, bytes []byte) Part {
	return append(binary.LittleEndian.AppendUint32(Part{kind}, uint32(len(bytes))), bytes...)
}

// Row is the element of a filter of several columns: Row(Text("north"), Number(1)).
func Row(parts ...Part) (element []byte) {
	for _, part := range parts {
		element = append(element, part...)
	}
	return element
}

// Contains has an answer for each element, each batch of one moment.
func (f *Filter) Contains(ctx context.Context, elements [][]byte) (answers []bool, err error) {
	for tried := 0; len(elements) > 0; {
		head, n := f.head.Load(), len(elements)
		if n > batch {
			n = batch
		}
		// Head and bits by one command: by two, they could be of two filters.
		command := []any{"BITFIELD_RO", f.Key, "GET", "u48", 0}
		k, m := uint64(head>>32&255), uint64(head&0xffffffff)*64
		for _, element := range elements[:n] {
			h1, h2 := murmur3.Sum128(element)
			for i := uint64(0); i < k; i++ {
				command = append(command, "GET", "u1", 48+((h1+i*h2)&(1<<63-1)%m^63))
			}
		}
		seen, err := f.Client.Do(ctx, command...).Int64Slice()
		if err != nil {
			return nil, err
		}
		if head != 0 && seen[0] == head {
			for bits := seen[1:]; len(bits) > 0; bits = bits[k:] {
				there := int64(1)
				for _, bit := range bits[:k] {
					there &= bit
				}
				answers = append(answers, there == 1)
			}
			elements, tried = elements[n:], 0
			continue
		}
		// The first time, or replaced; perhaps again between the two commands.  Where no key is, all is 0.
		strategy, hashes, words := seen[0]>>40, seen[0]>>32&255, seen[0]&0xffffffff
		length, err := f.Client.StrLen(ctx, f.Key).Result()
		if err != nil {
			return nil, err
		}
		if strategy == 1 && hashes > 0 && words > 0 && length == 6+8*words {
			f.head.Store(seen[0])
		} else if tried++; length == 0 || tried >= tries {
			return nil, fmt.Errorf("%s is no filter of layout guava", f.Key)
		}
	}
	return answers, nil
}
