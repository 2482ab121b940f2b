package job_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/job"
)

// Three jobs of a frame: what they wait for comes from their terms.
func Example() {
	type Velocity struct{ X, Y float32 } // rows of 32 bytes: units have 512, however long cache lines are
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	b, err := ecs.NewArchetype(w, position, velocity).CreateN(100_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := b.Entities(nil)
	s := job.NewScheduler(w)
	defer s.Close()

	steer := s.For(ecs.NewQuery(w, ecs.Write(velocity))).Named("steer")
	move := s.For(ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))).Named("move")
	far := job.NewPartials[int]()
	count := s.For(ecs.NewQuery(w, ecs.Read(position))).Named("count").Reduces(far)
	audit := s.For(ecs.NewQuery(w, ecs.Read(velocity))).Named("audit")

	// Every frame:
	steer.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		v := velocity.Slice(rows)
		for i := range v {
			v[i].X += 1
		}
	})
	move.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		p, v := position.Slice(rows), velocity.Slice(rows)
		for i := range p {
			p[i].X += float64(v[i].X)
		}
	})
	h := count.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		for _, p := range position.Slice(rows) {
			if p.X >= 1 {
				*far.At(c)++
			}
		}
	})
	audit.Schedule(func(c *job.Ctx, rows ecs.Rows) {})
	fmt.Print(s)
	fmt.Println(h.Complete(), far.Fold(0, func(sum, next int) int { return sum + next }))
	fmt.Println(s.Complete(), position.Get(ids[0]).X)
	// Output:
	// job           rows  parts  after            access
	// steer       100000    123                   query(Write Velocity)
	// move        100000    123  steer            query(Write Position, Read Velocity)
	// count       100000    123  move             query(Read Position)
	// audit       100000    123  steer            query(Read Velocity)
	// <nil> 100000
	// <nil> 1
}
