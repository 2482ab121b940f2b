package command

import (
	"fmt"
	"strings"
)

// mostListed is the most commands that String lists.
const mostListed = 100

// String lists the first hundred commands in the order of playback. Each line has the key, flight,
// batch and number under which the command was recorded, its bytes (without a Trace), and what it
// does. Traced source lines appear in failures only, so the list is the same in every build. No
// goroutine may record during the call.
func (b *Buffer) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d commands, %d B\n", b.Len(), b.Bytes())
	if b.Len() == 0 {
		return text.String()
	}
	text.WriteString("key flight batch   no.  bytes  command")
	listed := 0
	for _, g := range inOrder(nil, b.streams) {
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

// text describes a record whose op is o.
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
