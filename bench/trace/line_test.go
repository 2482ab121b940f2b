package trace

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// numbers returns texts at every edge of a 64-bit number, and random ones.
func numbers() []string {
	list := []string{
		"", "0", "00", "9", "10", "18446744073709551615", "18446744073709551616", "18446744073709551625",
		"99999999999999999999", "184467440737095516150", "000000000000000000000000007", "9223372036854775808",
		"f", "ffffffffffffffff", "10000000000000000", "00000000000000000000ff", "123456789abcdef0", "F", "g",
		"-1", "+1", "1x", "x1", " 1",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10+6*rng.IntN(2))
		list = append(list, text+strings.Repeat("0", rng.IntN(3)))
	}
	return list
}

// TestNumbers compares the number readers with strconv on the longest prefix of digits. Both refuse
// a number that does not fit.
func TestNumbers(t *testing.T) {
	for _, text := range numbers() {
		for base, digits := range map[int]string{10: "0123456789", 16: "0123456789abcdef"} {
			n := len(text) - len(strings.TrimLeft(text, digits))
			want, err := strconv.ParseUint(text[:n], base, 64)
			l := line{[]byte(text)}
			read := l.dec
			if base == 16 {
				l.rest = []byte("0x" + text)
				read = l.hex
			}
			got, ok := read()
			if ok != (err == nil) || ok && got != want {
				t.Errorf("base %d %q: got %d %v want %d %v", base, text, got, ok, want, err)
			}
			if ok && string(l.rest) != text[n:] {
				t.Errorf("base %d %q: got rest %q want %q", base, text, l.rest, text[n:])
			}
		}
	}
	l := line{[]byte("ff")}
	if _, ok := l.hex(); ok {
		t.Error("hex without 0x: got true want false")
	}
}

func TestWords(t *testing.T) {
	l := line{[]byte("free  \t0x0")}
	if got := string(l.word()); got != "free" {
		t.Errorf("got %q want %q", got, "free")
	}
	if l.lit("  x") || !l.lit(" ") || !l.spaces() || l.spaces() || l.done() {
		t.Errorf("got the wrong answer before %q", l.rest)
	}
	if got := string(l.word()); got != "0x0" || !l.done() {
		t.Errorf("got %q want 0x0 and the end", got)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Memalign.String(), "memalign"}, {ThreadDone.String(), "thread_done"}, {Kind(9).String(), "Kind(9)"},
		{Malloclab.String(), "malloclab"}, {Form(9).String(), "Form(9)"},
		{grouped(0), "0"}, {grouped(999), "999"}, {grouped(1000), "1,000"},
		{grouped(-123456), "-123,456"}, {grouped(12345678), "12,345,678"},
	} {
		if c.got != c.want {
			t.Errorf("got %s want %s", c.got, c.want)
		}
	}
}

// opsText prints all operations of a trace, without its name and packing.
func opsText(t *Trace) string {
	return fmt.Sprint(t.Slots, t.Threads, t.Ops)
}
