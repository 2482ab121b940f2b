package container

import "quarry/alloc"

// Corrupt breaks an invariant of a list with several elements.
func (l *List[T]) Corrupt(how string) (restore func()) {
	old, first := *l, *l.pool.Get(l.first)
	at := l.first
	switch how {
	case "last":
		l.last = l.first
	case "prev":
		l.pool.Get(l.first).prev = l.last
	case "next":
		l.pool.Get(l.first).next = alloc.Ref[listed[T]]{}
	case "ring":
		l.pool.Get(l.first).next = l.first
	}
	return func() { *l, *l.pool.Get(at) = old, first }
}

func (l *List[T]) IsClosed() bool { return l.closed }
