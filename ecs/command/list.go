package command

import (
	"fmt"
	"strings"
)

// mostListed is how many commands String lists.
const mostListed = 100

// String lists the commands in the order of playback, the first hundred of them: by which key,
// flight and batch, and as which of these, they were recorded, how many bytes they take but for a
// Trace, and what they do. The lines of a Trace stand in failures alone, so the list is the same
// in every build. Nobody may record meanwhile.
func (b *Buffer) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d commands, %d B\n", b.Len(), b.Bytes())
	if b.Len() == 0 {
		return text.String()
	}
	text.WriteString("key flight batch   no.  bytes  command")
	listed := 0
	for _, g := range b.inOrder(nil) {
		c := g.cursor()
		for i := range g.n {
			if listed++; listed > mostListed {
				return text.String() + "\nand others"
			}
			r := c.next()
			fmt.Fprintf(&text, "\n%3d %6d %5d %5d %6d  %s", g.key, g.flight, g.ordinal, g.first+i, r.bytes(), r.text(&g.stream.list[r.op]))
		}
	}
	return text.String()
}

// text says what a record does, whose op is given.
func (r *record) text(o *op) string {
	switch {
	case o.query != nil:
		return o.String() + " of " + o.query.String()
	case r.flags&listed != 0:
		return fmt.Sprintf("%v of %d entities", o, len(r.list()))
	case o.kind == instantiate:
		return fmt.Sprintf("%v %v as %v", o, r.source(), r.e)
	case o.kind == create:
		return fmt.Sprintf("%v as %v", o, r.e)
	}
	return fmt.Sprintf("%v of %v", o, r.e)
}
