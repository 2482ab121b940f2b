// Package debug has the constant that enables debug checks, and the byte patterns that mark memory
// in debug builds. Nothing else depends on build tags, so no code exists twice. A check is written
//
//	if debug.On { x.verify() }
//
// with no call in the condition. It costs nothing if On is false.
package debug

// Patterns that debug builds write: one each for memory that is read too early, too late or too
// far.
const (
	Fresh   = 0xCD // handed out, not yet written
	Freed   = 0xDD // given back
	Padding = 0xFD // between and after columns
)

// Poison fills b with one of the patterns above. It doubles the filled part, so that race builds
// check a few ranges and not every byte.
func Poison(b []byte, pattern byte) {
	if len(b) == 0 {
		return
	}
	b[0] = pattern
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
