package edit_test

import (
	"fmt"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// Moved chunks: where only types without storage differ and a whole archetype goes, its full chunks
// change hands (layout_test.go has other types). Seen from outside, the chunks stay where they are.

// fits returns the rows of a chunk of so many units.
func fits(a *ecs.Archetype, units int) int {
	columns := 0
	for _, p := range a.Plan().Places[1:] {
		if p.Size > 0 {
			columns++
		}
	}
	if units == alloc.ChunksPerMegachunk && columns > 4 {
		units-- // see store.Store.Scale
	}
	return units * a.Plan().Rows
}

// firsts returns an archetype's full chunks, and its part-full one, by where they begin, small ones
// as part full.
func firsts(a *ecs.Archetype) (full, part []int) {
	for i := range a.Chunks() {
		first, bytes, rows := a.Chunk(i)
		if bytes >= alloc.ChunkSize && rows == fits(a, bytes/alloc.ChunkSize) {
			full = append(full, first)
		} else {
			part = append(part, first)
		}
	}
	return full, part
}

// shape is the rows of an archetype, as batches of so many units of 16 KiB and rows more, each made
// at once, so that it determines the orders of the chunks.
type shape struct {
	units []int
	more  int
}

var shapes = map[string]shape{
	"empty":           {},
	"part of one":     {more: 3},
	"one full":        {units: []int{1}},
	"one full, part":  {units: []int{1}, more: 1},
	"all orders":      {units: []int{4, 4, 8, 16, 32, 64}}, // with fixed growth all of one unit
	"all orders back": {units: []int{64, 32, 16, 8, 4, 2, 1}, more: 100},
	"large, part":     {units: []int{64}, more: 1},
	"part of a large": {units: []int{2, 4, 7}, more: 50}, // the last may be large, and part full
}

// mostUnits is how many pieces the shapes of a case may have. A third of them, the short form, has
// all pairs of the shapes of few chunks, and each long shape beside an empty one or none.
func mostUnits(n int) int { return long.N(n/3, n) }

func (s shape) make(t *testing.T, x *ecstest.Twin, set int) {
	for _, n := range s.units {
		createFast(t, x, set, fits(x.Sets[set], n))
	}
	createFast(t, x, set, s.more)
}

// createFast makes n entities with values and bits that follow from their ids.
func createFast(t *testing.T, x *ecstest.Twin, set, n int) {
	b, err := x.Sets[set].CreateN(n)
	require.NoError(t, err)
	for rows := range b.Rows() {
		p := x.Position.Slice(rows)
		for i, e := range rows.Entities() {
			p[i] = ecstest.Position{X: float64(e.Index()), Y: 5}
			if e.Index()%3 == 0 {
				x.Stun.Disable(e)
			}
			if e.Index()%5 == 0 {
				x.Flag.Disable(e)
			}
		}
	}
}

// countRight counts the entities of a query whose values and bits are what createFast gave them;
// flags reports whether they had the flag then or got it since.
func countRight(t *testing.T, x *ecstest.Twin, q *ecs.Query, flags bool) (n int) {
	for rows := range q.Rows() {
		p := x.Position.ReadOnly(rows)
		for i, e := range rows.Entities() {
			if p[i] != (ecstest.Position{X: float64(e.Index()), Y: 5}) || x.Stun.Enabled(e) != (e.Index()%3 != 0) {
				t.Fatalf("%v has %v, stun %v", e, p[i], x.Stun.Enabled(e))
			}
			if x.Flag.Has(e) && x.Flag.Enabled(e) != (!flags || e.Index()%5 != 0) {
				t.Fatalf("%v has the flag %v", e, x.Flag.Enabled(e))
			}
			n++
		}
	}
	return n
}

// newLabels has sets of types that lie alike in chunks: 0 has no label, 1 a tag, 2 an enableable
// tag, 3 both.
func newLabels(t *testing.T, growth alloc.Growth) *ecstest.Twin {
	x := ecstest.NewTwin(t, growth)
	x.Sets = []*ecs.Archetype{ecs.NewArchetype(x.World, x.Position, x.Stun),
		ecs.NewArchetype(x.World, x.Position, x.Stun, x.Tag),
		ecs.NewArchetype(x.World, x.Position, x.Stun, x.Flag),
		ecs.NewArchetype(x.World, x.Position, x.Stun, x.Tag, x.Flag)}
	return x
}

var labelChanges = []struct {
	from, to int
	change   func(x *ecstest.Twin) *ecs.Change
}{
	{0, 1, func(x *ecstest.Twin) *ecs.Change { return ecs.NewChange(x.World, ecs.Add(x.Tag)) }},
	{1, 0, func(x *ecstest.Twin) *ecs.Change { return ecs.NewChange(x.World, ecs.Remove(x.Tag)) }},
	{0, 2, func(x *ecstest.Twin) *ecs.Change { return ecs.NewChange(x.World, ecs.Add(x.Flag)) }},
	{2, 0, func(x *ecstest.Twin) *ecs.Change { return ecs.NewChange(x.World, ecs.Remove(x.Flag)) }},
	{1, 2, func(x *ecstest.Twin) *ecs.Change { return ecs.NewChange(x.World, ecs.Add(x.Flag), ecs.Remove(x.Tag)) }},
	{2, 3, func(x *ecstest.Twin) *ecs.Change { return ecs.NewChange(x.World, ecs.Add(x.Tag)) }},
}

// TestMovingChunksMovesNoRow: full chunks of the source follow those of the target, in order, and a
// part-full chunk of the target stays the last one. Values, bits and versions go along.
func TestMovingChunksMovesNoRow(t *testing.T) {
	turn := 0
	for _, growth := range ecstest.ChunkSizes {
		for source, from := range shapes {
			for target, to := range shapes {
				for i, r := range labelChanges {
					if (turn+i)%3 != 0 || len(from.units)+len(to.units) > mostUnits(9) { // two of the six in turn
						continue
					}
					x := newLabels(t, growth)
					from.make(t, x, r.from)
					to.make(t, x, r.to)
					text := fmt.Sprintf("%s into %s, %d to %d, chunks grow %v", source, target, r.from, r.to, growth)
					labelAll(t, x, r.change(x), text, r.from == 2, r.to, r.from)
					require.NoError(t, x.World.Close())
				}
				turn++
			}
		}
	}
}

// labelAll applies a change to all entities, which leaves those of the target alone, and compares
// chunks, values and versions.
func labelAll(t *testing.T, x *ecstest.Twin, c *ecs.Change, text string, flags bool, target int, sources ...int) {
	a := x.Sets[target]
	want, part := firsts(a)
	moved, rest := 0, 0
	for _, s := range sources {
		full, _ := firsts(x.Sets[s])
		want = append(want, full...)
		moved += x.Sets[s].Len()
		for i := range x.Sets[s].Chunks() {
			if first, _, rows := x.Sets[s].Chunk(i); !slices.Contains(full, first) {
				rest += rows
			}
		}
	}
	old, own := a.Len(), -1
	if a.Chunks() == 1 {
		if first, bytes, _ := a.Chunk(0); bytes < 64<<10 {
			own = first // its rows may move to a larger chunk, which may come after others
		}
	}
	came := map[int]bool{}
	for _, s := range sources {
		full, _ := firsts(x.Sets[s])
		for _, first := range full {
			came[first] = true
		}
	}
	since := x.World.Version()
	x.World.Advance()
	b, err := c.ApplyQuery(x.Queries[0])
	require.NoError(t, err, text)
	require.Equal(t, moved, b.Len(), text)
	require.Equal(t, old+moved, a.Len(), text)
	require.NoError(t, x.World.Verify(), text)
	var got []int
	for i := range a.Chunks() {
		first, _, _ := a.Chunk(i)
		got = append(got, first)
	}
	if own >= 0 && !slices.Contains(got, own) {
		isOwn := func(first int) bool { return first == own }
		want, part = slices.DeleteFunc(want, isOwn), slices.DeleteFunc(part, isOwn)
	}
	oldFull, list := len(want), append(want, part...)
	require.True(t, slices.Equal(list, got[:min(len(list), len(got))]), "%s: want %v, got %v", text, list, got)
	seen := 0
	for rows := range b.Rows() {
		seen += rows.Len()
	}
	require.Equal(t, moved, seen, text)
	requireVersions(t, x, a, since, came, oldFull, rest > 0, text)
	if !flags && target >= 2 { // those of the target before had their own flags
		return
	}
	q := ecs.NewQuery(x.World, ecs.Write(x.Position), ecs.Present(x.Stun))
	require.Equal(t, old+moved, countRight(t, x, q, true), text)
}

// requireVersions checks which chunks count as changed: those that came, and where rows were copied
// to; and as ordered: those, and the one that comes after them now.
func requireVersions(t *testing.T, x *ecstest.Twin, a *ecs.Archetype, since uint32, came map[int]bool, full int,
	copied bool, text string) {
	i := 0
	for rows := range ecs.NewQuery(x.World, ecs.Read(x.Position), ecs.Optional(ecs.Read(x.Stun))).Rows() {
		if rows.Archetype() != a {
			continue
		}
		first, _, _ := a.Chunk(i)
		want := came[first] || i >= full && copied
		moved := want || i >= full && len(came) > 0 // it comes after others now
		require.Equal(t, []bool{want, moved}, []bool{x.Position.Changed(rows, since), rows.Ordered(since)},
			"%s: chunk %d", text, i)
		i++
	}
}

// TestMoveChunksOfSeveral: several sources go into one target, whose part-full chunk stays the
// last, and what is part full in the sources is copied behind it.
func TestMoveChunksOfSeveral(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		for one, first := range shapes {
			for two, second := range shapes {
				for three, third := range shapes {
					if len(first.units)+len(second.units)+len(third.units) > mostUnits(6) {
						continue
					}
					x := newLabels(t, growth)
					third.make(t, x, 0)
					first.make(t, x, 1)
					second.make(t, x, 3)
					text := fmt.Sprintf("%s and %s into %s, chunks grow %v", one, two, three, growth)
					labelAll(t, x, ecs.NewChange(x.World, ecs.Remove(x.Tag, x.Flag)), text, true, 0, 1, 3)
					require.NoError(t, x.World.Close())
				}
			}
		}
	}
}

