// Package bloomreader asks a filter of bloomext in Redis, of layout guava, bitmap or window:
// by BITFIELD_RO, in batches.
//
//	titles := bloomreader.Filter{Client: client, Key: "titles"} // a client of go-redis
//	titles.Contains(ctx, []bloomreader.Element{bloomreader.Text("Breaking news"), bloomreader.Text("首页")}) // [true false]
//
// false is certain.  An error means that nothing is known: take it for true.
//
// A question is one round trip of three commands.  The first one reads the bits, and with
// them what shows that they are the filter's: the head of the string in layout guava, and
// bits that the string must have, its witness.  The others read what the filter is, its
// length and the hash next to it.  Where that is not as remembered, the bits may be another
// filter's.
//
// In layout guava the hash only says of which kind the elements are, and may be lost, or be
// about another string.  Where a witness does not prove it, elements are looked for in all
// their forms.
//
// Window asks a window of time, in two round trips: see window.go.
package bloomreader

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf16"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"
	"github.com/twmb/murmur3"
)

const (
	batch  = 100 // elements a command; larger ones keep Redis from others for longer
	tries  = 5   // where the filter is replaced again and again
	strong = 24  // bits of a witness, which another string has hardly ever
)

// Element is what is looked for.
type Element struct {
	funnel string // as the hash names it
	kind   byte   // of a value in a row
	bytes  []byte
}

// Kinds in rows.
const (
	text    = 9
	bytea   = 11
	uuid    = 12
	integer = 13
)

// Kinds by what the hash says that the elements are.
var kinds = map[string]byte{"text": text, "char(n)": text, "bytea": bytea, "uuid": uuid, "integer": integer}

func Text(s string) Element    { return Element{"utf8", text, []byte(s)} }
func Bytea(b []byte) Element   { return Element{"bytes", bytea, b} }
func UUID(id [16]byte) Element { return Element{"bytes", uuid, id[:]} }
func Integer(i int32) Element {
	return Element{"int", integer, binary.LittleEndian.AppendUint32(nil, uint32(i))}
}
func Bigint(i int64) Element {
	return Element{"long", integer, binary.LittleEndian.AppendUint64(nil, uint64(i))}
}

// Row is an element of several columns: Row(Text("north"), Integer(1)).  Integers of any
// size are the same there.
func Row(values ...Element) Element {
	row := Element{"bytes", bytea, nil}
	for _, value := range values {
		if value.funnel == "int" {
			value = Bigint(int64(int32(binary.LittleEndian.Uint32(value.bytes))))
		}
		row.bytes = append(row.bytes, value.kind)
		row.bytes = binary.LittleEndian.AppendUint32(row.bytes, uint32(len(value.bytes)))
		row.bytes = append(row.bytes, value.bytes...)
	}
	return row
}

// What an element may be in a filter of which the kind is not known.
func (e Element) forms() []Element {
	switch e.funnel {
	case "utf8":
		trimmed := Text(strings.TrimRight(string(e.bytes), " ")) // as char(n)
		return []Element{e, trimmed, e.utf16(), trimmed.utf16()}
	case "int":
		return []Element{e, Bigint(int64(int32(binary.LittleEndian.Uint32(e.bytes))))}
	case "long":
		if i := int64(binary.LittleEndian.Uint64(e.bytes)); i == int64(int32(i)) {
			return []Element{e, Integer(int32(i))}
		}
	}
	return []Element{e}
}

func (e Element) utf16() Element {
	text := Element{funnel: "utf16"}
	for _, unit := range utf16.Encode([]rune(string(e.bytes))) {
		text.bytes = binary.LittleEndian.AppendUint16(text.bytes, unit)
	}
	return text
}

// Positions of an element in m bits, by strategy.
var positions = map[string]func(element []byte, m, k uint64) []uint64{"guava": guava, "parquet": parquet}

func guava(element []byte, m, k uint64) (positions []uint64) {
	h1, h2 := murmur3.Sum128(element)
	for i := uint64(0); i < k; i++ {
		positions = append(positions, (h1+i*h2)&(1<<63-1)%m)
	}
	return positions
}

// A block of 256 bits by the upper half of the hash, and a bit in each of its words by the
// lower half.
func parquet(element []byte, m, _ uint64) (positions []uint64) {
	h := xxhash.Sum64(element)
	block := h >> 32 * (m / 256) >> 32
	for i, salt := range []uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31} {
		positions = append(positions, 256*block+32*uint64(i)+uint64(uint32(h)*salt>>27))
	}
	return positions
}

