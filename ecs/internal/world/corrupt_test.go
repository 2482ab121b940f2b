package world_test

import (
	"maps"
	"slices"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// corrupt breaks one numbered invariant of a world that has at least two archetypes with rows, one
// query, an enableable type and a spilled buffer, and returns what puts it right.
func corrupt(of *ecs.World, invariant string) (restore func()) {
	w := door.World(of)
	var a *world.Archetype
	for _, b := range w.Archetypes.List {
		if b.Table.Store.Len() > 0 && len(b.Table.Metadata.Toggling()) > 0 && len(b.Table.Owning) > 0 {
			a = b
		}
	}
	ids := world.Entities(a.Table.Store.Row(0, 0).Base, a.Table.Store.RowsOf(0))
	var head *value.Header
	for _, c := range a.Table.Owning {
		for row := range ids {
			if h := value.HeaderOf(a.Table.Store.Row(0, row), c); h.Spilled() {
				head = h
			}
		}
	}
	switch invariant {
	case "W1":
		r := w.Find(ids[0])
		old := r.Location
		r.Location++
		return func() { r.Location = old }
	case "W2":
		a.Table.Store.Push(a.Table.Store.PerUnit())
		return func() { a.Table.Store.Push(-a.Table.Store.PerUnit()) }
	case "W4":
		w.Writer.Created++
		return func() { w.Writer.Created-- }
	case "M1":
		a.Table.Closed = true
		return func() { a.Table.Closed = false }
	case "W6":
		words := a.Table.Metadata.Bits(a.Table.Metadata.Toggling()[0], 0).Words()
		words[len(words)-1] ^= 1 << 63
		return func() { words[len(words)-1] ^= 1 << 63 }
	case "W6 count":
		words := a.Table.Metadata.Bits(a.Table.Metadata.Toggling()[0], 0).Words()
		words[0] ^= 1
		return func() { words[0] ^= 1 }
	case "W7":
		old := head.Len()
		head.SetLen(a.World.Types.List[a.Table.Owning[0].Key].Shape.Cap(head) + 1)
		return func() { head.SetLen(old) }
	case "W9":
		a.Table.Places[a.Table.Types[0]].Offset += 64
		return func() { a.Table.Places[a.Table.Types[0]].Offset -= 64 }
	case "W12":
		old := a.Table.Sig
		a.Table.Sig.Add(world.CleanupEntityID)
		return func() { a.Table.Sig = old }
	case "L1":
		d := w.Types.List[a.Table.Types[0]]
		c := d.ColumnAt(a.Table.At(0, 0))
		old := *c
		*c = entity.ColumnAddress{}
		return func() { *c = old }
	}
	return nil
}

// corruptParts breaks one numbered invariant of the parts of a world that has an archetype of one
// type, and returns what puts it right.
func corruptParts(of *ecs.World, invariant string) (restore func()) {
	w := door.World(of)
	a := w.Archetypes.List[0]
	switch invariant {
	case "T1":
		w.Types.List[0].ID++
		return func() { w.Types.List[0].ID-- }
	case "T1 keys":
		was := w.Types.ByKey
		w.Types.ByKey = map[world.TypeKey]world.TypeID{{}: 1}
		maps.Copy(w.Types.ByKey, was)
		return func() { w.Types.ByKey = was }
	case "T2":
		old := w.Types.Cleanup
		w.Types.Cleanup.Add(a.Table.Types[0])
		return func() { w.Types.Cleanup = old }
	case "T2 copied":
		w.Types.Copied = append(w.Types.Copied, w.Types.List[0])
		return func() { w.Types.Copied = w.Types.Copied[:len(w.Types.Copied)-1] }
	case "A1":
		delete(w.Archetypes.ByKey, a.Key)
		return func() { w.Archetypes.ByKey[a.Key] = a }
	case "A2":
		w.Archetypes.Valued++
		return func() { w.Archetypes.Valued-- }
	case "A3":
		a.Transitions = append(a.Transitions, world.TypeTransition{ID: a.Table.Types[0],
			Transition: a.Table.To(&a.Table.Table)})
		return func() { a.Transitions = a.Transitions[:len(a.Transitions)-1] }
	case "Q1":
		w.QueryEpochs.Matched++
		return func() { w.QueryEpochs.Matched-- }
	case "O1":
		w.Loops.Open++
		return func() { w.Loops.Open-- }
	case "O1 outer":
		all := query.ScansOf(w)
		all.List[0] = new(query.Scan)
		return func() { all.List[0] = &all.Outer }
	case "O1 borrow", "O1 alone":
		w.Loops.Borrows = []*world.Lease{{World: w, All: true}}
		if invariant == "O1 alone" {
			w.Loops.Borrows = []*world.Lease{{World: w, All: true, Out: true}, {World: w, All: true, Out: true}}
		}
		w.Loops.Open = len(w.Loops.Borrows)
		return func() { w.Loops.Borrows, w.Loops.Open = nil, 0 }
	case "L2":
		t := w.Types.List[0]
		t.SetRecords(entity.RecordsView{})
		return func() { t.SetRecords(w.IDs.View()) }
	case "C1":
		tx := w.Writer.Begin()
		tx.Expect(&a.Table.Table, 1)
		return tx.Cancel
	}
	return nil
}

// corruptKinds breaks W11 of a world that has an archetype with rows and a shared value that is
// not zero, which a query names too. It returns what puts it right.
func corruptKinds(of *ecs.World, invariant string) (restore func()) {
	w := door.World(of)
	var a *world.Archetype
	for _, b := range w.Archetypes.List {
		if len(b.Values) > 0 && b.Table.Store.Len() > 0 {
			a = b
		}
	}
	v, values := a.Values[0], a.Values
	put := func() { a.Values = values }
	switch invariant {
	case "W11 count":
		v.Hold()
		return v.LetGo
	case "W11 serial":
		a.Table.Values[0]++
		return func() { a.Table.Values[0]-- }
	case "W11 none":
		a.Values = nil
		return put
	case "W11 two":
		a.Values = append(slices.Clone(values), v)
		return put
	case "W11 foreign":
		stranger := *v
		a.Values = []*value.Shared{&stranger}
		return put
	case "W11 unknown":
		unknown := w.Types.List[v.Type].Shared.Zero()
		a.Values, a.Table.Values = []*value.Shared{unknown}, []uint64{unknown.Serial}
		return func() { a.Values, a.Table.Values = values, []uint64{v.Serial} }
	case "W11 idle":
		idle := w.Types.List[v.Type].Shared.Zero()
		idle.Hold()
		return idle.LetGo
	case "W11 query":
		m := w.Index.Matching(match.Filter{Where: [][]uint64{{v.Serial}}})
		return func() { w.Index.Drop(m) }
	case "W11 query of none":
		m := w.Index.Matching(match.Filter{Where: [][]uint64{{v.Serial + 100}}})
		return func() { w.Index.Drop(m) }
	}
	return nil
}

// corruptNames breaks W8: an entity that is not alive gets a name.
func corruptNames(of *ecs.World) (restore func()) {
	w := door.World(of)
	w.Names.Set(entity.Make(entity.MaxIDs-1, w.IDs.Tag(), 1), "nobody")
	return func() { w.Names.Remove(entity.MaxIDs - 1) }
}
