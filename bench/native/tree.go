package main

// The tree of the rows depth and matrices, as programs/tree.h has it. Each pass moves the root by
// 1, and all nodes with it.

// below adds up the values of n nodes, of which each is made of its parent's and its own.
func below[T any](n int, top T, one func(up T, i int) T, sum func(T) float64) (s float64) {
	all := make([]T, n)
	for i := range all {
		up := top
		if i > 0 {
			up = all[(i-1)/10]
		}
		all[i] = one(up, i)
		s += sum(all[i])
	}
	return s
}

// added is the sum of depth.
func added(n, passes int) float64 {
	return below(n, point{float64(passes), 0}, func(up point, i int) point {
		v := velocityOf(i)
		return point{up.x + v.x, up.y + v.y}
	}, point.sum)
}

// matrix is a matrix by columns, in numbers that lose nothing.
type matrix [16]float64

// multiplied is the sum of matrices.
func multiplied(n, passes int) float64 {
	top := matrix{0: 1, 5: 1, 10: 1, 12: float64(passes), 15: 1}
	return below(n, top, func(up matrix, i int) matrix { return up.mul(ownOf(i)) }, func(m matrix) (s float64) {
		for k, v := range m {
			s += float64(k+1) * v
		}
		return s
	})
}

// ownOf is the matrix of a node below its parent: a turn that leaves the axes, or takes X to Y to Z
// to X, or half a turn about Z.
func ownOf(i int) matrix {
	m := [...]matrix{{0: 1, 5: 1, 10: 1}, {1: 1, 6: 1, 8: 1}, {0: -1, 5: -1, 10: 1}}[i%3]
	if i%4 == 3 {
		for k := range m {
			m[k] /= 2
		}
	}
	m[12], m[13], m[14], m[15] = float64(i%7+1), float64(i%5-2), 1, 1
	return m
}

func (m matrix) mul(b matrix) (c matrix) {
	for k := range c {
		for j := range 4 {
			c[k] += m[4*j+k%4] * b[k/4*4+j]
		}
	}
	return c
}
