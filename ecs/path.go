package ecs

import "quarry/ecs/internal/table"

// path is how rows go to another archetype.
type path = table.Transition

// theEnd is the path of entities that end: Dying ones that lose the last Cleanup type.
var theEnd path

const (
	edgeAdds = 1 << 16 // of Archetype.edgeKey
	noEdge   = 1 << 17
)

// edge is the path to the archetype that differs by one type.
type edge struct {
	id   typeID // the type that is added or removed
	path *path
}

// pathTo returns the path from a to another archetype: one to another value of a shared type is good until
// a is asked for another.
func (a *Archetype) pathTo(to *Archetype) *path {
	if a.differs(to) {
		return a.table.Sideways(&to.table.Table)
	}
	return a.table.To(&to.table.Table)
}

// differs reports whether two archetypes have different values of one type.
func (a *Archetype) differs(b *Archetype) bool {
	for _, v := range a.values {
		if other := b.valueOf(typeID(v.Type)); other != nil && other != v {
			return true
		}
	}
	return false
}

// archetypeOn returns the archetype whose table it is, nil for none.
func (w *World) archetypeOn(t *table.Table) *Archetype {
	if t == nil {
		return nil
	}
	return w.archetypes.list[t.Index]
}
