package edit_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// changes is a world with rows, a change that adds and one that removes, and what is
// wrong to hand to them.
type changes struct {
	*ecstest.Misuse
	add, remove *ecs.Change
	set         *ecs.Archetype
	health      ecs.Component[ecstest.Health]
	tag         ecs.Component[ecstest.Tag]
	foreign     *ecs.Query // of the other world
	closed      *ecs.Query
	mixed       []ecs.Entity // the third is of another world
	list        []ecs.Entity
}

func newChanges(t *testing.T) *changes {
	c := &changes{Misuse: ecstest.NewMisuse(t)}
	c.health, c.tag = ecs.Register[ecstest.Health](c.World), ecs.Register[ecstest.Tag](c.World)
	c.add, c.remove = ecs.NewChange(c.World, ecs.Add(c.health, c.tag)), ecs.NewChange(c.World, ecs.Remove(c.Velocity))
	c.set = ecs.NewArchetype(c.World, c.Position, c.tag)
	c.foreign, c.closed = ecs.NewQuery(c.Other), ecs.NewQuery(c.World, ecs.With(c.Position))
	c.closed.Close()
	c.list = []ecs.Entity{c.Entity, c.Archetype.Create(), c.Archetype.Create()}
	c.mixed = []ecs.Entity{c.list[0], c.list[1], c.Stranger, c.list[2]}
	return c
}

// byQuery and byList are the batch calls, by name.
func (c *changes) byQuery(q *ecs.Query) map[string]func() {
	return map[string]func(){
		"Change.ApplyQuery":       func() { _, _ = c.add.ApplyQuery(q) },
		"Change.ApplyQuery(into)": func() { _, _ = ecs.Into(c.set).ApplyQuery(q) },
		"World.DestroyQuery":      func() { c.World.DestroyQuery(q) },
		"Component.EnableQuery":   func() { c.Stun.EnableQuery(q) },
		"Component.DisableQuery":  func() { c.Stun.DisableQuery(q) },
	}
}

func (c *changes) byList(list []ecs.Entity) map[string]func() {
	return map[string]func(){
		"Change.ApplyList":       func() { _, _ = c.remove.ApplyList(list) },
		"Change.ApplyList(into)": func() { _, _ = ecs.Into(c.set).ApplyList(list) },
		"World.DestroyList":      func() { c.World.DestroyList(list) },
		"Component.EnableList":   func() { c.Stun.EnableList(list) },
		"Component.DisableList":  func() { c.Stun.DisableList(list) },
	}
}

func (c *changes) others() map[string]func() {
	return map[string]func(){
		"Change.Apply":         func() { _, _ = c.add.Apply(c.Entity) },
		"Change.Apply(into)":   func() { _, _ = ecs.Into(c.set).Apply(c.Entity) },
		"Archetype.Create":     func() { _ = ecs.Try(func() { c.Archetype.Create() }) },
		"Archetype.CreateN":    func() { _, _ = c.Archetype.CreateN(2) },
		"World.Destroy":        func() { c.World.Destroy(c.Entity) },
		"World.Clear":          func() { c.World.Clear() },
		"World.Shrink":         func() { c.World.Shrink(0) },
		"Component.Add":        func() { _ = ecs.Try(func() { c.health.Add(c.Entity, ecstest.Health{}) }) },
		"Component.Remove":     func() { c.Position.Remove(c.Entity) },
		"Buffer.Add":           func() { c.Hits.Add(c.Entity) },
		"World.Close":          func() { _ = c.World.Close() },
		"Archetype.CreateN(0)": func() { _, _ = c.Archetype.CreateN(0) },
	}
}

// refused requires that calls panic, each with its own text, and change nothing.
func (c *changes) refused(t *testing.T, calls map[string]func(), text func(op string) string) {
	t.Helper()
	stats, hash := c.World.Stats(), c.World.Hash()
	for op, f := range calls {
		op, _, _ = strings.Cut(op, "(")
		require.PanicsWithValue(t, text(op), f)
		require.NoError(t, c.World.Verify(), op)
		require.Equal(t, []any{stats, hash}, []any{c.World.Stats(), c.World.Hash()}, op)
	}
}