// How the elements of a filter become positions, and of which kind they are.
type plan struct {
	strategy         string
	m, k             uint64
	funnel, elements string
}

// What a filter is, by the first 48 bits of its string, its length and the hash next to it.
type shape struct {
	plan
	described string
	head      int64  // 0 in layout bitmap
	witness   []word // which proves the hash; none where that is not sure
}

type word struct {
	number string
	bits   int64
}

var (
	fields    = []string{"layout", "strategy", "bits", "hashes", "funnel", "elements", "whole", "witness", "mirrored"}
	isNumber  = regexp.MustCompile(`^(0|[1-9]\d{0,14})$`)
	isWitness = regexp.MustCompile(`^\d+( \d+:[1-9]\d{0,9})+$`)
	words     = regexp.MustCompile(` (\d+):(\d{1,10})`)
)

// The fields that exist, by the answer of HMGET.
func byName(names []string, values []any) map[string]string {
	field := map[string]string{}
	for i, value := range values {
		if text, exists := value.(string); exists {
			field[names[i]] = text
		}
	}
	return field
}

func shapeOf(head, length int64, values []any) (*shape, error) {
	field := byName(fields, values)
	s := &shape{described: fmt.Sprintf("%d %q", length, values)}
	ones := 0
	for _, match := range words.FindAllStringSubmatch(field["witness"], -1) {
		of, _ := strconv.ParseInt(match[2], 10, 64)
		s.witness, ones = append(s.witness, word{match[1], of}), ones+bits.OnesCount64(uint64(of))
	}
	_, shard := field["whole"]
	if field["layout"] == "bitmap" {
		if err := s.readBitmap(length, field); err != nil {
			return nil, err
		}
	} else {
		s.head, s.plan = head, plan{"guava", uint64(head&0xffffffff) * 64, uint64(head >> 32 & 255), field["funnel"], field["elements"]}
		if head>>40 != 1 || s.k == 0 || s.m == 0 || length != 6+int64(s.m/8) {
			return nil, fmt.Errorf("no filter of layout guava or bitmap")
		}
		// A hash that is about another string says nothing.
		if strings.Join([]string{field["layout"], field["strategy"], field["bits"], field["hashes"]}, " ") != fmt.Sprint("guava guava ", s.m, " ", s.k) {
			s.funnel, s.elements, shard, ones = "", "", false, 0
		}
		if _, mirrored := field["mirrored"]; !mirrored || ones < strong {
			s.witness = nil
		}
	}
	if shard {
		return nil, fmt.Errorf("a shard, which has some of the elements only")
	}
	return s, nil
}

// A number of a hash.
func number(text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !isNumber.MatchString(text) || n < least || n > most {
		return 0, fmt.Errorf("no filter: its hash says %q, and not a number from %d to %d", text, least, most)
	}
	return n, nil
}

// By a hash that describes a filter.
func planOf(field map[string]string) (plan, error) {
	m, err := number(field["bits"], 1, 1<<32)
	if err != nil {
		return plan{}, err
	}
	k, err := number(field["hashes"], 1, 255)
	if err != nil {
		return plan{}, err
	}
	p := plan{field["strategy"], uint64(m), uint64(k), field["funnel"], field["elements"]}
	if positions[p.strategy] == nil || m%64 != 0 || p.strategy == "parquet" && (k != 8 || m%256 != 0) {
		return p, fmt.Errorf("strategy %q with %d bits and %d hashes is not known", p.strategy, m, k)
	}
	return p, nil
}

func (p *plan) positions(element Element) []uint64 {
	return positions[p.strategy](element.bytes, p.m, p.k)
}

// Refuse elements of another kind than the hash says.
func (p *plan) check(elements []Element) error {
	for _, element := range elements {
		if p.funnel != "" && p.funnel != element.funnel || p.elements != "" && kinds[p.elements] != element.kind {
			return fmt.Errorf("its elements are %q as %q, and not what was asked for", p.elements, p.funnel)
		}
		if p.elements == "char(n)" && bytes.HasSuffix(element.bytes, []byte(" ")) {
			return fmt.Errorf("its elements are char(n): ask for them without trailing blanks")
		}
	}
	return nil
}

func (s *shape) readBitmap(length int64, field map[string]string) (err error) {
	if s.plan, err = planOf(field); err != nil {
		return err
	}
	if length != int64(s.m+7)/8 {
		return fmt.Errorf("no filter: it has %d bytes, not %d bits", length, s.m)
	}
	if !isWitness.MatchString(field["witness"]) {
		return fmt.Errorf("it has no witness, so that a lost filter looks like an empty one")
	}
	return nil
}

