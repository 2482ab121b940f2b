package transform

// Mat4 is a 4x4 matrix, column by column, as graphics libraries take it: elements 12 to 14 are
// where the origin goes. Its last row is 0 0 0 1, whatever elements 3, 7, 11 and 15 are. The zero
// Mat4 moves all to the origin; see Identity.
type Mat4 [16]float32

// Identity is the matrix that moves nothing.
var Identity = Mat4{0: 1, 5: 1, 10: 1, 15: 1}

// Mul returns the matrix that applies b first and then m. Products are rounded before they are
// added, on every platform. Cost: 36 products.
func (m Mat4) Mul(b Mat4) (c Mat4) {
	c.setProduct(&m, &b)
	return c
}

// setProduct makes c what m.Mul(b) returns; c is neither.
func (c *Mat4) setProduct(m, b *Mat4) {
	for col := 0; col < 12; col += 4 {
		x, y, z := b[col], b[col+1], b[col+2]
		c[col] = dot3(m[0], x, m[4], y, m[8], z)
		c[col+1] = dot3(m[1], x, m[5], y, m[9], z)
		c[col+2] = dot3(m[2], x, m[6], y, m[10], z)
		c[col+3] = 0
	}
	x, y, z := b[12], b[13], b[14]
	c[12] = dot3(m[0], x, m[4], y, m[8], z) + m[12]
	c[13] = dot3(m[1], x, m[5], y, m[9], z) + m[13]
	c[14] = dot3(m[2], x, m[6], y, m[10], z) + m[14]
	c[15] = 1
}

// Point returns where a point goes.
func (m Mat4) Point(p Vec3) Vec3 {
	return Vec3{
		dot3(m[0], p.X, m[4], p.Y, m[8], p.Z) + m[12],
		dot3(m[1], p.X, m[5], p.Y, m[9], p.Z) + m[13],
		dot3(m[2], p.X, m[6], p.Y, m[10], p.Z) + m[14],
	}
}

// Position returns where the origin goes.
func (m Mat4) Position() Vec3 { return Vec3{m[12], m[13], m[14]} }