// structural are all calls that change the structure of the world.
func (c *changes) structural() map[string]func() {
	all := c.others()
	maps.Copy(all, c.byQuery(c.Query))
	maps.Copy(all, c.byList(c.list))
	for _, toggle := range []string{"EnableQuery", "DisableQuery", "EnableList", "DisableList"} {
		delete(all, "Component."+toggle)
	}
	return all
}

// TestChangesInsideLoops: every structural change inside a loop, over a query or a
// batch, is refused; bits may be switched there.
func TestChangesInsideLoops(t *testing.T) {
	c := newChanges(t)
	for range c.Query.Rows() {
		c.refused(t, c.structural(), func(op string) string {
			if op == "World.Close" {
				return "ecs: World.Close: called inside a loop over " + c.Query.String() + "; call it afterwards"
			}
			return "ecs: " + op +
				": structural change inside a loop over query(Write Position, Read []Hit, With Stun); " +
				"gather the entities and change them after the loop"
		})
		require.Equal(t, 3, c.Stun.EnableQuery(c.Query))
		require.Equal(t, 1, c.Stun.EnableList(c.list[:1]))
	}
	b, err := c.Archetype.CreateN(2)
	require.NoError(t, err)
	for range b.Rows() {
		c.refused(t, c.structural(), func(op string) string {
			if op == "World.Close" {
				return "ecs: World.Close: called inside a loop over the rows of a batch; call it afterwards"
			}
			return "ecs: " + op +
				": structural change inside a loop over the rows of a batch; gather the entities and change them after the loop"
		})
	}
	c.others()["Change.Apply"]() // the loops have ended
	require.True(t, c.health.Has(c.Entity))
}

// TestChangesInALentWorld: a world that is lent takes no structural change, and no
// switch of bits in bulk.
func TestChangesInALentWorld(t *testing.T) {
	c := newChanges(t)
	p := c.World.Lend()
	c.refused(t, c.structural(), func(op string) string {
		return "ecs: " + op + ": the world is lent; call Borrow.End first"
	})
	bulk := map[string]func(){}
	for op, f := range c.byQuery(c.Query) {
		if op == "Component.EnableQuery" || op == "Component.DisableQuery" {
			bulk[op] = f
		}
	}
	bulk["Component.EnableList"] = func() { c.Stun.EnableList(c.list) }
	bulk["Component.DisableList"] = func() { c.Stun.DisableList(c.list) }
	c.refused(t, bulk, func(op string) string {
		return "ecs: " + op + ": the world is lent: until Borrow.End bits are switched entity by entity"
	})
	p.End()
	require.Equal(t, 3, c.Stun.DisableList(c.list))
}

// TestQueriesThatDoNotFit: no query, one that nobody made, one that was closed, and one
// of another world.
func TestQueriesThatDoNotFit(t *testing.T) {
	c := newChanges(t)
	for text, q := range map[string]*ecs.Query{
		"the query is nil; queries come from NewQuery":            nil,
		"the query is the zero value; queries come from NewQuery": {},
		"query(With Position) is closed":                          c.closed,
		"query() belongs to another world":                        c.foreign,
	} {
		c.refused(t, c.byQuery(q), func(op string) string { return "ecs: " + op + ": " + text })
	}
}

// TestListsWithAStranger: an entity of another world anywhere in a list stops the call before
// anything changes, and the text has its place.
func TestListsWithAStranger(t *testing.T) {
	c := newChanges(t)
	c.refused(t, c.byList(c.mixed), func(op string) string {
		return fmt.Sprintf("ecs: %s: entity 2 of the list, %v, belongs to another world; nothing was changed",
			op, c.Stranger)
	})
	c.refused(t, map[string]func(){
		"Change.Apply":       func() { _, _ = c.remove.Apply(c.Stranger) },
		"Change.Apply(into)": func() { _, _ = ecs.Into(c.set).Apply(c.Stranger) },
		"World.Destroy":      func() { c.World.Destroy(c.Stranger) },
	}, func(op string) string {
		return fmt.Sprintf("ecs: %s: entity %v belongs to another world", op, c.Stranger)
	})
}

