package container

import (
	"fmt"
	"testing"
	"unsafe"

	"quarry/alloc"
)

// The drawing of the package comment.
func Example_drawing() {
	m, err := NewMap[uint64, uint64](alloc.NewPages())
	if err != nil {
		panic(err)
	}
	fmt.Printf("group %d B: control word %d B, %d slots of %d B\n", m.stride, wordBytes, m.slots, m.size)
	fmt.Printf("largest table %d groups and %d B: %d B, %d entries at most\n", m.groups[m.largest],
		m.tail, m.bytes(m.groups[m.largest]), m.limit(m.largest))
	// Output:
	// group 128 B: control word 8 B, 7 slots of 16 B
	// largest table 127 groups and 16 B: 16272 B, 666 entries at most
}

// TestMapHeader: what the collector sees of a map is small.
func TestMapHeader(t *testing.T) {
	if size := unsafe.Sizeof(Map[uint64, uint64]{}); size > 512 {
		t.Fatalf("%d bytes", size)
	}
}
