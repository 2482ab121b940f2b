package life

import "io"

// ParseRLELimit is ParseRLE with another limit on live cells.
func ParseRLELimit(name string, r io.ReadSeeker, limit int) (Pattern, error) {
	return parseRLE(name, r, limit)
}

// Board has the methods of both sides.
type Board = board

// BreakLinks makes one side of one cell wrong, which Verify must report.
func (s *Plain) BreakLinks() { s.cells[0].links[0] = &cell{} }

// BreakLinks cuts the links of one cell, which Verify must report.
func (w *World) BreakLinks() {
	for rows := range w.all.Rows() {
		id := rows.Entities()[0]
		l := w.links.Mut(id)
		for d := range l.To {
			l.To[d] = id
		}
		return
	}
}
