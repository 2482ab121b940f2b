package job

import "quarry/ecs"

// Bodies that call a function for each entity. Other bodies are functions of the program.

// Each1 returns a body that calls f for each entity. row is the entity's row in the rows of the
// call, a points to its component, or is nil if the chunk lacks an Optional type. Make the body
// once, not in every frame. It panics if f is nil. Cost: one call per entity, which a loop in a
// body does not have.
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

// rowOf returns a pointer to a row of a column, or nil if the chunk has no such column.
func rowOf[T any](column []T, i int) *T {
	if column == nil {
		return nil
	}
	return &column[i]
}
