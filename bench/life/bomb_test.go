package life_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"quarry/bench/life"
)

// TestRLEBombs: malformed text is refused before its cells are held, and no line other than a
// header line is held. The bytes allocated are an upper bound for the bytes held.
func TestRLEBombs(t *testing.T) {
	const small = 1 << 20
	long := func(s string) string { return strings.Repeat(s, (16<<20)/len(s)) }
	for name, c := range map[string]struct {
		text, want string
		most       int
	}{
		"cells":       {"x = 16777216, y = 1\n16777216o", "x:2: expected ! at the end", small},
		"good cells":  {"x = 1048576, y = 1\n1048576o!", "", 8<<20 + small},
		"rows":        {"x = 1, y = 16777216\n" + long("o$"), "x:2: expected ! at the end", small},
		"one line":    {long("x"), "x:1: expected a line of at most 65536 bytes before the pattern", small},
		"a comment":   {"#N " + long("x"), "x:1: expected a line of at most 65536 bytes before the pattern", small},
		"comments":    {long("#N name\n"), "x:2097153: expected a header", small},
		"long within": {header + "bo$\n#" + long("x"), "x:3: expected ! at the end", small},
		"blanks":      {header + long(" "), "x:2: expected ! at the end", small},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := life.ParseRLE("x", strings.NewReader(c.text))
		runtime.ReadMemStats(&after)
		got := int(after.TotalAlloc - before.TotalAlloc)
		if c.want == "" && err != nil || c.want != "" && !strings.HasPrefix(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %v want %s", name, err, c.want)
		}
		if got > c.most {
			t.Errorf("%s: took %d bytes want at most %d", name, got, c.most)
		}
	}
}
