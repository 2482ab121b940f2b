package asm

// composeGo is the portable code of Compose. The conversion around each product rounds it: without
// the conversion the compiler may fuse the product with the addition, and on arm64 it does. The
// twelve elements of m that count are read once for all of dst.
func composeGo(dst [][16]float32, m *[16]float32, x [][8]float32) {
	m0, m1, m2, m4, m5, m6 := m[0], m[1], m[2], m[4], m[5], m[6]
	m8, m9, m10, m12, m13, m14 := m[8], m[9], m[10], m[12], m[13], m[14]
	x = x[:len(dst)]
	for i := range dst {
		l, c := &x[i], &dst[i]
		s, qx, qy, qz, qw := l[3], l[4], l[5], l[6], l[7]
		x2, y2, z2 := qx+qx, qy+qy, qz+qz
		xx, yy, zz := float32(qx*x2), float32(qy*y2), float32(qz*z2)
		xy, xz, yz := float32(qx*y2), float32(qx*z2), float32(qy*z2)
		wx, wy, wz := float32(qw*x2), float32(qw*y2), float32(qw*z2)
		x, y, z := float32((1-(yy+zz))*s), float32((xy+wz)*s), float32((xz-wy)*s)
		c[0], c[1], c[2], c[3] = dot3(m0, x, m4, y, m8, z), dot3(m1, x, m5, y, m9, z), dot3(m2, x, m6, y, m10, z), 0
		x, y, z = float32((xy-wz)*s), float32((1-(xx+zz))*s), float32((yz+wx)*s)
		c[4], c[5], c[6], c[7] = dot3(m0, x, m4, y, m8, z), dot3(m1, x, m5, y, m9, z), dot3(m2, x, m6, y, m10, z), 0
		x, y, z = float32((xz+wy)*s), float32((yz-wx)*s), float32((1-(xx+yy))*s)
		c[8], c[9], c[10], c[11] = dot3(m0, x, m4, y, m8, z), dot3(m1, x, m5, y, m9, z), dot3(m2, x, m6, y, m10, z), 0
		x, y, z = l[0], l[1], l[2]
		c[12] = dot3(m0, x, m4, y, m8, z) + m12
		c[13] = dot3(m1, x, m5, y, m9, z) + m13
		c[14] = dot3(m2, x, m6, y, m10, z) + m14
		c[15] = 1
	}
}

// dot3 returns a*x + b*y + c*z, each product and sum rounded.
func dot3(a, x, b, y, c, z float32) float32 {
	return float32(float32(a*x)+float32(b*y)) + float32(c*z)
}
