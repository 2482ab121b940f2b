package world

// CheckLentWrite panics unless a goroutine of the borrow may write the type.
func (f *Finder) CheckLentWrite(op string) {
	if !f.writes {
		f.checkWrite(op)
	}
}
