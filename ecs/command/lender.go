package command

import (
	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// Lender lends out one buffer and takes it back, over and over: a command point of package system
// lends a buffer to each system in each update. Only the lender seals and closes the buffer; those
// who borrow it cannot end it, so that what others recorded is not lost. The lender belongs to the
// world's owner.
type Lender struct{ b *Buffer }

// NewLender returns a lender of a new buffer, which it makes as NewBuffer does. Close the lender
// before the world.
func NewLender(w *ecs.World, options ...Option) *Lender {
	b := newBuffer("NewLender", w, options)
	b.lent = true
	return &Lender{b}
}

// Lend returns the buffer, open to commands. A buffer that was sealed is empty then, with key 0,
// like a new one: its memory is kept, and earlier placeholders are void. Lend panics if the buffer
// is closed.
func (l *Lender) Lend() *Buffer {
	l.check("Lender.Lend")
	switch l.b.state.Load() {
	case closed:
		l.b.refuse("Lender.Lend")
	case sealed:
		l.b.clear()
		l.b.key, l.b.within, l.b.stream.quick = 0, false, 0
		l.b.state.Store(recording)
	}
	return l.b
}

// Seal closes the buffer to commands until Lend. Recording, also through writers of parts, panics
// with the text why, and so do Parallel, Reserve, Play, Clear and Trim. Made still answers.
// Commands recorded but not yet played are lost. Seal first completes all jobs, since their bodies
// may record. It panics if the buffer is being played or closed. A second call replaces the text.
func (l *Lender) Seal(why string) {
	const op = "Lender.Seal"
	l.check(op)
	door.EndBorrows(l.b.w, op)
	if s := l.b.state.Load(); s == playing || s == closed {
		l.b.refuse(op)
	}
	l.b.why = why
	l.b.stream.quick = 0
	l.b.state.Store(sealed)
}

// Close closes the buffer as Buffer.Close does, which panics for a buffer that is lent.
func (l *Lender) Close() {
	l.check("Lender.Close")
	l.b.close("Lender.Close")
}

// check panics for a nil lender or one that did not come from NewLender.
func (l *Lender) check(op string) {
	if l == nil || l.b == nil {
		panic("command: " + op + ": the lender is nil or the zero value; lenders come from NewLender")
	}
}
