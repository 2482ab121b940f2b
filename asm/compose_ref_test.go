package asm

// ComposeRef is the obvious twin of Compose: the matrix of each x[i], and then the product by
// definition, an element at a time. Tests and fuzzers compare against it. len(x) >= len(dst).
func ComposeRef(dst [][16]float32, m *[16]float32, x [][8]float32) {
	for i := range dst {
		local := placementRef(&x[i])
		for column := range 4 {
			for row := range 3 {
				term := func(k int) float32 { return float32(m[4*k+row] * local[4*column+k]) }
				sum := term(0) + term(1) + term(2)
				if column == 3 {
					sum += m[12+row]
				}
				dst[i][4*column+row] = sum
			}
			dst[i][4*column+3] = local[4*column+3]
		}
	}
}

// placementRef returns the matrix of a position, a scale and a quaternion.
func placementRef(l *[8]float32) (m [16]float32) {
	q := l[4:]
	twice := func(a, b int) float32 { return float32(q[a] * (q[b] + q[b])) }
	const x, y, z, w = 0, 1, 2, 3
	rotation := [3][3]float32{ // by column
		{1 - (twice(y, y) + twice(z, z)), twice(x, y) + twice(w, z), twice(x, z) - twice(w, y)},
		{twice(x, y) - twice(w, z), 1 - (twice(x, x) + twice(z, z)), twice(y, z) + twice(w, x)},
		{twice(x, z) + twice(w, y), twice(y, z) - twice(w, x), 1 - (twice(x, x) + twice(y, y))},
	}
	for column := range rotation {
		for row, v := range rotation[column] {
			m[4*column+row] = float32(v * l[3])
		}
	}
	copy(m[12:], l[:3])
	m[15] = 1
	return m
}
