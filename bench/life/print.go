package life

import (
	"fmt"
	"strconv"
	"strings"
)

// lineWidth is the longest line of runs that String writes: the format allows at most 70
// characters.
const lineWidth = 70

// String returns the pattern in the run-length encoded form that ParseRLE reads. Cells must be in
// order: rows from the top, each from the left.
func (p Pattern) String() string {
	var w rlePrinter
	if p.Name != "" {
		fmt.Fprintf(&w.out, "#N %s\n", p.Name)
	}
	fmt.Fprintf(&w.out, "x = %d, y = %d, rule = %v\n", p.W, p.H, p.Rule)
	at := Cell{}
	for i := 0; i < len(p.Cells); {
		c := p.Cells[i]
		if c.Y > at.Y {
			w.run(int(c.Y-at.Y), '$')
			at = Cell{X: 0, Y: c.Y}
		}
		if c.X > at.X {
			w.run(int(c.X-at.X), 'b')
		}
		n := 1
		for i+n < len(p.Cells) && p.Cells[i+n] == (Cell{X: c.X + int32(n), Y: c.Y}) {
			n++
		}
		w.run(n, 'o')
		at.X = c.X + int32(n)
		i += n
	}
	w.run(1, '!')
	w.out.WriteByte('\n')
	return w.out.String()
}

type rlePrinter struct {
	out    strings.Builder
	column int // characters in the line so far
}

// run writes n times the letter, on a new line if this one is full.
func (w *rlePrinter) run(n int, letter byte) {
	text := string([]byte{letter})
	if n > 1 {
		text = strconv.Itoa(n) + text
	}
	if w.column+len(text) > lineWidth {
		w.out.WriteByte('\n')
		w.column = 0
	}
	w.out.WriteString(text)
	w.column += len(text)
}