// TestMoveChunksThereAndBack: labels that come and go take no rows anywhere, chunks of several
// orders included, however often; new bits are all set, and none is left over.
func TestMoveChunksThereAndBack(t *testing.T) {
	x := newLabels(t, ecstest.ChunkSizes[1])
	shapes["all orders"].make(t, x, 0)
	want, _ := firsts(x.Sets[0])
	require.GreaterOrEqual(t, len(want), 6)
	add, remove := ecs.NewChange(x.World, ecs.Add(x.Flag, x.Tag)), ecs.NewChange(x.World, ecs.Remove(x.Flag, x.Tag))
	hash, live := x.World.Hash(), x.World.Universe().Stats().LiveChunks
	for range 5 {
		_, err := add.ApplyQuery(x.Queries[0])
		require.NoError(t, err)
		got, part := firsts(x.Sets[3])
		require.Equal(t, want, got)
		require.Empty(t, part)
		require.Equal(t, x.Sets[3].Len(), ecs.NewQuery(x.World, ecs.With(x.Flag)).Count(), "new ones are enabled")
		require.Equal(t, x.Sets[3].Len(), x.Flag.DisableQuery(x.Queries[0]))
		require.NoError(t, x.World.Verify())
		_, err = remove.ApplyQuery(x.Queries[0])
		require.NoError(t, err)
		got, part = firsts(x.Sets[0])
		require.Equal(t, want, got)
		require.Empty(t, part)
		require.Equal(t, hash, x.World.Hash())
		require.Equal(t, live, x.World.Universe().Stats().LiveChunks)
	}
}

