package micro

import "quarry/layout"

var layoutTables = []table{plan}

var plan = table{
	name: "Plan", pkg: "layout", what: "the most rows of n columns of 1 to 16 bytes that fit a chunk",
	x: "columns", unit: "plan", sizes: []int{1, 2, 4, 8, 16, 32, 64},
	ways: []way{
		{name: "layout", build: func(n int) (*run, error) {
			columns, rows := planColumns(n)
			var failed error
			r := fold(rows, func(times int) (last int) {
				for range times {
					p, err := layout.New(columns, layout.Options{CacheLine: planLine})
					if err != nil {
						failed = err
					}
					last = p.Rows
				}
				return last
			})
			check := r.check
			r.check = func(steps int) error {
				if failed != nil {
					return failed
				}
				return check(steps)
			}
			r.ops = 1
			return r, nil
		}},
		{name: "halving", roof: true, build: func(n int) (*run, error) {
			columns, rows := planColumns(n)
			r := fold(rows, func(times int) (last int) {
				for range times {
					last = halving(columns)
				}
				return last
			})
			r.ops = 1
			return r, nil
		}},
	},
}

const planLine = 64

// planColumns also finds the number of rows, by counting up one by one.
func planColumns(n int) (columns []layout.Column, rows int) {
	for i := range n {
		size := 1 << (i % 5)
		columns = append(columns, layout.Column{Name: "C", Size: size, Align: min(size, 8)})
	}
	for rows < layout.MaxRows && planFits(columns, rows+1) {
		rows++
	}
	return columns, rows
}

func planFits(columns []layout.Column, rows int) bool {
	sum := 0
	for i := range columns {
		sum += (columns[i].Size*rows + planLine - 1) &^ (planLine - 1)
	}
	return sum <= layout.ChunkSize
}

// halving is the plain search: it halves the range each time.
func halving(columns []layout.Column) int {
	low, high := 0, layout.MaxRows
	for low < high {
		middle := (low + high + 1) / 2
		if planFits(columns, middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
