package trace

import (
	"runtime/metrics"
	"unsafe"
)

// goMemory is the plain side: every block is a []byte on the Go heap, made when it is allocated and
// left to the garbage collector when it is freed.
type goMemory struct {
	metric []metrics.Sample
	base   int64 // bytes of objects before the first call
	peak   int64 // greatest sampled growth, including dead objects that are not swept yet
}

// objectBytes is the sampled metric: live objects, and dead ones that are not swept yet. Reading it
// does not stop the world.
const objectBytes = "/memory/classes/heap/objects:bytes"

func newGoMemory() *goMemory {
	m := &goMemory{metric: []metrics.Sample{{Name: objectBytes}}}
	m.base = m.read()
	return m
}

// get makes a slice. For an alignment above one word it does what a Go program has to: it makes
// more bytes and takes a slice from the first address that fits.
func (m *goMemory) get(size, align int) ([]byte, error) {
	if align <= 1 {
		return make([]byte, size), nil
	}
	b := make([]byte, size+align)
	// Safe because the address is only looked at; heap objects do not move.
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(align-1)
	return b[skip:][:size:size], nil
}

// resize keeps the block if the new size fits and would not waste half of it, which is alloc.Heap's
// rule too; else it makes a new block and copies.
func (m *goMemory) resize(b []byte, size int) ([]byte, error) {
	if size <= cap(b) && size >= cap(b)/2 {
		return b[:size], nil
	}
	grown := make([]byte, size)
	copy(grown, b)
	return grown, nil
}

func (m *goMemory) drop([]byte) {}

func (m *goMemory) traits() traits {
	return traits{align: 1, zeroed: true}
}

func (m *goMemory) sample() int64 {
	now := m.read() - m.base
	m.peak = max(m.peak, now)
	return now
}

func (m *goMemory) read() int64 {
	metrics.Read(m.metric)
	if m.metric[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(m.metric[0].Value.Uint64())
}
