// Package debug holds the constant that switches checks on and the byte
// patterns that mark memory in such builds. Nothing else differs by build tag,
// so there is no second copy of any code: a check is written
//
//	if debug.On { x.verify() }
//
// with no call in the condition, and costs nothing when On is false.
package debug

// Patterns that debug builds write, one for each way in which memory can be
// read too early, too late or too far. Each is odd, so that a pointer or a
// version made of it is misaligned or alive when it should be dead.
const (
	Fresh   = 0xCD // handed out, not yet written
	Freed   = 0xDD // given back
	Padding = 0xFD // between and behind columns
)

// Poison fills b with one of the patterns above.
func Poison(b []byte, pattern byte) {
	for i := range b {
		b[i] = pattern
	}
}
