//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package guard

// Real is false: a byte written too far hits a canary, which is compared at the end of the test.
const Real = false

// Bytes of canary before a head and after a tail: two cache lines of the widest kind, more than any
// one vector store.
const before, after = 512, 512

// pages returns Go memory with room for n bytes and the canaries around them.
func pages(n int) (room []byte, release func(), err error) {
	return make([]byte, before+n+after), func() {}, nil
}
