package bloomreader

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Window is a window of time, and may be shared by goroutines, by its address.  It asks
// twice: for the hash, and then for the clock and the words of all pieces, which say how far
// they are turned.
type Window struct {
	Client redis.UniversalClient
	Key    string
}

const (
	pieceWords = 500000   // of a piece, except for the last one
	most       = 1e15 - 1 // of numbers in a hash
)

// What a window is, by its hash.
type window struct {
	plan
	id                            string
	slice, slices, newest, turned int64
}

var windowFields = append([]string{"id", "slice", "slices", "newest", "turned"}, fields...)

// Contains has an answer for each element.
func (w *Window) Contains(ctx context.Context, elements []Element) ([]bool, error) {
	return contains(ctx, w.Key, elements, w.ask)
}

// An answer for each, or none if the window was turned, or replaced, after its hash was read.
func (w *Window) ask(ctx context.Context, elements []Element, last bool) ([]bool, error) {
	hash := hashOf(w.Key)
	values, err := w.Client.HMGet(ctx, hash, windowFields...).Result()
	if err != nil {
		return nil, err
	}
	read, err := windowOf(byName(windowFields, values))
	if err != nil {
		return nil, err
	}
	if err := read.check(elements); err != nil {
		return nil, err
	}
	pieces, pipeline := read.pieces(hash, elements), w.Client.Pipeline()
	time := pipeline.Time(ctx)
	for _, piece := range pieces {
		piece.ask(ctx, pipeline)
	}
	if _, err := pipeline.Exec(ctx); err != nil {
		return nil, err
	}
	now := time.Val().UnixMilli() / read.slice
	if read.newest > now+1 {
		return nil, fmt.Errorf("the clock is behind its newest slice")
	}
	answers, err := read.answers(len(elements), pieces, now)
	if err != nil && !last {
		err = nil
	}
	return answers, err
}

func windowOf(field map[string]string) (*window, error) {
	if _, shard := field["whole"]; shard || field["layout"] != "window" || field["id"] == "" {
		return nil, fmt.Errorf("no filter of layout window")
	}
	plan, err := planOf(field)
	if err != nil {
		return nil, err
	}
	w := &window{plan: plan, id: field["id"]}
	if w.slice, err = number(field["slice"], 1000, most); err != nil {
		return nil, err
	}
	if w.slices, err = number(field["slices"], 1, 30); err != nil {
		return nil, err
	}
	if w.newest, err = number(field["newest"], 0, most); err != nil {
		return nil, err
	}
	w.turned, err = number(field["turned"], 0, w.newest)
	return w, err
}

// What is asked of a piece, and its answers.
type piece struct {
	key      string
	length   int64
	get      []any
	elements []int // of each word
	values   *redis.Cmd
	id       *redis.StringCmd
	strlen   *redis.IntCmd
}

// The pieces that have words of elements.
func (w *window) pieces(hash string, elements []Element) map[uint64]*piece {
	pieces := map[uint64]*piece{}
	for i, element := range elements {
		for _, position := range w.positions(element) {
			number := position / pieceWords
			p := pieces[number]
			if p == nil {
				words := w.m - number*pieceWords
				if words > pieceWords {
					words = pieceWords
				}
				p = &piece{key: fmt.Sprintf("%s-window-%s-%d", hash, w.id, number), length: 24 + 4*int64(words)}
				p.get = []any{"BITFIELD_RO", p.key, "GET", "i64", 0}
				pieces[number] = p
			}
			p.get = append(p.get, "GET", "u32", fmt.Sprintf("#%d", position%pieceWords+6))
			p.elements = append(p.elements, i)
		}
	}
	return pieces
}

func (p *piece) ask(ctx context.Context, pipeline redis.Pipeliner) {
	p.values, p.id, p.strlen = pipeline.Do(ctx, p.get...), pipeline.GetRange(ctx, p.key, 8, 23), pipeline.StrLen(ctx, p.key)
}

// An element is there if its words have a bit in common, of a slice that is not over.
func (w *window) answers(elements int, pieces map[uint64]*piece, now int64) ([]bool, error) {
	common, answers := make([]uint32, elements), make([]bool, elements)
	for i := range common {
		common[i] = 1<<32 - 1
	}
	for _, piece := range pieces {
		values, err := piece.values.Int64Slice()
		if err != nil {
			return nil, err
		}
		if piece.id.Val() != w.id || piece.strlen.Val() != piece.length || values[0] < w.turned || values[0] > w.newest {
			return nil, fmt.Errorf("it has lost a part")
		}
		live := w.live(values[0], now)
		for i, word := range values[1:] {
			common[piece.elements[i]] &= uint32(word) & live
		}
	}
	for i, lanes := range common {
		answers[i] = lanes != 0
	}
	return answers, nil
}

// The bits that count of the words of a piece that was turned to a slice.
func (w *window) live(at, now int64) (bits uint32) {
	if now < w.newest {
		now = w.newest
	}
	for slice := at; slice > at-32 && slice >= now-w.slices-1; slice-- {
		bits |= 1 << (slice & 31)
	}
	return bits
}
