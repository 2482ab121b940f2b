package snapshot_test

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// Each way to write a world, alone: what it writes first has to be kept, as nothing else keeps it.
// Chunks of 16 units have each column, and the last rows, in units of their own.

// barrierRows is the number of rows of the archetype that is written.
const barrierRows = 2400

// writes is the world that is written.
type writes struct {
	*snapWorld
	a    *ecs.Archetype
	rows []ecs.Entity
	ids  []ecs.Entity // reserved
}

func newWrites(t testing.TB) *writes {
	g := &writes{snapWorld: newSnapWorld(t, 1, ecs.ChunkGrowth(alloc.Fixed(16)))}
	g.a = ecs.NewArchetype(g.World, g.place, g.speed, g.big, g.hits)
	batch, err := g.a.CreateN(barrierRows)
	require.NoError(t, err)
	g.rows = batch.Entities(nil)
	for i, e := range g.rows {
		g.place.Set(e, snapPlace{X: float64(i)})
		g.speed.Set(e, snapSpeed{int32(i)})
		g.big.Set(e, snapBig{[7]uint64{uint64(i)}})
	}
	for i := range 1200 {
		g.load.Add(g.rows[i], snapLoad{uint16(i)})
	}
	for _, i := range []int{1000, 1001} {
		g.hits.Append(g.rows[i], 1)
		g.hits.Append(g.rows[i-400], make([]uint32, 100)...)
	}
	g.SetName(g.rows[7], "seven")
	g.ids = make([]ecs.Entity, 100)
	require.NoError(t, g.Reserve(g.ids))
	_, err = g.a.CreateReserved(g.ids[50:]) // so there are records
	require.NoError(t, err)
	return g
}

// print is all that can be seen, entries by number included.
func (g *writes) print() string {
	e, _ := g.Named("seven")
	return fmt.Sprint(g.snapWorld.print(), g.load.Entities(), g.load.Values(), g.Stats().Reserved, g.Stats().Buffers, e)
}

// writeWays are ways to write.
type writeWays []struct {
	name string
	do   func(g *writes)
}

// TestEachWriteIsKept writes values.
func TestEachWriteIsKept(t *testing.T) {
	writeWays{
		{"Slice", func(g *writes) {
			for rows := range g.write.Rows() {
				g.place.Slice(rows)[9].X = -1
			}
		}},
		{"View", func(g *writes) {
			for _, v := range g.view.Rows() {
				v.Place[9].X = -1
			}
		}},
		{"Set", func(g *writes) { g.place.Set(g.rows[1000], snapPlace{X: -1}) }},
		{"Mut", func(g *writes) { g.place.Mut(g.rows[1000]).X = -1 }},
		{"MutList", func(g *writes) {
			for _, p := range g.place.MutList(nil, g.rows[1000:1010]) {
				p.X = -1
			}
		}},
		{"Set tracked", func(g *writes) { g.big.Set(g.rows[1000], snapBig{}) }},
		{"ReadOnly", func(g *writes) {
			for rows := range g.write.Rows() {
				g.place.ReadOnly(rows)[9].X = -1
				g.place.Mark(rows)
			}
		}},
		{"SetValues", func(g *writes) { _ = g.place.SetValues(g.write, make([]snapPlace, g.a.Len())) }},
	}.try(t)
}

// TestEachBufferIsKept writes buffers.
func TestEachBufferIsKept(t *testing.T) {
	writeWays{
		{"Buffer inline", func(g *writes) {
			b, _ := g.hits.Mut(g.rows[1000])
			b.Slice()[0] = 9
		}},
		{"Buffer spilled", func(g *writes) {
			b, _ := g.hits.Mut(g.rows[600])
			b.Slice()[99] = 9
		}},
		{"BufferW", func(g *writes) {
			for _, v := range g.view.Rows() {
				v.Hits.At(600).Slice()[0] = 9
				break
			}
		}},
		{"Buffer freed", func(g *writes) {
			g.hits.Remove(g.rows[600])
			g.hits.Append(g.rows[3], make([]uint32, 99)...)
			b, _ := g.hits.Mut(g.rows[3])
			for i := range b.Slice() {
				b.Slice()[i] = 9
			}
		}},
	}.try(t)
}