// TestPartOfAnArchetypeIsCopied: what is not whole does not change hands.
func TestPartOfAnArchetypeIsCopied(t *testing.T) {
	x := newLabels(t, ecstest.ChunkSizes[0])
	createFast(t, x, 0, 3*x.Sets[0].Plan().Rows)
	full, _ := firsts(x.Sets[0])
	ids := x.Queries[0].Entities(nil)
	b, err := ecs.NewChange(x.World, ecs.Add(x.Tag)).ApplyList(ids[1:])
	require.NoError(t, err)
	require.Equal(t, len(ids)-1, b.Len())
	first, _, rows := x.Sets[0].Chunk(0)
	require.Equal(t, []any{full[0], 1}, []any{first, rows})
	for i := range x.Sets[1].Chunks() {
		first, _, _ := x.Sets[1].Chunk(i)
		require.NotEqual(t, full[0], first)
	}
	require.Equal(t, len(ids),
		countRight(t, x, ecs.NewQuery(x.World, ecs.Write(x.Position), ecs.Present(x.Stun)), true))
}

// TestFreshColumnIsNoLabel adds a type with storage where that changes neither the rows of a unit
// nor the offsets of the other columns: it does not do that the chunks change hands, for the new
// column holds what was in memory before.
func TestFreshColumnIsNoLabel(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	wide, position := ecs.Register[[9000]byte](w), ecs.Register[ecstest.Position](w)
	both, one := ecs.NewArchetype(w, wide, position), ecs.NewArchetype(w, wide)
	require.Equal(t, both.Plan().Rows, one.Plan().Rows)
	dirty, err := both.CreateN(8)
	require.NoError(t, err)
	for rows := range dirty.Rows() {
		position.Slice(rows)[0] = ecstest.Position{X: 1, Y: 2}
	}
	w.Clear()
	require.NotZero(t, w.Trim())
	_, err = one.CreateN(8) // in the chunks that were given back
	require.NoError(t, err)
	b, err := ecs.NewChange(w, ecs.Add(position)).ApplyQuery(ecs.NewQuery(w))
	require.NoError(t, err)
	for rows := range b.Rows() {
		require.Equal(t, ecstest.Position{}, position.Slice(rows)[0])
	}
	require.NoError(t, w.Verify())
}

