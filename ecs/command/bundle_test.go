package command

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// recruit is what TestBundle spawns: values of 16, 8, 16, 0 and 12 bytes, one of which may name an
// entity.
type recruit struct {
	Pos   position
	Inner struct {
		Walk health
		Ptr  pointer
	}
	Slow slow
	Kit  kit
}

type kit struct{ A, B, C int32 }

// barracks is a yard with a buffer and what TestBundle spawns in it.
type barracks struct {
	*yard
	kit    ecs.Component[kit]
	spawn  *Bundle[recruit]
	at     []*ecs.Archetype
	cb     *Buffer
	placed []ecs.Entity
	made   []ecs.Entity
	gone   map[ecs.Entity]bool
}

func openBarracks(t *testing.T, options ...Option) *barracks {
	b := &barracks{yard: openYard(t), gone: map[ecs.Entity]bool{}}
	b.kit = ecs.Register[kit](b.w)
	b.spawn = NewBundle[recruit](b.w)
	for _, name := range teams[:3] {
		b.at = append(b.at, ecs.NewArchetype(b.w, b.pos, b.walk, b.ptr, b.slow, b.kit, b.notes, b.team.Of(name)))
	}
	b.cb = b.open(t, options...)
	return b
}

// record spawns by a bundle or by the calls that it stands for.
func (b *barracks) record(w *Writer, bundle bool, kind int, one recruit) {
	var e ecs.Entity
	if bundle {
		e = b.spawn.Create(w, b.at[kind], one)
	} else {
		e = w.Create(b.at[kind])
		Set(w, e, b.pos, one.Pos)
		Set(w, e, b.walk, one.Inner.Walk)
		Set(w, e, b.ptr, one.Inner.Ptr)
		Set(w, e, b.slow, one.Slow)
		Set(w, e, b.kit, one.Kit)
	}
	b.placed = append(b.placed, e)
}

// other records a command that is no spawn.
func (b *barracks) other(w *Writer, kind, at int) {
	e := b.placed[at]
	switch kind {
	case 0:
		w.Destroy(e)
		b.gone[e] = true
	case 1:
		w.Remove(e, b.slow)
	default:
		if b.gone[e] {
			return
		}
		Append(w, e, b.notes, int32(at), int32(kind))
	}
}

// TestBundle spawns by bundles in one world and by calls in another: the records are the same, and
// so are the worlds. Some units name others, by entity or placeholder, and some commands of other
// kinds lie between.
func TestBundle(t *testing.T) {
	for seed := range twins() / 2 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 17))
			var options []Option
			if seed%4 == 3 {
				options = append(options, Trace)
			}
			a, b := openBarracks(t, options...), openBarracks(t, options...)
			for range 3 {
				a.placed, b.placed = a.placed[:0], b.placed[:0]
				a.fillBoth(b, r)
				require.Equal(t, b.cb.String(), a.cb.String())
				require.NoError(t, a.cb.Play())
				require.NoError(t, b.cb.Play())
				for i := range a.placed {
					a.made, b.made = append(a.made, a.cb.Made(a.placed[i])), append(b.made, b.cb.Made(b.placed[i]))
				}
				require.Equal(t, b.w.Hash(), a.w.Hash())
				require.NoError(t, a.w.Verify())
			}
		})
	}
}

// fillBoth records the same in both, by bundles and by calls.
func (b *barracks) fillBoth(c *barracks, r *rand.Rand) {
	w, v := b.cb.Writer, c.cb.Writer
	for i := range 50 + r.IntN(700) {
		if i%300 == 299 { // goroutines of jobs
			w, v = b.cb.Parallel(partOf{0, 1, i}), c.cb.Parallel(partOf{0, 1, i})
		}
		one := recruit{Pos: position{float64(i), 2}, Kit: kit{int32(i), 1, 2}}
		one.Inner.Walk, one.Inner.Ptr.N = health{float64(i)}, uint32(i)
		kind, other := r.IntN(3), one
		if n := r.IntN(40); n == 0 && i > 0 {
			one.Inner.Ptr.To, other.Inner.Ptr.To = b.placed[i/2], c.placed[i/2]
		} else if n > 20 && len(b.made) > 0 {
			one.Inner.Ptr.To, other.Inner.Ptr.To = b.made[n%len(b.made)], c.made[n%len(b.made)]
		}
		b.record(w, true, kind, one)
		c.record(v, false, kind, other)
		if n := r.IntN(30); n < 6 {
			at := i
			if n < 4 && w == b.cb.Writer {
				at = r.IntN(i + 1)
			}
			b.other(w, n, at)
			c.other(v, n, at)
		}
	}
}

