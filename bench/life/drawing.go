package life

import (
	"fmt"

	"quarry/bench/curve"
	"quarry/bench/workload"
)

const (
	drawnCells  = 20_000 // more would make the picture too large for a page
	drawnCounts = 400
)

// populations draws how many cells lived in each generation.
func populations(t task, record []Count) workload.Drawing {
	s := curve.Series{Name: "quarry: live cells", X: []float64{0}, Y: []float64{float64(len(t.pattern.Cells))}}
	every := len(record)/drawnCounts + 1
	for i, c := range record {
		if i%every == 0 || i == len(record)-1 {
			s.X, s.Y = append(s.X, float64(c.Generation)), append(s.Y, float64(c.Population))
		}
	}
	return workload.Drawing{Table: curve.Table{
		Name: t.pattern.Name + ", population", What: "Live cells by generation.",
		XLabel: "generation", YLabel: "live cells", Series: []curve.Series{s},
	}}
}

// cellsOf draws the plane.
func cellsOf(t task, generation int, cells []Cell) workload.Drawing {
	s := curve.Series{Name: "quarry: live cells"}
	for _, c := range cells {
		s.X, s.Y = append(s.X, float64(c.X)), append(s.Y, -float64(c.Y)) // rows of a pattern go down
	}
	return workload.Drawing{Dots: true, Table: curve.Table{
		Name: t.pattern.Name + ", the last generation", What: fmt.Sprintf("%d live cells at generation %d.",
			len(cells), generation),
		XLabel: "x, cells", YLabel: "y, cells", Series: []curve.Series{s},
	}}
}
