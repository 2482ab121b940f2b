// Package debug holds the constant that switches checks on and the byte
// patterns that mark memory in such builds. Nothing else differs by build tag,
// so there is no second copy of any code: a check is written
//
//	if debug.On { x.verify() }
//
// with no call in the condition, and costs nothing when On is false.
package debug

// Patterns that debug builds write, one for each way in which memory can be
// read too early, too late or too far.
const (
	Fresh   = 0xCD // handed out, not yet written
	Freed   = 0xDD // given back
	Padding = 0xFD // between and behind columns
)

// Poison fills b with one of the patterns above. It doubles what is filled, so
// that race builds check a few ranges and not every byte.
func Poison(b []byte, pattern byte) {
	if len(b) == 0 {
		return
	}
	b[0] = pattern
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
