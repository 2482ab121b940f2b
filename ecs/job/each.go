package job

import "quarry/ecs"

// Each1 makes a body of what is to be done with one entity: f gets its row in the rows of the call
// and its component, nil where the chunk lacks an Optional type. Make it once, not in every frame.
// Cost: a call per entity, where a loop in a body has none.
func Each1[A any](a ecs.Component[A], f func(c *Ctx, row int, a *A)) func(*Ctx, ecs.Rows) {
	if f == nil {
		panic("job: Each1: the function is nil")
	}
	return func(c *Ctx, rows ecs.Rows) {
		as := a.Slice(rows)
		for i := range rows.Each() {
			f(c, i, rowOf(as, i))
		}
	}
}

// Each2 is Each1 with two components.
func Each2[A, B any](a ecs.Component[A], b ecs.Component[B], f func(c *Ctx, row int, a *A, b *B)) func(*Ctx, ecs.Rows) {
	if f == nil {
		panic("job: Each2: the function is nil")
	}
	return func(c *Ctx, rows ecs.Rows) {
		as, bs := a.Slice(rows), b.Slice(rows)
		for i := range rows.Each() {
			f(c, i, rowOf(as, i), rowOf(bs, i))
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
