package ecstest

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/query"
)

// Lender completes a borrow: it is the scheduler of tests.
type Lender struct {
	Borrow *ecs.Borrow
	Ops    []string // that waited
	wg     sync.WaitGroup
}

// Lend makes a borrow of what a query declares, and uses, whose wait ends it.
func Lend(q *ecs.Query, name string, uses ...ecs.Term) *Lender {
	l := &Lender{}
	l.Borrow = door.NewBorrow(q, name, func(op string) {
		l.Ops = append(l.Ops, op)
		l.End()
	}, uses...)
	return l
}

// End waits for the goroutines and ends the borrow.
func (l *Lender) End() {
	l.wg.Wait()
	l.Borrow.End()
}

// Each runs f for every part that has rows that match, by some goroutines.
func (l *Lender) Each(workers, grain int, f func(r *ecs.Accessor, rows ecs.Rows)) {
	parts := Split(l.Borrow, nil, grain)
	var next atomic.Int64
	for range workers {
		l.wg.Go(func() {
			r := AccessorOf(l.Borrow)
			defer Done(r)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(parts) {
					return
				}
				if rows, ok := RowsOf(r, parts[i]); ok {
					f(r, rows)
				}
			}
		})
	}
}

// What package job does with a borrow.

// Split is query.Borrow.Split.
func Split(b *ecs.Borrow, dst []query.RowRange, grain int) []query.RowRange {
	return door.Borrow(b).Split(dst, grain)
}

// AccessorOf returns an accessor of a borrow.
func AccessorOf(b *ecs.Borrow) *ecs.Accessor { return door.Accessor(door.Borrow(b).Accessor()) }

// RowsOf returns the rows of a part.
func RowsOf(r *ecs.Accessor, part query.RowRange) (ecs.Rows, bool) {
	rows, ok := core(r).Rows(part)
	return door.Rows(rows), ok
}

// Done makes an accessor's last rows stale.
func Done(r *ecs.Accessor) { core(r).Done() }

func core(r *ecs.Accessor) *query.Accessor {
	return (*query.Accessor)(unsafe.Pointer(r)) // Safe because an Accessor is its core.
}

// Begin begins a borrow, of a query or of everything, as package job does.
func Begin(b *ecs.Borrow) {
	door.Borrow(b).Check("Borrow.Begin")
	door.Borrow(b).Begin("Borrow.Begin")
}

// Out reports whether a borrow has begun and not ended.
func Out(b *ecs.Borrow) bool { return door.Borrow(b).Out }
