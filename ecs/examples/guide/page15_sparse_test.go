package guide_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/command"
)

// Page 15: components that come and go often, or that few entities have.
func Example_sparse() {
	type Hull struct{ Points int }
	type Burning struct{ Damage, Rounds int }

	w, _ := ecs.NewWorld()
	defer w.Close()
	hull := ecs.Register[Hull](w)
	burning := ecs.RegisterSparse[Burning](w)
	batch, _ := ecs.NewArchetype(w, hull).CreateN(1000)
	ships := batch.Entities(nil)

	fmt.Println(burning.Add(ships[3], Burning{Damage: 5, Rounds: 2}), burning.Add(ships[3], Burning{}))
	burning.Add(ships[700], Burning{Damage: 2, Rounds: 1})
	fmt.Println(*burning.Get(ships[3]), burning.Get(ships[4]), burning.Len(), batch.Len())

	fires := ecs.NewQuery(w, ecs.Write(hull), ecs.Read(burning))
	for rows := range fires.Rows() {
		h, b := hull.Slice(rows), burning.Column(rows)
		for i := range rows.Each() { // not range h, which has all ships of the chunk
			h[i].Points -= b.At(i).Damage
		}
	}
	fmt.Println(fires.Count(), "burn:", *hull.Get(ships[3]), *hull.Get(ships[700]), *hull.Get(ships[4]))

	var out []ecs.Entity
	values := burning.Slice()
	for i, e := range burning.Entities() {
		if values[i].Rounds--; values[i].Rounds == 0 {
			out = append(out, e)
		}
	}
	for _, e := range out { // after the loop: Remove puts the last entry in the place of e's
		burning.Remove(e)
	}
	for i, e := range burning.Entities() {
		fmt.Println(e, burning.Values()[i].Rounds)
	}

	fresh := ecs.NewQuery(w, ecs.Read(burning), ecs.Changed(burning))
	fmt.Println(fresh.Entities(nil))
	for range fresh.Rows() { // runs to its end: now it has seen them
	}
	cb := command.NewBuffer(w)
	defer cb.Close()
	safe := ecs.NewQuery(w, ecs.Read(hull), ecs.Without(burning))
	for rows := range safe.Rows() {
		h := hull.Slice(rows)
		for i := range rows.Each() {
			if h[i].Points < 0 { // a damaged ship catches fire
				command.AddSparse(cb, rows.Entities()[i], burning, Burning{Damage: 1, Rounds: 3})
			}
		}
	}
	fmt.Println(safe.Count(), fresh.Count(), cb.Play(), fresh.Count())
	fmt.Println(burning.Entities(), burning.Values())

	fmt.Println(caught(func() { ecs.NewArchetype(w, hull, burning) }))
	fmt.Println(caught(func() {
		for rows := range fires.Rows() {
			burning.Remove(rows.Entities()[0])
		}
	}))
	// Output:
	// true false
	// {5 2} <nil> 2 1000
	// 2 burn: {-5} {-2} {0}
	// 4v1 1
	// [4v1]
	// 999 0 <nil> 2
	// [4v1 701v1] [{5 1} {1 3}]
	// ecs: NewArchetype: sparse Burning is sparse: no archetype has it; add it to entities
	// ecs: Sparse.Remove: structural change inside a loop over query(Write Hull, Read sparse Burning); gather the entities and change them after the loop
}
