package world

// Add adds a type to which there is some access.
func (a *Access) Add(id TypeID, access uint8) {
	if access&MayWrite != 0 {
		a.Writes.Add(id)
	} else if access != 0 {
		a.Reads.Add(id)
	}
}

// Join adds the types that b reads and writes to a.
func (a *Access) Join(b *Access) {
	if b == nil {
		panic("ecs: door.Join: the access is nil")
	}
	for i := range a.Reads {
		a.Reads[i] |= b.Reads[i]
		a.Writes[i] |= b.Writes[i]
	}
}

// Conflicts reports whether a and b must not be used at the same time: one of them writes a type
// that the other reads or writes.
func (a *Access) Conflicts(b *Access) bool {
	if b == nil {
		panic("ecs: door.Conflicts: the access is nil")
	}
	return a.Writes.Meets(&b.Writes) || a.Writes.Meets(&b.Reads) || a.Reads.Meets(&b.Writes)
}

// What loops may do with a type.
const (
	MayRead = 1 << iota
	MayWrite
	BarrierRead // BarrierRead and BarrierWrite: MayRead and MayWrite, but by Rows.Missing
	BarrierWrite
	Taken  // for a batch's rows: the type is lent to a borrow
	MaySee // the enable bits may be asked for, see Rows.bitsOf
)

// WithBarrier returns, for the rows of a borrow's accessors and for types that track rows, the
// access with BarrierRead and BarrierWrite for MayRead and MayWrite.
func WithBarrier(access uint8) uint8 {
	return access&^(MayRead|MayWrite) | access&(MayRead|MayWrite)*BarrierRead
}