// TestBundleAfterRestore: a value that names an entity of before a restore fails, as of Set.
func TestBundleAfterRestore(t *testing.T) {
	b := openBarracks(t)
	s := b.w.Snapshot()
	defer s.Close()
	late := recruit{}
	late.Inner.Ptr.To = b.plain.Create()
	b.spawn.Create(b.cb, b.at[0], recruit{})
	b.spawn.Create(b.cb, b.at[0], late)
	require.NoError(t, b.w.Restore(s))
	b.plain.Create()
	require.ErrorContains(t, b.cb.Play(), "Set pointer")
}

func TestBundleMisuse(t *testing.T) {
	b := openBarracks(t)
	other := openBarracks(t)
	panics := func(text string, f func()) { require.PanicsWithValue(t, text, f) }
	panics("command: Bundle.Create: the bundle is nil, the zero value or of another world; bundles come from NewBundle",
		func() { other.spawn.Create(b.cb, b.at[0], recruit{}) })
	panics("command: Bundle.Create: the archetype is nil or belongs to another world",
		func() { b.spawn.Create(b.cb, other.at[0], recruit{}) })
	require.Zero(t, b.cb.Len())
	far := recruit{}
	far.Inner.Ptr.To = other.cb.Create(other.plain)
	require.Panics(t, func() { b.spawn.Create(b.cb, b.at[0], far) })
	require.Zero(t, b.cb.Len())
	b.spawn.Create(b.cb, b.plain, recruit{}) // lacks most types
	require.ErrorContains(t, b.cb.Play(), "Set health")
	b.cb.Clear()

	panics("command: NewBundle[int]: int is no struct", func() { NewBundle[int](b.w) })
	type hidden struct{ pos position }
	_ = hidden{}.pos
	panics("command: NewBundle[command.hidden]: field hidden.pos: it is not exported",
		func() { NewBundle[hidden](b.w) })
	type twice struct {
		A position
		B struct{ C position }
	}
	panics("command: NewBundle[command.twice]: field twice.B.C: command.position is the type of a field before it",
		func() { NewBundle[twice](b.w) })
	type foreign struct{ N []int32 }
	const further = ": call ecs.Register first; buffers, shared and sparse types take commands of their own"
	panics("command: NewBundle[command.foreign]: field foreign.N: []int32 is no component of this world"+further,
		func() { NewBundle[foreign](b.w) })
	type late struct{ A int32 }
	type early struct{ L late }
	panics("command: NewBundle[command.early]: field early.L: command.late is no component of this world"+further,
		func() { NewBundle[early](b.w) })
	require.Panics(t, func() { NewBundle[struct{ E ecs.CleanupEntity }](b.w) })
	type bulk [2000]byte
	type large struct{ V [40]bulk }
	require.Panics(t, func() { NewBundle[large](b.w) })
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	require.NoError(t, w.Close())
	panics("command: NewBundle[command.recruit]: the world is nil or closed", func() { NewBundle[recruit](w) })
}

// TestBundleOfSomeParts: parts that record by a bundle and parts that record by calls make the same
// world for any number of workers, as do handles of one type that have several Go types.
func TestBundleOfSomeParts(t *testing.T) {
	run := func(workers int) uint64 {
		b := openBarracks(t)
		for part := range 8 {
			w := b.cb.Parallel(partOf{part % workers, 1, part})
			b.record(w, part%2 == 0, 0, recruit{Pos: position{float64(part), 0}})
		}
		require.NoError(t, b.cb.Play())
		return b.w.Hash()
	}
	require.Equal(t, run(1), run(2))
	require.Equal(t, run(1), run(3))

	removed := func(workers int) string {
		b := openBarracks(t)
		var list []ecs.Entity
		for range 8 {
			list = append(list, b.at[0].Create())
		}
		for part := range 8 {
			w := b.cb.Parallel(partOf{part % workers, 1, part})
			if part%2 == 0 {
				w.Remove(list[part], b.pos)
			} else {
				w.Remove(list[part], ecs.InfoOf(b.pos).Type)
			}
		}
		require.NoError(t, b.cb.Play())
		q := ecs.NewQuery(b.w, ecs.Absent(b.pos))
		defer q.Close()
		return fmt.Sprint(q.Entities(nil))
	}
	require.Equal(t, removed(1), removed(2))
}

// TestRefusedSpawn: a Bundle.Create that a limit refuses has recorded nothing.
func TestRefusedSpawn(t *testing.T) {
	for _, options := range [][]Option{{Limit(32 << 10)}, {Limit(32 << 10), Trace}} {
		b := openBarracks(t, options...)
		n := 0
		require.Panics(t, func() {
			for {
				b.spawn.Create(b.cb, b.at[0], recruit{})
				n++
			}
		})
		require.Positive(t, n)
		require.Equal(t, n*(1+len(b.spawn.core.parts)), b.cb.Len())
		require.NoError(t, b.cb.Play())
		require.Equal(t, n, b.at[0].Len())
	}
}
