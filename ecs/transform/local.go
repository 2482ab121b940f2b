package transform

import (
	"unsafe"

	"quarry/asm"
)

// Local is the component of where an entity is relative to its parent, or in the world if it has
// none: scaled, then rotated, then moved. 32 bytes. The zero Local has scale 0, which shrinks all
// to a point; begin with At or Placed.
type Local struct {
	Position Vec3
	Scale    float32
	Rotation Quat
}

// At returns a Local that moves alone.
func At(x, y, z float32) Local {
	return Local{Position: Vec3{x, y, z}, Scale: 1, Rotation: NoRotation}
}

// RotateX returns l, turned about its own axis X by an angle in radians.
func (l Local) RotateX(angle float32) Local { return l.Rotate(AxisAngle(Vec3{X: 1}, angle)) }

// RotateY returns l, turned about its own axis Y.
func (l Local) RotateY(angle float32) Local { return l.Rotate(AxisAngle(Vec3{Y: 1}, angle)) }

// RotateZ returns l, turned about its own axis Z.
func (l Local) RotateZ(angle float32) Local { return l.Rotate(AxisAngle(Vec3{Z: 1}, angle)) }

// Rotate returns l, turned by q about its own axes.
func (l Local) Rotate(q Quat) Local {
	l.Rotation = l.Rotation.Mul(q)
	return l
}

// Translate returns l, moved in the space of its parent.
func (l Local) Translate(by Vec3) Local {
	l.Position = l.Position.Add(by)
	return l
}

// ScaleBy returns l, s times as large.
func (l Local) ScaleBy(s float32) Local {
	l.Scale *= s
	return l
}

// Point returns where a point of l's space is in its parent's.
func (l Local) Point(p Vec3) Vec3 { return l.Rotation.Rotate(p.Scale(l.Scale)).Add(l.Position) }

// Inverse returns the Local that takes back what l does. Its scale is infinite if l's is 0.
func (l Local) Inverse() Local {
	r, s := l.Rotation.Conjugate(), 1/l.Scale
	return Local{r.Rotate(l.Position.Scale(-s)), s, r}
}

// Mul returns the Local that applies m first and then l.
func (l Local) Mul(m Local) Local {
	return Local{l.Point(m.Position), l.Scale * m.Scale, l.Rotation.Mul(m.Rotation)}
}

// Matrix returns l as a matrix.
func (l Local) Matrix() (m Mat4) {
	l.write(&m)
	return m
}

// write makes m the matrix of l.
func (l *Local) write(m *Mat4) {
	a, s, p := l.Rotation.axes(), l.Scale, l.Position
	*m = Mat4{
		float32(a[0].X * s), float32(a[0].Y * s), float32(a[0].Z * s), 0,
		float32(a[1].X * s), float32(a[1].Y * s), float32(a[1].Z * s), 0,
		float32(a[2].X * s), float32(a[2].Y * s), float32(a[2].Z * s), 0,
		p.X, p.Y, p.Z, 1,
	}
}

// under makes each matrix the product of the parent's matrix m and that of its Local, as Mat4.Mul
// does. There are as many matrices as locals, and m is not one of them.
func under(out []LocalToWorld, locals []Local, m *Mat4) {
	// Safe because a Local is eight float32 in the order that Compose takes, and a LocalToWorld
	// sixteen.
	placements := unsafe.Slice((*[8]float32)(unsafe.Pointer(unsafe.SliceData(locals))), len(locals))
	matrices := unsafe.Slice((*[16]float32)(unsafe.Pointer(unsafe.SliceData(out))), len(out))
	asm.Compose(matrices, (*[16]float32)(m), placements)
}
