package main

// invert replaces a matrix by its inverse, by pairs of minors of two rows (Laplace). A matrix
// without an inverse becomes infinite or not a number.
func (t *Transform) invert() {
	a, b, c, d := t[0:4:4], t[4:8:8], t[8:12:12], t[12:16:16]
	s0, s1, s2 := a[0]*b[1]-b[0]*a[1], a[0]*b[2]-b[0]*a[2], a[0]*b[3]-b[0]*a[3]
	s3, s4, s5 := a[1]*b[2]-b[1]*a[2], a[1]*b[3]-b[1]*a[3], a[2]*b[3]-b[2]*a[3]
	c0, c1, c2 := c[0]*d[1]-d[0]*c[1], c[0]*d[2]-d[0]*c[2], c[0]*d[3]-d[0]*c[3]
	c3, c4, c5 := c[1]*d[2]-d[1]*c[2], c[1]*d[3]-d[1]*c[3], c[2]*d[3]-d[2]*c[3]
	f := 1 / (s0*c5 - s1*c4 + s2*c3 + s3*c2 - s4*c1 + s5*c0)
	*t = Transform{
		(b[1]*c5 - b[2]*c4 + b[3]*c3) * f,
		(a[2]*c4 - a[1]*c5 - a[3]*c3) * f,
		(d[1]*s5 - d[2]*s4 + d[3]*s3) * f,
		(c[2]*s4 - c[1]*s5 - c[3]*s3) * f,

		(b[2]*c2 - b[0]*c5 - b[3]*c1) * f,
		(a[0]*c5 - a[2]*c2 + a[3]*c1) * f,
		(d[2]*s2 - d[0]*s5 - d[3]*s1) * f,
		(c[0]*s5 - c[2]*s2 + c[3]*s1) * f,

		(b[0]*c4 - b[1]*c2 + b[3]*c0) * f,
		(a[1]*c2 - a[0]*c4 - a[3]*c0) * f,
		(d[0]*s4 - d[1]*s2 + d[3]*s0) * f,
		(c[1]*s2 - c[0]*s4 - c[3]*s0) * f,

		(b[1]*c1 - b[0]*c3 - b[2]*c0) * f,
		(a[0]*c3 - a[1]*c1 + a[2]*c0) * f,
		(d[1]*s1 - d[0]*s3 - d[2]*s0) * f,
		(c[0]*s3 - c[1]*s1 + c[2]*s0) * f,
	}
}

// turned is the matrix times a vector, without the matrix's fourth column.
func (t *Transform) turned(p Position3) Position3 {
	return Position3{
		t[0]*p.X + t[4]*p.Y + t[8]*p.Z,
		t[1]*p.X + t[5]*p.Y + t[9]*p.Z,
		t[2]*p.X + t[6]*p.Y + t[10]*p.Z,
	}
}
