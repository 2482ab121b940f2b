package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// Shots fly until they reach their target and append a hit to its buffer. A second
// loop, over chunks in which a buffer changed, takes the hits off the health.
func ExampleBuffer() {
	type Position struct{ X int }
	type Health struct{ Points int }
	type Shot struct{ Target ecs.Entity }
	type Hit struct{ Damage int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position, health, shot := ecs.Register[Position](w), ecs.Register[Health](w), ecs.Register[Shot](w)
	hits := ecs.RegisterBuffer[Hit](w)
	units, shots := ecs.NewArchetype(w, position, health, hits), ecs.NewArchetype(w, position, shot)
	for i := range 2 {
		unit := units.Create()
		position.Set(unit, Position{X: 2 + 2*i})
		health.Set(unit, Health{Points: 100 - 80*i})
		for k := range 4 {
			s := shots.Create()
			position.Set(s, Position{X: -k / 2})
			shot.Set(s, Shot{Target: unit})
		}
	}
	flying := ecs.NewQuery(w, ecs.Write(position), ecs.Read(shot))
	struck := ecs.NewQuery(w, ecs.Write(health), ecs.Write(hits), ecs.Changed(hits))
	var gone []ecs.Entity // destroyed after the loops: the world is locked inside
	for step := 1; !flying.Empty(); step++ {
		for rows := range flying.Rows() {
			p, s := position.Slice(rows), shot.Slice(rows)
			for i, e := range rows.Entities() {
				p[i].X++
				if target := position.Get(s[i].Target); target != nil && p[i].X < target.X {
					continue
				}
				if !hits.Append(s[i].Target, Hit{Damage: 10}) {
					fmt.Println("step", step, s[i].Target, "is gone")
				}
				gone = append(gone, e)
			}
		}
		for rows := range struck.Rows() {
			h := health.Slice(rows)
			for i, e := range rows.Entities() {
				b := hits.At(rows, i)
				for _, hit := range b.Slice() {
					h[i].Points -= hit.Damage
				}
				if b.Len() > 0 {
					fmt.Println("step", step, e, "is hit", b.Len(), "times and has", h[i].Points)
				}
				b.Clear()
				if h[i].Points <= 0 {
					gone = append(gone, e)
				}
			}
		}
		w.DestroyList(gone)
		gone = gone[:0]
	}
	fmt.Println(w.Stats().Alive, "left")
	// Output:
	// step 2 1v1 is hit 2 times and has 80
	// step 3 1v1 is hit 2 times and has 60
	// step 4 6v1 is hit 2 times and has 0
	// step 5 6v1 is gone
	// step 5 6v1 is gone
	// 1 left
}
