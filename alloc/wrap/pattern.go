package wrap

import (
	"bytes"
	"unsafe"

	"quarry/internal/debug"
)

// pattern fills memory so that a write to it is detected. The byte at address a is the pattern's
// byte a % patternPeriod.
type pattern [patternStep + patternPeriod]byte

const (
	patternPeriod = 64       // bytes
	patternStep   = 64 << 10 // bytes at a time: a copy cannot be preempted
)

var (
	canaries pattern // 64 bytes, all different and none 0, so that a fill shows
	buried   pattern // debug.Freed
)

func init() {
	for i := range canaries {
		canaries[i] = byte(0x81 + 37*(i%patternPeriod)) // 37 is odd, so 64 different ones; 0 would be the 211th
		buried[i] = debug.Freed
	}
}

// at returns the pattern for n bytes at an address, n at most patternStep.
func (k *pattern) at(p unsafe.Pointer, n int) []byte {
	first := int(uintptr(p) % patternPeriod)
	return k[first : first+min(n, patternStep)]
}

// fill writes the pattern to n bytes.
func (k *pattern) fill(p unsafe.Pointer, n int) {
	for n > 0 {
		// Safe because the caller owns the n bytes; the last step ends at their end.
		done := copy(unsafe.Slice((*byte)(p), n), k.at(p, n))
		p, n = unsafe.Add(p, done), n-done
	}
}

// changed returns the offsets of the first and the last of n bytes that differ from the pattern, or
// -1, -1.
func (k *pattern) changed(p unsafe.Pointer, n int) (first, last int) {
	first, last = -1, -1
	for at := 0; at < n; {
		// Safe because the caller owns the n bytes, and at < n.
		q := unsafe.Add(p, at)
		want := k.at(q, n-at)
		have := unsafe.Slice((*byte)(q), len(want)) // Safe as above: at + len(want) <= n.
		if !bytes.Equal(have, want) {
			for i := range have {
				if have[i] != want[i] {
					if first < 0 {
						first = at + i
					}
					last = at + i
				}
			}
		}
		at += len(want)
	}
	return first, last
}