// What is looked for, and which of the elements it is a form of.
func (s *shape) asked(elements []Element) (asked []Element, of []int) {
	for i, element := range elements {
		forms := []Element{element}
		if len(s.witness) == 0 {
			forms = element.forms()
		}
		for _, form := range forms {
			asked, of = append(asked, form), append(of, i)
		}
	}
	return asked, of
}

// What BITFIELD_RO is to read: words of the witness, then bits.
func (s *shape) gets(elements []Element) (gets []any) {
	for _, word := range s.witness {
		gets = append(gets, "GET", "u32", "#"+word.number)
	}
	for _, element := range elements {
		for _, position := range s.positions(element) {
			if s.head != 0 {
				position = 48 + (position ^ 63)
			}
			gets = append(gets, "GET", "u1", position)
		}
	}
	return gets
}

// By the values of gets.
func (s *shape) hasWitness(values []int64) bool {
	for i, word := range s.witness {
		if values[i]&word.bits != word.bits {
			return false
		}
	}
	return true
}

func (s *shape) answers(values []int64) (answers []bool) {
	for bits := values[len(s.witness):]; len(bits) > 0; bits = bits[s.k:] {
		there := int64(1)
		for _, bit := range bits[:s.k] {
			there &= bit
		}
		answers = append(answers, there == 1)
	}
	return answers
}

// Filter may be shared by goroutines, by its address.
type Filter struct {
	Client redis.UniversalClient
	Key    string
	shape  atomic.Pointer[shape]
}

// Contains has an answer for each element, each batch of one moment.
func (f *Filter) Contains(ctx context.Context, elements []Element) ([]bool, error) {
	return contains(ctx, f.Key, elements, f.ask)
}

// Of a batch, ask has an answer for each element, or none where it is to be asked again;
// it is told which try is the last.
func contains(ctx context.Context, key string, elements []Element, ask func(context.Context, []Element, bool) ([]bool, error)) (answers []bool, err error) {
	for left := tries; len(elements) > 0; {
		n := len(elements)
		if n > batch {
			n = batch
		}
		found, err := ask(ctx, elements[:n], left == 1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		answers, elements = append(answers, found...), elements[len(found):]
		if len(found) > 0 {
			left = tries
		} else if left--; left == 0 {
			return nil, fmt.Errorf("%s: it is replaced again and again", key)
		}
	}
	return answers, nil
}

// The hash next to a filter.
func hashOf(key string) string {
	if !strings.Contains(key, "{") {
		key = "{" + key + "}"
	}
	return key + ":bloomext"
}

// An answer for each, or none if the filter is not as remembered; then the last try says why.
func (f *Filter) ask(ctx context.Context, elements []Element, last bool) ([]bool, error) {
	shape := f.shape.Load()
	command := []any{"BITFIELD_RO", f.Key, "GET", "u48", 0}
	var of []int
	if shape != nil {
		var asked []Element
		asked, of = shape.asked(elements)
		command = append(command, shape.gets(asked)...)
	}
	pipeline := f.Client.Pipeline()
	bits, length, about := pipeline.Do(ctx, command...), pipeline.StrLen(ctx, f.Key), pipeline.HMGet(ctx, hashOf(f.Key), fields...)
	if _, err := pipeline.Exec(ctx); err != nil {
		return nil, err
	}
	values, err := bits.Int64Slice()
	if err != nil {
		return nil, err
	}
	head, described := values[0], fmt.Sprintf("%d %q", length.Val(), about.Val())
	if shape != nil && described == shape.described && (shape.head == 0 || shape.head == head) {
		if shape.hasWitness(values[1:]) {
			if err := shape.check(elements); err != nil {
				return nil, err
			}
			answers := make([]bool, len(elements))
			for i, there := range shape.answers(values[1:]) {
				answers[of[i]] = answers[of[i]] || there
			}
			return answers, nil
		}
		if last || shape.head == 0 {
			return nil, fmt.Errorf("it has lost bits")
		}
		// The hash is about another string of this shape.
		other := *shape
		other.witness, other.funnel, other.elements = nil, "", ""
		f.shape.Store(&other)
		return nil, nil
	}
	shape, err = shapeOf(head, length.Val(), about.Val())
	f.shape.Store(shape)
	// Of two filters, perhaps, but not where there is none.
	if err != nil && !last && length.Val() != 0 {
		err = nil
	}
	return nil, err
}