// TestShiftedColumnIsNoLabel adds a type that does not change the rows of a unit, but where the
// other columns begin: the chunks must not change hands.
func TestShiftedColumnIsNoLabel(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, wide := ecs.Register[ecstest.Position](w), ecs.Register[[9000]byte](w)
	both, one := ecs.NewArchetype(w, position, wide), ecs.NewArchetype(w, wide)
	require.Equal(t, both.Plan().Rows, one.Plan().Rows)
	made, err := one.CreateN(8)
	require.NoError(t, err)
	for rows := range made.Rows() {
		wide.Slice(rows)[0] = [9000]byte{0: 3, 8999: 4}
	}
	b, err := ecs.NewChange(w, ecs.Add(position)).ApplyQuery(ecs.NewQuery(w))
	require.NoError(t, err)
	for rows := range b.Rows() {
		require.Equal(t, [9000]byte{0: 3, 8999: 4}, wide.Slice(rows)[0])
		require.Equal(t, ecstest.Position{}, position.Slice(rows)[0])
	}
}

type (
	wide1 [100]byte
	wide2 [100]byte
	wide3 [100]byte
	wide4 [4]uint64
	last  struct{ B byte }
	less  [24]byte
)

// TestMoveChunksAcrossFewColumns: chunks of 1 MiB are laid out otherwise with more than four
// columns. Where a type goes that leaves four the values stay what they were, whether units have as
// many rows without it (last) or not (less), and the target has rows or not.
func TestMoveChunksAcrossFewColumns(t *testing.T) {
	for _, gone := range []func(w *ecs.World) ecs.Type{
		func(w *ecs.World) ecs.Type { return ecs.Register[last](w) }, func(w *ecs.World) ecs.Type {
			return ecs.Register[less](w)
		},
	} {
		for _, there := range []int{0, 1, 3000} {
			w := ecstest.NewWorld(t)
			one := ecs.Register[wide1](w)
			two := ecs.Register[wide2](w)
			three := ecs.Register[wide3](w)
			four := ecs.Register[wide4](w)
			fifth := gone(w)
			five, few := ecs.NewArchetype(w, one, two, three, four, fifth), ecs.NewArchetype(w, one, two, three, four)
			fill := func(b ecs.Batch, err error) {
				require.NoError(t, err)
				for rows := range b.Rows() {
					f := four.Slice(rows)
					for i, e := range rows.Entities() {
						f[i] = wide4{uint64(e.Index()), 1, 2, ^uint64(e.Index())}
					}
				}
			}
			check := func(a *ecs.Archetype, n int) {
				require.NoError(t, w.Verify())
				require.Equal(t, n, a.Len())
				q := ecs.NewQuery(w, ecs.Read(four))
				for rows := range q.Rows() {
					f := four.Slice(rows)
					for i, e := range rows.Entities() {
						if f[i] != (wide4{uint64(e.Index()), 1, 2, ^uint64(e.Index())}) || four.Get(e) != &f[i] {
							t.Fatalf("%v of %v has %v", e, rows.Archetype(), f[i])
						}
					}
				}
			}
			fill(few.CreateN(there))
			n := 70 * five.Plan().Rows // a chunk of 64 units and more
			fill(five.CreateN(n))
			all := ecs.NewQuery(w, ecs.Read(four))
			for range 2 {
				_, err := ecs.NewChange(w, ecs.Remove(fifth)).ApplyQuery(all)
				require.NoError(t, err)
				check(few, n+there)
				fill(few.CreateN(100))
				_, err = ecs.NewChange(w, ecs.Add(fifth)).ApplyQuery(all)
				require.NoError(t, err)
				there += 100
				check(five, n+there)
			}
			require.NoError(t, w.Close())
		}
	}
}
