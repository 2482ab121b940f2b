package ecs

// Each1 calls f for every entity that matches q, with its component: a convenience over
// Query.Rows for one line of work. It panics like Component.Slice, which it calls per
// chunk; the pointer is nil where the chunk lacks an Optional type. Cost: a call per
// entity, where a loop over rows has none.
func Each1[A any](q *Query, a Component[A], f func(e Entity, a *A)) {
	if f == nil {
		panic("ecs: Each1: the function is nil")
	}
	for rows := range q.Rows() {
		e, as := rows.Entities(), a.Slice(rows)
		for i := range rows.Each() {
			f(e[i], rowOf(as, i))
		}
	}
}

// Each2 is Each1 with two components. For more, loop over rows, or make a View.
func Each2[A, B any](q *Query, a Component[A], b Component[B], f func(e Entity, a *A, b *B)) {
	if f == nil {
		panic("ecs: Each2: the function is nil")
	}
	for rows := range q.Rows() {
		e, as, bs := rows.Entities(), a.Slice(rows), b.Slice(rows)
		for i := range rows.Each() {
			f(e[i], rowOf(as, i), rowOf(bs, i))
		}
	}
}

// rowOf returns a row of a column, nil where the chunk has none.
func rowOf[T any](column []T, i int) *T {
	if column == nil {
		return nil
	}
	return &column[i]
}
