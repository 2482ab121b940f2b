package main

import (
	"math/rand/v2"

	"quarry/alloc"
)

// exponent is that of Zipf's law: the key number k is drawn with a probability in proportion to (1
// + k) to the power of -exponent.
const exponent = 1.05

// stream is the numbers of the keys that are drawn, in order: the same for every cache. They are
// drawn before anything is timed and are off the Go heap, so that neither the drawing nor a heap
// that they make larger is measured.
type stream struct {
	draws []uint32
	pages *alloc.Pages
}

// newStream draws n numbers below keys.
func newStream(keys, n int) (*stream, error) {
	s := &stream{pages: alloc.NewPages()}
	var err error
	if s.draws, err = alloc.MakeSlice[uint32](s.pages, n, n); err != nil {
		return nil, err
	}
	z := rand.NewZipf(rand.New(rand.NewPCG(7, uint64(keys))), exponent, 1, uint64(keys-1))
	for i := range s.draws {
		s.draws[i] = uint32(z.Uint64())
	}
	return s, nil
}

// take returns the next n numbers.
func (s *stream) take(from *int, n int) []uint32 {
	*from += n
	return s.draws[*from-n : *from]
}

func (s *stream) close() { alloc.FreeSlice(s.pages, s.draws) }
