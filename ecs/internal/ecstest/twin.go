package ecstest

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// Twin is one of two worlds that get the same operations: one in batches, the other
// entity by entity.
type Twin struct {
	World    *ecs.World
	Position ecs.Component[Position]
	Health   ecs.Component[Health]
	Stun     ecs.Component[Stun] // Enableable
	Tag      ecs.Component[Tag]
	Flag     ecs.Component[Flag] // Enableable, without storage
	Hits     ecs.Buffer[Hit]
	Queries  []*ecs.Query
	Changes  []*ecs.Change
	Sets     []*ecs.Archetype
}

// NewTwin makes one.
func NewTwin(t testing.TB, growth alloc.Growth) *Twin {
	w := NewWorld(t, ecs.ChunkGrowth(growth))
	x := &Twin{World: w, Position: ecs.Register[Position](w), Health: ecs.Register[Health](w),
		Stun: ecs.Register[Stun](w, ecs.Enableable), Tag: ecs.Register[Tag](w),
		Flag: ecs.Register[Flag](w, ecs.Enableable), Hits: ecs.RegisterBuffer[Hit](w, ecs.Inline(1))}
	x.Queries = []*ecs.Query{
		ecs.NewQuery(w), ecs.NewQuery(w, ecs.With(x.Position)), ecs.NewQuery(w, ecs.With(x.Stun)),
		ecs.NewQuery(w, ecs.Disabled(x.Stun)), ecs.NewQuery(w, ecs.Present(x.Flag), ecs.Without(x.Tag)),
		ecs.NewQuery(w, ecs.With(x.Hits)), ecs.NewQuery(w, ecs.Any(x.Flag, x.Stun)),
		ecs.NewQuery(w, ecs.With(x.Tag), ecs.Absent(x.Health)),
	}
	x.Changes = []*ecs.Change{
		ecs.NewChange(w, ecs.Add(x.Tag)), ecs.NewChange(w, ecs.Remove(x.Tag)),
		ecs.NewChange(w, ecs.Add(x.Flag), ecs.Remove(x.Tag)),
		ecs.NewChange(w, ecs.Remove(x.Flag)), ecs.NewChange(w, ecs.Add(x.Health, x.Stun)),
		ecs.NewChange(w, ecs.Remove(x.Health, x.Hits)),
		ecs.NewChange(w, ecs.Add(x.Hits), ecs.Remove(x.Position, x.Stun)), ecs.NewChange(w, ecs.Add(x.Position)),
		ecs.NewChange(w),
	}
	x.Sets = []*ecs.Archetype{ecs.NewArchetype(w), ecs.NewArchetype(w, x.Position, x.Stun),
		ecs.NewArchetype(w, x.Tag, x.Flag),
		ecs.NewArchetype(w, x.Position, x.Stun, x.Health, x.Hits), ecs.NewArchetype(w, x.Position, x.Stun, x.Flag)}
	return x
}

// Create makes n entities with values that follow from their ids.
func (x *Twin) Create(t testing.TB, set, n int) {
	b, err := x.Sets[set].CreateN(n)
	require.NoError(t, err)
	for _, e := range b.Entities(nil) {
		i := float64(e.Index())
		x.Position.Set(e, Position{i, float64(e.Version())})
		x.Health.Set(e, Health{HP: int32(e.Index()), Max: 7})
		if e.Index()%3 == 0 {
			x.Stun.Disable(e)
		}
		if e.Index()%5 == 0 {
			x.Flag.Disable(e)
		}
		for range e.Index() % 4 {
			x.Hits.Append(e, Hit{By: ecs.Null, Damage: int32(e.Index())})
		}
	}
}

// Show returns all of an entity as text.
func (x *Twin) Show(e ecs.Entity) string {
	text := fmt.Sprint(e, x.Tag.Has(e), x.Flag.Has(e), x.Flag.Enabled(e), x.Stun.Has(e), x.Stun.Enabled(e))
	if p := x.Position.Get(e); p != nil {
		text += fmt.Sprint(" position ", *p)
	}
	if h := x.Health.Get(e); h != nil {
		text += fmt.Sprint(" health ", *h)
	}
	if b, ok := x.Hits.Get(e); ok {
		text += fmt.Sprint(" hits ", b.Slice())
	}
	return text
}

// NewFullTwin makes one with an archetype of all its types.
func NewFullTwin(t testing.TB, growth alloc.Growth) *Twin {
	x := NewTwin(t, growth)
	x.Sets = append(x.Sets, ecs.NewArchetype(x.World, x.Position, x.Health, x.Stun, x.Tag, x.Flag, x.Hits))
	return x
}

// Fill makes n entities of NewFullTwin, with buffers inline and spilled and bits on and off.
func (x *Twin) Fill(t testing.TB, n int) []ecs.Entity {
	x.Create(t, len(x.Sets)-1, n)
	return x.Queries[0].Entities(nil)
}

// Shows is Show of many.
func (x *Twin) Shows(ids []ecs.Entity) []string {
	texts := make([]string, len(ids))
	for i, e := range ids {
		texts[i] = x.Show(e)
	}
	return texts
}
