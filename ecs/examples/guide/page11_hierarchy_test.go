package guide_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
)

// Page 11: parents and children.
func Example_hierarchy() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	h := hierarchy.New(w)
	defer h.Close()
	things := ecs.NewArchetype(w, position)
	ship, mast, flag := things.Create(), things.Create(), things.Create()
	fmt.Println(h.SetParent(mast, ship), h.SetParent(flag, mast))
	fmt.Println(h.Parent(flag) == mast, h.Depth(flag))
	for child := range h.Children(ship) {
		fmt.Println(child == mast)
	}

	position.Set(ship, Position{X: 100})
	position.Set(mast, Position{Y: 10}) // as the ship sees it
	for nodes, parents := range h.ByDepth() {
		for i, parent := range parents {
			if parent == ecs.Null { // the first level: nobody carries the ship
				continue
			}
			at, carrier := position.Mut(nodes[i]), position.Get(parent)
			at.X, at.Y = at.X+carrier.X, at.Y+carrier.Y
		}
	}
	fmt.Println(*position.Get(flag))

	fmt.Println(h.SetParent(ship, flag))
	fmt.Println(h.Destroy(mast), w.Alive(flag), w.Alive(ship))
	// Output:
	// <nil> <nil>
	// true 2
	// true
	// {100 10}
	// hierarchy: SetParent(1v1, 3v1): the child would be its own ancestor
	// 2 false true
}