// TestEachArrivalIsKept creates and destroys single entities, and moves them.
func TestEachArrivalIsKept(t *testing.T) {
	writeWays{
		{"Create", func(g *writes) { g.a.Create() }},
		{"Destroy", func(g *writes) { g.Destroy(g.rows[1000]) }},
		{"Destroy, Create", func(g *writes) {
			g.Destroy(g.rows[1000])
			g.place.Set(g.a.Create(), snapPlace{X: -1})
		}},
		{"Add", func(g *writes) { g.tag.Add(g.rows[1000], snapTag{}) }},
	}.try(t)
}

// TestEachBatchIsKept creates, destroys and moves many.
func TestEachBatchIsKept(t *testing.T) {
	writeWays{
		{"CreateN", func(g *writes) { _, _ = g.a.CreateN(3) }},
		{"DestroyList", func(g *writes) { g.DestroyList(g.rows[1000:1003]) }},
		{"DestroyList, CreateN", func(g *writes) {
			g.DestroyList(g.rows[1000:1003])
			_, _ = g.a.CreateN(3)
		}},
		{"ApplyList", func(g *writes) { _, _ = ecs.NewChange(g.World, ecs.Add(g.tag)).ApplyList(g.rows[1000:1300]) }},
		{"ApplyQuery twice", func(g *writes) {
			_, _ = ecs.NewChange(g.World, ecs.Remove(g.speed)).ApplyQuery(g.write)
			_, _ = ecs.NewChange(g.World, ecs.Add(g.speed)).ApplyQuery(g.write)
		}},
		{"Instantiate", func(g *writes) {
			g.Destroy(g.rows[1000])
			g.Instantiate(g.rows[9])
		}},
	}.try(t)
}

// TestEachRecordIsKept writes records of ids, and blocks of reserved ones.
func TestEachRecordIsKept(t *testing.T) {
	writeWays{
		{"SwapComponents", func(g *writes) { g.SwapComponents(g.rows[1000], g.rows[2300]) }},
		{"CreateReserved", func(g *writes) { _, _ = g.a.CreateReserved(g.ids[:3]) }},
		{"Unreserve", func(g *writes) { g.Unreserve(g.ids[:3]) }},
		{"Reserve", func(g *writes) { _ = g.Reserve(make([]ecs.Entity, 9000)) }},
	}.try(t)
}

// TestWhatIsFreedIsKept frees chunks, and writes what lies beside rows.
func TestWhatIsFreedIsKept(t *testing.T) {
	writeWays{
		{"Chunks freed", func(g *writes) {
			g.DestroyQuery(g.write)
			g.Trim()
			_, _ = ecs.NewArchetype(g.World, g.big).CreateN(2 * barrierRows)
		}},
		{"Clear", func(g *writes) { g.Clear() }},
		{"Enable", func(g *writes) { g.speed.Disable(g.rows[1000]) }},
		{"SetName", func(g *writes) { g.SetName(g.rows[7], "eight") }},
	}.try(t)
}

// TestEachEntryIsKept writes entries of a sparse type.
func TestEachEntryIsKept(t *testing.T) {
	writeWays{
		{"Sparse.Add", func(g *writes) { g.load.Add(g.rows[2000], snapLoad{9}) }},
		{"Sparse.Remove", func(g *writes) { g.load.Remove(g.rows[1000]) }},
		{"Sparse.Remove, Add", func(g *writes) {
			g.load.Remove(g.rows[1])
			g.load.Add(g.rows[2000], snapLoad{9})
		}},
		{"Sparse.Set", func(g *writes) { g.load.Set(g.rows[1000], snapLoad{9}) }},
		{"Sparse.Mut", func(g *writes) { g.load.Mut(g.rows[1000]).W = 9 }},
		{"Sparse.Slice", func(g *writes) { g.load.Slice()[5].W = 9999 }},
		{"Sparse swapped", func(g *writes) { g.SwapComponents(g.rows[1000], g.rows[2000]) }},
		{"Sparse swapped, both", func(g *writes) { g.SwapComponents(g.rows[3], g.rows[1100]) }},
		{"Sparse.Disable", func(g *writes) { g.load.Disable(g.rows[1000]) }},
	}.try(t)
}

// try writes a world in each way, and goes back and forth.
func (ways writeWays) try(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			g := newWrites(t)
			before := g.print()
			s := g.Snapshot()
			way.do(g)
			require.NotEqual(t, before, g.print(), "the way writes nothing")
			after := g.Snapshot()
			now := g.print()
			require.NoError(t, g.Restore(s))
			require.NoError(t, g.Verify())
			require.Equal(t, before, g.print())
			require.NoError(t, g.Restore(after))
			require.NoError(t, g.Verify())
			require.Equal(t, now, g.print())
		})
	}
}