// TestHandlesThatDoNotFit: types that changes and switches cannot take.
func TestHandlesThatDoNotFit(t *testing.T) {
	c := newChanges(t)
	zero := "the handle is the zero value; handles come from Register and RegisterBuffer"
	alien := ecs.Register[ecstest.Position](c.Other)
	stats, hash := c.World.Stats(), c.World.Hash()
	for text, f := range map[string]func(){
		"ecs: NewChange: " + zero:                                  func() { ecs.NewChange(c.World, ecs.Add(ecs.Component[ecstest.Health]{})) },
		"ecs: NewChange: a type is nil":                            func() { ecs.NewChange(c.World, ecs.Remove(nil)) },
		"ecs: NewChange: Position was registered in another world": func() { ecs.NewChange(c.World, ecs.Add(c.Position, alien)) },
		"ecs: Component.EnableQuery: " + zero:                      func() { ecs.Component[ecstest.Stun]{}.EnableQuery(c.Query) },
		"ecs: Component.DisableList: " + zero:                      func() { ecs.Component[ecstest.Stun]{}.DisableList(c.list) },
		"ecs: Component.EnableList: " + zero:                       func() { ecs.Buffer[ecstest.Hit]{}.EnableList(c.list) },
		"ecs: Component.EnableQuery: Position was not registered with ecs.Enableable": func() {
			c.Position.EnableQuery(c.Query)
		},
		"ecs: Component.DisableQuery: []Hit was not registered with ecs.Enableable": func() { c.Hits.DisableQuery(c.Query) },
		"ecs: Component.DisableList: Tag was not registered with ecs.Enableable":    func() { c.tag.DisableList(nil) },
		"ecs: Change.Apply: null is not alive, cannot apply change +Health +Tag":    func() { _, _ = c.add.Apply(ecs.Null) },
		"ecs: Change.ApplyList: entity 1 of the list, null, is not alive; nothing was changed": func() {
			_, _ = c.add.ApplyList([]ecs.Entity{c.Entity, ecs.Null})
		},
		"ecs: Change.Apply: null is not alive, cannot apply change into [Position Tag]": func() { _, _ = ecs.Into(c.set).Apply(ecs.Null) },
		"ecs: Archetype.CreateN: n=-1 is negative":                                      func() { _, _ = c.Archetype.CreateN(-1) },
		"ecs: Component.EnableList: entity 0 of the list, " + c.Stranger.String() +
			", belongs to another world; nothing was changed": func() { c.Stun.EnableList([]ecs.Entity{c.Stranger}) },
	} {
		require.PanicsWithValue(t, text, f)
		require.NoError(t, c.World.Verify(), text)
		require.Equal(t, []any{stats, hash}, []any{c.World.Stats(), c.World.Hash()}, text)
	}
}

// TestChangesOfAClosedWorld are refused, whatever is handed to them.
func TestChangesOfAClosedWorld(t *testing.T) {
	c := newChanges(t)
	require.NoError(t, c.World.Close())
	all := c.others()
	delete(all, "World.Close") // may be repeated
	maps.Copy(all, c.byQuery(c.Query))
	maps.Copy(all, c.byList(c.list))
	all["NewChange"] = func() { ecs.NewChange(c.World, ecs.Add(c.tag)) }
	for _, q := range []*ecs.Query{nil, c.foreign, c.closed} {
		all["Change.ApplyQuery"] = func() { _, _ = c.remove.ApplyQuery(q) }
		c.refused(t, all, func(op string) string { return "ecs: " + op + ": the world is closed" })
	}
}

// TestRefusedListsLeaveNoTrace: a list that was refused half way does not show in the
// next call.
func TestRefusedListsLeaveNoTrace(t *testing.T) {
	c := newChanges(t)
	more, err := c.Archetype.CreateN(3000)
	require.NoError(t, err)
	ids := more.Entities(nil)
	for _, n := range []int{2, 2500} { // rows listed, and rows masked
		list := append(append([]ecs.Entity{}, ids[:n]...), c.Stranger)
		for op, f := range c.byList(list) {
			require.Contains(t, ecstest.PanicText(f), fmt.Sprintf("entity %d of the list", n), op)
		}
		require.Equal(t, 1, c.Stun.DisableList(ids[n:n+1]))
		require.True(t, c.Stun.Enabled(ids[0]))
		b, err := c.add.ApplyList(ids[n : n+1])
		require.NoError(t, err)
		require.Equal(t, ids[n:n+1], b.Entities(nil))
		require.NoError(t, c.World.Verify())
	}
}
