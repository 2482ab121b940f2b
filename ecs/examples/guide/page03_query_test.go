package guide_test

import (
	"fmt"

	"quarry/ecs"
)

// Page 3: loops over the rows that match.
func Example_query() {
	type Engine struct{ Power float64 }
	type Docked struct{}

	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	engine, docked := ecs.Register[Engine](w), ecs.Register[Docked](w)
	drifting := ecs.NewArchetype(w, position, velocity)
	powered := ecs.NewArchetype(w, position, velocity, engine)
	buoy := ecs.NewArchetype(w, position)
	moored := ecs.NewArchetype(w, position, velocity, docked)
	for _, a := range []*ecs.Archetype{drifting, powered, buoy, moored} {
		if batch, err := a.CreateN(2); err == nil && a == powered {
			engine.Set(batch.Entities(nil)[1], Engine{Power: 5})
		}
	}

	moving := ecs.NewQuery(w, ecs.Write(position), ecs.Write(velocity),
		ecs.Optional(ecs.Read(engine)), ecs.Without(docked))
	for rows := range moving.Rows() {
		p, v := position.Slice(rows), velocity.Slice(rows)
		power := engine.Slice(rows) // nil where no row of the chunk has one
		for i := range rows.Each() {
			if power != nil {
				v[i].X += power[i].Power
			}
			p[i].X += v[i].X
		}
	}
	fmt.Println(moving, moving.Count())
	fmt.Println(position.Values(moving, nil))

	idle := ecs.NewQuery(w, ecs.With(docked))
	_, err := idle.Single()
	fmt.Println(err)
	fmt.Println(caught(func() {
		for rows := range idle.Rows() {
			velocity.Slice(rows)
		}
	}))
	// Output:
	// query(Write Position, Write Velocity, Optional Read Engine, Without Docked) 4
	// [{0 0} {0 0} {0 0} {5 0}]
	// ecs: Query.Single: query(With Docked) matches 2: not exactly one entity
	// ecs: Component.Slice: query(With Docked) does not declare Velocity: add ecs.Read or ecs.Write
}
