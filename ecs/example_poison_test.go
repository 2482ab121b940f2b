package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// Few are poisoned, and not for long, so the poison is sparse. An antidote switches it off for a
// while: for one, for a party, or for all who are in a temple.
func ExampleSparse() {
	type Health struct{ Points int }
	type Temple struct{}
	type Poison struct{ Left int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	health, temple := ecs.Register[Health](w), ecs.Register[Temple](w)
	poison := ecs.RegisterSparse[Poison](w, ecs.Enableable)
	outside, inside := ecs.NewArchetype(w, health), ecs.NewArchetype(w, health, temple)
	ant, bee, cat, dog := outside.Create(), outside.Create(), inside.Create(), inside.Create()
	for _, e := range []ecs.Entity{ant, bee, cat, dog} {
		health.Set(e, Health{10})
	}
	suffering := ecs.NewQuery(w, ecs.Write(health), ecs.Write(poison))
	everyone, praying := ecs.NewQuery(w, ecs.Read(health)), ecs.NewQuery(w, ecs.With(temple))
	turn := func(what string) {
		var over []ecs.Entity // removed after the loop: the world is locked inside
		for rows := range suffering.Rows() {
			h, column := health.Slice(rows), poison.Column(rows)
			for i := range rows.Each() {
				p := column.At(i)
				h[i].Points--
				if p.Left--; p.Left == 0 {
					over = append(over, rows.Entities()[i])
				}
			}
		}
		for _, e := range over {
			poison.Remove(e)
		}
		fmt.Println(what, health.Values(everyone, nil))
	}
	for i, e := range []ecs.Entity{ant, bee, cat} {
		poison.Add(e, Poison{Left: 2 + i})
	}
	turn("bitten")
	poison.Disable(bee)
	fmt.Println(poison.Has(bee), poison.Enabled(bee), poison.Has(dog))
	turn("an antidote for the bee")
	poison.Enable(bee)
	poison.Mut(bee).Left = 9 // bitten again
	fmt.Println(poison.DisableQuery(praying), "prays")
	turn("the temple helps the cat")
	party := []ecs.Entity{ant, bee, cat, dog}
	fmt.Println(poison.EnableQuery(praying), "leaves,", poison.DisableList(party), "drink")
	fmt.Println(suffering.Count(), "suffer")
	turn("an antidote for all")
	fmt.Println(poison.EnableList(party), "suffer")
	turn("it wears off")
	// Output:
	// bitten [{9} {9} {9} {10}]
	// true false false
	// an antidote for the bee [{8} {9} {8} {10}]
	// 1 prays
	// the temple helps the cat [{8} {8} {8} {10}]
	// 1 leaves, 2 drink
	// 0 suffer
	// an antidote for all [{8} {8} {8} {10}]
	// 2 suffer
	// it wears off [{8} {7} {7} {10}]
}

// A server sends the marks that may have changed since it last sent them. Entries share versions by
// 64, so for one mark a block is sent, and nothing for those that nobody touched.
func ExampleSparse_Changed() {
	type Mark struct{ Colour int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	batch, err := ecs.NewArchetype(w).CreateN(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	players, mark := batch.Entities(nil), ecs.RegisterSparse[Mark](w)
	for _, e := range players {
		mark.Add(e, Mark{})
	}
	sent := uint32(0)
	send := func() (n int) {
		for _, e := range mark.Entities() {
			if mark.Changed(e, sent) {
				n++ // and the mark goes into the packet
			}
		}
		sent = w.Version()
		w.Advance()
		return n
	}
	fmt.Println(send(), send())
	mark.Mut(players[500]).Colour = 3
	fmt.Println(send(), send())
	// Output:
	// 1000 0
	// 64 0
}
