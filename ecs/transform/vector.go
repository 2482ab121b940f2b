package transform

// Vec3 is a point or a direction.
type Vec3 struct{ X, Y, Z float32 }

// Add returns v + w.
func (v Vec3) Add(w Vec3) Vec3 { return Vec3{v.X + w.X, v.Y + w.Y, v.Z + w.Z} }

// Scale returns v times s.
func (v Vec3) Scale(s float32) Vec3 {
	return Vec3{float32(v.X * s), float32(v.Y * s), float32(v.Z * s)}
}

// dot3 returns a*x + b*y + c*z, each product and sum rounded to float32. Go may otherwise fuse a
// product with a sum, on some platforms and not on others.
func dot3(a, x, b, y, c, z float32) float32 {
	return float32(float32(a*x)+float32(b*y)) + float32(c*z)
}
