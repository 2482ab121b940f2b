package transform

import "math"

// Quat is a rotation as a unit quaternion: X, Y, Z are the axis times the sine of half the angle, W
// is the cosine. The zero Quat is no rotation; see NoRotation.
type Quat struct{ X, Y, Z, W float32 }

// NoRotation is the rotation by nothing.
var NoRotation = Quat{W: 1}

// AxisAngle returns the rotation about an axis, which has length 1, by an angle in radians,
// counterclockwise as seen from the tip of the axis.
func AxisAngle(axis Vec3, angle float32) Quat {
	sin, cos := math.Sincos(float64(angle) / 2)
	v := axis.Scale(float32(sin))
	return Quat{v.X, v.Y, v.Z, float32(cos)}
}

// Mul returns the rotation by r, and then by q.
func (q Quat) Mul(r Quat) Quat {
	return Quat{
		float32(float32(q.W*r.X)+float32(q.X*r.W)) + float32(float32(q.Y*r.Z)-float32(q.Z*r.Y)),
		float32(float32(q.W*r.Y)+float32(q.Y*r.W)) + float32(float32(q.Z*r.X)-float32(q.X*r.Z)),
		float32(float32(q.W*r.Z)+float32(q.Z*r.W)) + float32(float32(q.X*r.Y)-float32(q.Y*r.X)),
		float32(float32(q.W*r.W)-float32(q.X*r.X)) - float32(float32(q.Y*r.Y)+float32(q.Z*r.Z)),
	}
}

// Conjugate returns the rotation back.
func (q Quat) Conjugate() Quat { return Quat{-q.X, -q.Y, -q.Z, q.W} }

// Rotate returns a vector after the rotation.
func (q Quat) Rotate(v Vec3) Vec3 {
	m := q.axes()
	return Vec3{
		dot3(m[0].X, v.X, m[1].X, v.Y, m[2].X, v.Z),
		dot3(m[0].Y, v.X, m[1].Y, v.Y, m[2].Y, v.Z),
		dot3(m[0].Z, v.X, m[1].Z, v.Y, m[2].Z, v.Z),
	}
}

// Normalize returns the quaternion with length 1, which many products wear off; NoRotation for the
// zero one.
func (q Quat) Normalize() Quat {
	x, y, z, w := float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)
	n := math.Sqrt(float64(float64(x*x)+float64(y*y)) + float64(float64(z*z)+float64(w*w)))
	if n == 0 {
		return NoRotation
	}
	s := float32(1 / n)
	return Quat{q.X * s, q.Y * s, q.Z * s, q.W * s}
}

// axes returns where the axes X, Y and Z go.
func (q Quat) axes() [3]Vec3 {
	x2, y2, z2 := q.X+q.X, q.Y+q.Y, q.Z+q.Z
	xx, yy, zz := float32(q.X*x2), float32(q.Y*y2), float32(q.Z*z2)
	xy, xz, yz := float32(q.X*y2), float32(q.X*z2), float32(q.Y*z2)
	wx, wy, wz := float32(q.W*x2), float32(q.W*y2), float32(q.W*z2)
	return [3]Vec3{
		{1 - (yy + zz), xy + wz, xz - wy},
		{xy - wz, 1 - (xx + zz), yz + wx},
		{xz + wy, yz - wx, 1 - (xx + yy)},
	}
}
