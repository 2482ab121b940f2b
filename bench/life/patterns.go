package life

// Cell is a place on the plane: X grows to the right, Y downwards.
type Cell struct {
	X, Y int32
}

// Pattern is a set of live cells and the rule that they live by.
type Pattern struct {
	Name  string
	Rule  Rule
	W, H  int    // box: every cell has 0 <= X < W and 0 <= Y < H
	Cells []Cell // rows from the top, each from the left; no cell twice
}

// RPentomino returns the R-pentomino (John Conway): five cells that take 1,103 generations to
// settle, at 116.
func RPentomino() Pattern {
	return draw("R-pentomino",
		".OO",
		"OO.",
		".O.")
}

// Acorn returns the acorn (Charles Corderman): seven cells that take 5,206 generations to settle,
// at 633.
func Acorn() Pattern {
	return draw("Acorn",
		".O.....",
		"...O...",
		"OO..OOO")
}

// draw makes a pattern of rows in which O is a live cell.
func draw(name string, rows ...string) Pattern {
	p := Pattern{Name: name, Rule: Conway, H: len(rows)}
	for y, row := range rows {
		p.W = max(p.W, len(row))
		for x := range row {
			if row[x] == 'O' {
				p.Cells = append(p.Cells, Cell{int32(x), int32(y)})
			}
		}
	}
	return p
}

// apart is the distance of the copies of a field. Nothing flies faster than half a cell a
// generation.
const apart = 100_000

// Field returns n copies of a pattern that cannot meet within 50,000 generations.
func (p Pattern) Field(n int) Pattern {
	columns := 1
	for columns*columns < n {
		columns++
	}
	one := p.Cells
	p.Cells = make([]Cell, 0, n*len(one))
	for i := range n {
		at := Cell{int32(i%columns) * apart, int32(i/columns) * apart}
		for _, c := range one {
			p.Cells = append(p.Cells, Cell{at.X + c.X, at.Y + c.Y})
		}
	}
	p.W, p.H = p.W+(columns-1)*apart, p.H+((n-1)/columns)*apart
	return p
}
