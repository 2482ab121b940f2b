package trace

import "testing"

// TestPattern compares fill with its twin at every length and every offset in a word, with bytes on
// both sides that must not change, and requires every single wrong byte to be found.
func TestPattern(t *testing.T) {
	const margin = 8
	buf := make([]byte, 100+2*margin)
	for n := range 80 {
		for offset := range 8 {
			clear(buf)
			b := buf[margin+offset:][:n:n]
			stamp := uint64(n*8 + offset + 1)
			fill(b, stamp)
			for i := range buf {
				want := byte(0)
				if at := i - margin - offset; at >= 0 && at < n {
					want = wantByte(stamp, at)
				}
				if buf[i] != want {
					t.Fatalf("length %d offset %d byte %d: got %#x want %#x", n, offset, i, buf[i], want)
				}
			}
			if at := firstWrong(b, stamp); at != -1 {
				t.Fatalf("length %d: got %d want -1", n, at)
			}
			for i := range b {
				b[i] ^= 0x10
				if at := firstWrong(b, stamp); at != i {
					t.Fatalf("length %d: got %d want %d", n, at, i)
				}
				b[i] ^= 0x10
			}
		}
	}
}

// TestPatternTellsApart: the pattern of another stamp, and the same pattern at another place, are
// wrong in the first eight bytes.
func TestPatternTellsApart(t *testing.T) {
	b := make([]byte, 256)
	for stamp := uint64(1); stamp < 2000; stamp++ {
		fill(b, stamp)
		for _, other := range []uint64{0, stamp - 1, stamp + 1, stamp << 1, stamp << 32} {
			if at := firstWrong(b, other); at < 0 || at > 7 {
				t.Fatalf("stamp %d read as %d: got %d want a byte of the first word", stamp, other, at)
			}
		}
		for shift := 1; shift <= 64; shift++ {
			if at := firstWrong(b[shift:], stamp); at < 0 || at > 7 {
				t.Fatalf("stamp %d moved by %d: got %d want a byte of the first word", stamp, shift, at)
			}
		}
	}
}

func TestFirstSet(t *testing.T) {
	for n := range 40 {
		b := make([]byte, n)
		if at := firstSet(b); at != -1 {
			t.Fatalf("length %d: got %d want -1", n, at)
		}
		for i := range b {
			b[i] = 1
			if at := firstSet(b); at != i {
				t.Fatalf("length %d: got %d want %d", n, at, i)
			}
			b[i] = 0
		}
	}
}
