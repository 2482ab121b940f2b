package hierarchy_test

import (
	"errors"
	"fmt"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
)

// What is refused, how links lie in rows, and what mends those that a World.Destroy has broken.
func ExampleHierarchy_Sweep() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	h := hierarchy.New(w)
	things := ecs.NewArchetype(w, ecs.Register[Local](w))
	ship, mast, flag := things.Create(), things.Create(), things.Create()
	fmt.Println(h.SetParent(mast, ship), h.SetParent(flag, mast))
	fmt.Println("a circle:", errors.Is(h.SetParent(ship, flag), hierarchy.ErrCycle))

	parents := h.ParentType()
	for rows := range ecs.NewQuery(w, ecs.Read(parents)).Rows() {
		for i, p := range parents.Slice(rows) {
			fmt.Println(rows.Entities()[i], "is on", p.Entity)
		}
	}
	for _, child := range h.ChildType().Slice(ship) {
		fmt.Println("the ship has", child.Entity)
	}

	w.Destroy(mast) // around the hierarchy
	fmt.Println("broken:", errors.Is(h.Verify(), hierarchy.ErrBroken))
	mended, err := h.Sweep()
	fmt.Println(mended, "mended", err, h.Verify(), h.Parent(flag))
	fmt.Println("dead:", errors.Is(h.SetParent(flag, mast), hierarchy.ErrDead))
	// Output:
	// <nil> <nil>
	// a circle: true
	// 3v1 is on 2v1
	// 2v1 is on 1v1
	// the ship has 2v1
	// broken: true
	// 2 mended <nil> <nil> null
	// dead: true
}

// The levels of a tree as lists, for passes that go from parents to children.
func ExampleLevels() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	h := hierarchy.New(w)
	local := ecs.Register[Local](w)
	things := ecs.NewArchetype(w, local)
	ship, mast, flag, anchor := things.Create(), things.Create(), things.Create(), things.Create()
	for _, err := range []error{h.SetParent(mast, ship), h.SetParent(flag, mast), h.SetParent(anchor, ship)} {
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	levels := h.NewLevels(ecs.Read(local))
	defer levels.Close()
	levels.Refresh()
	for n := range levels.Len() {
		lo, hi := levels.Level(n)
		fmt.Println(n, levels.Entities()[lo:hi])
	}
	// Output:
	// 0 [1v1]
	// 1 [2v1 4v1]
	// 2 [3v1]
}
