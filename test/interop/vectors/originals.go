// The filters of bits-and-blooms/bloom as an implementation: originals FOLDER STRATEGY
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/bits-and-blooms/bloom/v3"
)

type original struct{ *bloom.BloomFilter }

func (f original) contains(etype string, value []byte) bool {
	if etype == "text" {
		return f.TestString(string(value))
	}
	return f.Test(value)
}

func (f original) add(etype string, value []byte) bool {
	if etype == "text" {
		f.AddString(string(value))
	} else {
		f.Add(value)
	}
	return true
}

func (f original) bytes() []byte {
	var stream bytes.Buffer
	must(f.WriteTo(&stream))
	return stream.Bytes()
}

type originals struct{}

func (originals) empty(m, k uint64) []byte {
	return original{bloom.New(uint(m), uint(k))}.bytes()
}

func (originals) open(stream []byte, m, k uint64) filter {
	f := &bloom.BloomFilter{}
	must(f.ReadFrom(bytes.NewReader(stream)))
	return original{f}
}

func main() {
	counts := check(originals{}, os.Args[1], os.Args[2])
	fmt.Printf("%d passed, %d failed, %d left out\n", counts[0], counts[1], counts[2])
	if counts[1] > 0 {
		os.Exit(1)
	}
}
