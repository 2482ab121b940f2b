package city

import (
	"fmt"
	"math"
	"slices"

	"quarry/ecs/scene"
)

// answer is what a city comes to, whatever the order of its buildings and their ids.
type answer struct {
	Buildings int
	Roads     int // that lead somewhere
	Bridges   int // that lead somewhere
	Hash      uint64
}

// String returns the answer as one line.
func (a answer) String() string {
	return fmt.Sprintf("%d buildings, %d roads, %d bridges, hash %016x", a.Buildings, a.Roads, a.Bridges, a.Hash)
}

// name is the identity of a building; the zero name is that of none.
type name struct {
	object uint64
	sub    uint32
}

// add adds a building with what it leads to.
func (a *answer) add(own name, b Building, next, road, bridge name) {
	h := uint64(0)
	for _, v := range [...]uint64{
		own.object, uint64(own.sub), uint64(math.Float32bits(b.X))<<32 | uint64(math.Float32bits(b.Y)),
		uint64(math.Float32bits(b.Height))<<32 | uint64(b.Kind),
		next.object, uint64(next.sub), road.object, uint64(road.sub), bridge.object, uint64(bridge.sub),
	} {
		h = scramble(h ^ v)
	}
	a.Hash += h // the order does not count
	a.Buildings++
	if road.object != 0 {
		a.Roads++
	}
	if bridge.object != 0 {
		a.Bridges++
	}
}

// answer returns what a city with some of its tiles must come to.
func (p plan) answer(there []tile) (a answer) {
	for _, t := range there {
		for i, b := range p.blocks(t) {
			own := scene.ObjectID(t.id(i))
			for k := range buildings {
				var road, bridge name
				switch k {
				case 0:
					road = name{object: scene.ObjectID(b.Road)}
				case 1:
					to, block := p.bridge(t, i%p.columns, i/p.columns)
					if slices.Contains(there, to) {
						bridge = name{object: scene.ObjectID(to.id(block))}
					}
				}
				a.add(name{own, uint32(k)}, b.building(k), name{own, uint32((k + 1) % buildings)}, road, bridge)
			}
		}
	}
	return a
}
