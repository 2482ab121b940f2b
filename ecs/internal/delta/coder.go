package delta

import (
	"bytes"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/world"
)

// The coder of deltas: what reads or writes the parts that format.go lists, and what it keeps from
// one delta to the next.

// writeAlone is how many bytes of runs are written where they lie, without a copy.
const writeAlone = 64 << 10

// deltaCoder encodes or decodes the parts of a delta.
type deltaCoder struct {
	codec.Coder
	memory *memory // of an Applier; nil: none
	splits bool    // long runs are not copied to Out
	apart  []part  // of the content, by their place
}

// part is bytes that belong before byte at of Coder.Out.
type part struct {
	at    int
	bytes []byte
}

func (c *deltaCoder) runs(r *deltaRuns) {
	c.Half(&r.sum)
	if n := len(r.runs); c.splits && n >= writeAlone {
		c.Number(&n)
		c.apart = append(c.apart, part{len(c.Out), r.runs})
		return
	}
	c.Bytes(&r.runs)
}

// memory is what decoding keeps from one delta to the next.
type memory struct {
	coded  []byte              // of the types; empty: not known
	types  []world.Description // that these bytes describe
	same   bool                // the delta at hand has them too
	tables []deltaTable        // of the delta before, for their memory
}

// knows reports whether content begins with the types of the delta before.
func (m *memory) knows(content []byte) bool {
	m.same = len(m.coded) > 0 && bytes.HasPrefix(content, m.coded)
	return m.same
}

// note notes the types of a delta.
func (m *memory) note(coded []byte, types []world.Description) {
	m.coded, m.types = append(m.coded[:0], coded...), types
}

// table gives a new table the memory of one of the delta before.
func (m *memory) table(t *deltaTable) {
	if last := len(m.tables) - 1; last >= 0 {
		o := &m.tables[last]
		*t = deltaTable{types: o.types[:0], rows: o.rows[:0], ids: o.ids[:0], columns: o.columns[:0]}
		m.tables = m.tables[:last]
	}
}
