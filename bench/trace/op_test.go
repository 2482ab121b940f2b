package trace

import (
	"testing"
	"unsafe"
)

// TestOpPacks: an operation has 16 bytes and returns what was put in.
func TestOpPacks(t *testing.T) {
	if size := unsafe.Sizeof(Op{}); size != 16 {
		t.Errorf("got %d bytes want 16", size)
	}
	for kind := Malloc; kind <= ThreadDone; kind++ {
		for effect := Nothing; effect <= Drop; effect++ {
			for align := uint64(0); align <= maxNameAlign; align = max(2*align, 1) {
				op := Op{call: calls(kind, effect)}
				op.setAlign(align)
				if op.Kind() != kind || op.Effect() != effect || op.Align() != int64(align) {
					t.Errorf("got %v, %d, %d want %v, %d, %d", op.Kind(), op.Effect(), op.Align(), kind, effect, align)
				}
			}
		}
	}
}
