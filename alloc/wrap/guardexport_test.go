package wrap

import "unsafe"

// Fencer is fencer, for tests with pages that fail on command.
type Fencer = fencer

// WithPages makes a Guard take the pages around an address from f.
func WithPages(f func(p unsafe.Pointer) (Fencer, int)) GuardOption {
	return func(g *Guard) { g.regions = f }
}

// PagesAt is what a Guard uses else.
func PagesAt(p unsafe.Pointer) (Fencer, int) { return fencerAt(p) }

// Pattern is pattern for the test of its own.
type Pattern struct{ *pattern }

// Patterns are those that there are.
var Patterns = []Pattern{{&canaries}, {&buried}}

// Fill writes the pattern to b, and Changed returns where it is no longer there.
func (k Pattern) Fill(b []byte) { k.fill(unsafe.Pointer(unsafe.SliceData(b)), len(b)) } // Safe because b has the bytes.
func (k Pattern) Changed(b []byte) (first, last int) {
	return k.changed(unsafe.Pointer(unsafe.SliceData(b)), len(b))
} // Safe as above.

// GuardCorruptions breaks one invariant each, by its name, in the metadata of a Guard that
// has a live block at p and a freed one.
var GuardCorruptions = map[string]func(g *Guard, p unsafe.Pointer){
	"G1 start": func(g *Guard, p unsafe.Pointer) { g.blocks[p].edges[0]++ },
	"G1 body":  func(g *Guard, p unsafe.Pointer) { g.blocks[p].size += 2 * g.unit },
	"G1 short": func(g *Guard, p unsafe.Pointer) { g.blocks[p].size = -1 - max(g.unit, 16) },
	"G1 align": func(g *Guard, p unsafe.Pointer) { g.blocks[p].align = 1 << 30 },
	"G1 total": func(g *Guard, p unsafe.Pointer) { g.blocks[p].total += g.unit },
	"G1 twice": func(g *Guard, p unsafe.Pointer) { g.blocks[nil] = g.blocks[p] },
	"G2 bytes": func(g *Guard, _ unsafe.Pointer) { g.wait.bytes++ },
	"G2 lost":  func(g *Guard, _ unsafe.Pointer) { g.wait.leave(1) },
	"G2 live":  func(g *Guard, _ unsafe.Pointer) { g.wait.blocks[0].state = stateLive },
	"G2 state": func(g *Guard, p unsafe.Pointer) { g.blocks[p].state = stateFreed },
}
