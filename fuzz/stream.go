package fuzz

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
)

const (
	headerBytes = 24
	recordBytes = 8
)

// header is the beginning of a stream. A stream that is too short for a header reads as if zeros
// followed.
type header struct {
	size    uint8    // how large the run may become, in three bits; the other bits choose more types
	flags   uint8    // variants of the set-up
	kinds   uint16   // which types take part; 0: all
	seed    uint32   // for choices made once a run
	weights [16]byte // two bits per operation
}

// record is one operation before it is applied. The operation decides how to read the fields.
type record struct {
	pick uint8  // chooses the operation, by weight
	kind uint8  // a type or a class of sizes
	who  uint16 // an entity, a block or a run
	n    uint32 // a size, a value, or bits that choose a variant
}

// bits returns width bits of n, starting at bit at.
func (r record) bits(at, width int) uint32 { return r.n >> at & (1<<width - 1) }

// stream reads a byte string as a header and records.
type stream struct {
	header
	records []byte // those not read yet
}

func newStream(data []byte) *stream {
	var h [headerBytes]byte
	n := copy(h[:], data)
	s := &stream{records: data[n:]}
	s.size, s.flags = h[0], h[1]
	s.kinds = binary.LittleEndian.Uint16(h[2:])
	s.seed = binary.LittleEndian.Uint32(h[4:])
	copy(s.weights[:], h[8:])
	return s
}

// next returns the next record, and false at the end.
func (s *stream) next() (record, bool) {
	if len(s.records) < recordBytes {
		return record{}, false
	}
	b := s.records[:recordBytes]
	s.records = s.records[recordBytes:]
	return record{
		pick: b[0],
		kind: b[1],
		who:  binary.LittleEndian.Uint16(b[2:]),
		n:    binary.LittleEndian.Uint32(b[4:]),
	}, true
}

// shares is how often the table lists an operation, by weight.
var shares = [4]int{0, 1, 2, 4}

// table lists the numbers of n operations, each as often as its share; a record's pick indexes it.
// If all are switched off, each is listed once. The operations in always are never off: without
// them nothing would happen.
func (s *stream) table(n int, always ...int) []int {
	var table []int
	for op := range n {
		weight := s.weights[op/4] >> (op % 4 * 2) & 3
		if s.weights == [len(s.weights)]byte{} || weight == 0 && slices.Contains(always, op) {
			weight = 1
		}
		for range shares[weight] {
			table = append(table, op)
		}
	}
	return table
}

// choose returns the operation that a record picks from a table. 64 operations with the largest
// share fill a byte, so there must be no more.
func choose(table []int, r record) int { return table[int(r.pick)%len(table)] }

// Random returns the stream of a seed: a header and steps records.
func Random(seed uint64, steps int) []byte {
	rng := rand.New(rand.NewPCG(seed, 0x51A77E57))
	data := make([]byte, headerBytes+steps*recordBytes)
	for i := 0; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], rng.Uint64())
	}
	return data
}

// WorldWeights gives the operations of RunWorld that keep accepts the same weight in a stream and
// switches the others off, except Create.
func WorldWeights(stream []byte, keep func(op string) bool) {
	weights := stream[8:headerBytes]
	clear(weights)
	for i, op := range worldOps {
		if keep(op.name) {
			weights[i/4] |= 1 << (i % 4 * 2)
		}
	}
}

// mix scrambles a number; it is the finalizer of splitmix64 (Steele et al.,
// OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// guarded runs f and turns a panic, or a fault at an unmapped address, into an error with its
// stack.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// panics runs f, which must panic with a text that begins with prefix.
func panics(prefix string, f func()) (err error) {
	defer func() {
		p := recover()
		text := fmt.Sprint(p)
		switch {
		case p == nil:
			err = fmt.Errorf("got no panic, want one that begins with %q", prefix)
		case len(text) < len(prefix) || text[:len(prefix)] != prefix:
			err = fmt.Errorf("got panic %q, want one that begins with %q", text, prefix)
		}
	}()
	f()
	return nil
}
