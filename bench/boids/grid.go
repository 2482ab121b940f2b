package boids

import "math"

// grid has copies of all birds sorted by cell, by counting:
//
//	birds of cell c: sorted[ends[c-1]:ends[c]], in the order in which they were put
//
// The birds of a frame are put twice: counted, then placed.
type grid struct {
	columns int // in a row, and rows; a power of two
	side    float32
	ends    []int32
	sorted  []Bird
}

// newGrid returns an empty grid for n birds.
func newGrid(n int) *grid {
	g := &grid{columns: 1, sorted: make([]Bird, n)}
	for g.columns*g.columns*perCell < n {
		g.columns *= 2
	}
	g.side = float32(g.columns * reach)
	g.ends = make([]int32, g.columns*g.columns)
	return g
}

// place returns the column and row of a place, not yet wrapped around.
func (g *grid) place(p complex64) (column, row int) {
	return int(math.Floor(float64(real(p) / reach))), int(math.Floor(float64(imag(p) / reach)))
}

func (g *grid) cell(column, row int) int {
	return row&(g.columns-1)*g.columns + column&(g.columns-1)
}

// begin empties the grid.
func (g *grid) begin() { clear(g.ends) }

// count counts birds.
func (g *grid) count(birds []Bird) {
	for i := range birds {
		g.ends[g.cell(g.place(birds[i].P))]++
	}
}

// counted makes the counts the beginnings of the cells.
func (g *grid) counted() {
	sum := int32(0)
	for c, n := range g.ends {
		g.ends[c] = sum
		sum += n
	}
}

// put places birds, which makes the beginnings of cells their ends.
func (g *grid) put(birds []Bird) {
	for i := range birds {
		c := g.cell(g.place(birds[i].P))
		g.sorted[g.ends[c]] = birds[i]
		g.ends[c]++
	}
}

// birds returns the birds of a cell.
func (g *grid) birds(column, row int) []Bird {
	c := g.cell(column, row)
	if c == 0 {
		return g.sorted[:g.ends[0]]
	}
	return g.sorted[g.ends[c-1]:g.ends[c]]
}
