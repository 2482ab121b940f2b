package entity_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
	"quarry/internal/universe"
)

// kept is a store whose past is kept, beside what is known of it.
type kept struct {
	t        testing.TB
	u        *universe.Universe
	s        *entity.Store
	p        past.Past
	m        *past.Memory
	r        *rand.Rand
	alive    map[entity.ID]entity.Location
	reserved []entity.ID
	ever     []entity.ID // ids that came at any time
	moments  []*moment   // by rising number
	at       entity.Location
}

// moment is a store at one moment.
type moment struct {
	l        *past.Layer
	state    entity.Moment
	alive    map[entity.ID]entity.Location
	reserved []entity.ID
	next     []entity.ID // ids that come next: the owner's, then reserved ones
}

func newKept(t testing.TB, seed uint64) *kept {
	k := &kept{t: t, u: newUniverse(t, 64<<20), r: rand.New(rand.NewPCG(seed, 9)),
		alive: map[entity.ID]entity.Location{}}
	k.s = open(t, k.u)
	if seed%2 == 1 {
		k.s.Apart(3) // nothing else depends on where versions start
	}
	k.p.Open(k.u)
	k.m = k.p.Add(k.s.Memory())
	return k
}

// save begins a layer.
func (k *kept) save() *moment {
	if len(k.moments) == 0 {
		k.m.Resize(k.s.Memory)
		k.s.KeepPast(k.m)
	}
	m := &moment{l: k.p.Begin(), alive: maps.Clone(k.alive), reserved: slices.Clone(k.reserved), next: k.next()}
	k.s.Save(&m.state, m.l.Number())
	k.moments = append(k.moments, m)
	return m
}

// close ends a layer.
func (k *kept) close(m *moment) {
	m.l.Close()
	k.moments = slices.DeleteFunc(k.moments, func(o *moment) bool { return o == m })
	if len(k.moments) == 0 {
		k.s.KeepPast(nil)
		return
	}
	k.s.Sweep()
}

// next returns the ids that come next, by a twin of the store.
func (k *kept) next() (ids []entity.ID) {
	twin := new(entity.Store)
	twin.Open(k.u, k.s.Tag())
	require.NoError(k.t, twin.CopyFrom(k.s))
	const n = 3000
	ids = make([]entity.ID, 2*n)
	require.NoError(k.t, twin.Reserve(ids[n:]))
	require.NoError(k.t, twin.MakeRoom(n))
	twin.TakeRows(0, ids[:n])
	require.NoError(k.t, twin.Close())
	return ids
}

// restore goes to a moment, and compares all that is known of it.
func (k *kept) restore(m *moment) {
	require.NoError(k.t, k.s.Ready(&m.state, m.l))
	k.s.Restore(&m.state, m.l)
	k.alive, k.reserved = maps.Clone(m.alive), slices.Clone(m.reserved)
	k.check()
	require.Equal(k.t, m.next, k.next(), "the ids that come next")
}

// check compares the ids that ever were with the model.
func (k *kept) check() {
	verify(k.t, k.s, len(k.alive))
	require.NoError(k.t, k.p.Verify())
	require.Equal(k.t, len(k.reserved), k.s.Reserved())
	require.Equal(k.t, -1, k.s.Hold(k.reserved))
	k.s.LetGo(k.reserved)
	for range 500 {
		if len(k.ever) == 0 {
			return
		}
		e := k.ever[k.r.IntN(len(k.ever))]
		r := k.s.Find(e)
		at, ok := k.alive[e]
		require.Equal(k.t, ok, r != nil, "%v", e)
		if ok {
			require.Equal(k.t, at, r.Location)
		}
	}
}

// cut returns some of the reserved ids, which are not in the model any more.
func (k *kept) cut() []entity.ID {
	k.r.Shuffle(len(k.reserved), func(i, j int) { k.reserved[i], k.reserved[j] = k.reserved[j], k.reserved[i] })
	n := k.r.IntN(len(k.reserved) + 1)
	ids := slices.Clone(k.reserved[:n])
	k.reserved = slices.Delete(k.reserved, 0, n)
	return ids
}

// some returns n of the entities that are alive, or fewer, which lie together.
func (k *kept) some(n int) []entity.ID {
	ids := slices.SortedFunc(maps.Keys(k.alive), func(a, b entity.ID) int { return int(a.Index()) - int(b.Index()) })
	at := k.r.IntN(len(ids) + 1)
	return ids[at:min(at+n, len(ids))]
}

func (k *kept) reserve(n int) {
	ids := reserve(k.t, k.s, n)
	k.reserved, k.ever = append(k.reserved, ids...), append(k.ever, ids...)
}

func (k *kept) revive(ids []entity.ID) {
	revive(k.t, k.s, ids)
	k.s.MoveRows(ids, k.at)
	for _, e := range ids {
		k.alive[e] = k.at
		k.at++
	}
}

func (k *kept) take(n int) {
	ids := make([]entity.ID, n)
	require.NoError(k.t, k.s.MakeRoom(n))
	k.s.TakeRows(k.at, ids)
	for _, e := range ids {
		k.alive[e] = k.at
		k.at++
	}
	k.ever = append(k.ever, ids...)
}

func (k *kept) give(ids []entity.ID) {
	k.s.FreeIDs(ids)
	for _, e := range ids {
		delete(k.alive, e)
	}
}

// step changes the store.
func (k *kept) step() {
	r := k.r
	switch r.IntN(10) {
	case 0:
		k.take(r.IntN(3000))
	case 1: // one, as Create does
		require.NoError(k.t, k.s.MakeRoom(1))
		if len(k.moments) > 0 {
			k.s.KeepNext()
		}
		e := k.s.Take(k.at)
		k.alive[e], k.at, k.ever = k.at, k.at+1, append(k.ever, e)
	case 2:
		k.give(k.some(r.IntN(2500)))
	case 3:
		for _, e := range k.some(1) {
			if len(k.moments) > 0 {
				k.s.Keep(e)
			}
			give(k.t, k.s, e)
			delete(k.alive, e)
		}
	case 4:
		ids := k.some(r.IntN(300))
		k.s.MoveRows(ids, k.at)
		for _, e := range ids {
			k.alive[e] = k.at
			k.at++
		}
	case 5:
		k.reserve(r.IntN(4000))
	case 6:
		k.reserve(r.IntN(3))
	case 7:
		k.revive(k.cut())
	case 8:
		takeBack(k.t, k.s, k.cut())
	case 9:
		k.s.PutBack()
	}
}

// TestRestoreFollowsAModel goes back and forth between several moments of a store, among all that
// may change it. Records grow and shrink and move, and blocks of reservations come, end and come
// back.
func TestRestoreFollowsAModel(t *testing.T) {
	steps := 400
	if testing.Short() {
		steps = 150
	}
	for seed := range uint64(4) {
		k := newKept(t, seed)
		restored := 0
		for range steps {
			switch op := k.r.IntN(24); {
			case op == 0 && len(k.moments) < 5:
				k.save()
			case op == 1 && len(k.moments) > 0:
				k.close(k.moments[k.r.IntN(len(k.moments))])
			case op < 5 && len(k.moments) > 0:
				k.restore(k.moments[k.r.IntN(len(k.moments))])
				restored++
			default:
				k.step()
			}
			verify(t, k.s, len(k.alive))
		}
		k.check()
		require.Greater(t, restored, 5)
		for len(k.moments) > 0 {
			k.close(k.moments[0])
		}
		require.Zero(t, k.p.Units())
		require.NoError(t, k.s.Close())
		require.Zero(t, k.u.Stats().LiveChunks, "blocks that ended are freed")
	}
}

// TestBlocksOfReservationsComeBack: a block that was made after a moment ends when the store goes
// back, and is there again when it goes forth, with what it had, though another had its number
// meanwhile.
func TestBlocksOfReservationsComeBack(t *testing.T) {
	k := newKept(t, 1)
	k.take(10)
	first := k.save()
	k.reserve(2 * usable)
	later := k.cut()
	k.revive(later)
	second := k.save()
	require.Equal(t, 2, k.s.ReservedBlocks())
	k.restore(first)
	require.Zero(t, k.s.ReservedBlocks())
	require.Zero(t, k.s.Hold(second.reserved), "what was reserved since is void")
	k.reserve(100)
	third := k.save() // of the store as it never was before
	k.restore(second)
	require.Equal(t, 2, k.s.ReservedBlocks())
	takeBack(t, k.s, k.cut())
	k.restore(third)
	require.Equal(t, 1, k.s.ReservedBlocks())
	k.close(first)
	k.restore(second)
	k.close(third)
	k.restore(second)
	k.close(second)
	verify(t, k.s, len(k.alive))
}

// TestSweepFreesWhatNobodyHas: with a snapshot alive at each time, copies of blocks of reservations
// and blocks that have ended do not become more and more.
func TestSweepFreesWhatNobodyHas(t *testing.T) {
	k := newKept(t, 2)
	k.take(10)
	k.reserve(10)
	base := k.save()
	for range 5 { // back to the same moment
		k.reserve(usable)
		k.restore(base)
	}
	require.Zero(t, k.s.EndedBlocks(), "no snapshot has the blocks")
	live := k.u.Stats().LiveChunks
	for range 20 { // a ring of two
		k.reserve(usable)
		next := k.save()
		k.reserve(5)
		k.restore(base)
		k.restore(next)
		k.close(base)
		base = next
		require.LessOrEqual(t, k.s.SavedBlocks(), 2*k.s.ReservedBlocks())
		require.Zero(t, k.s.EndedBlocks())
		takeBack(t, k.s, slices.Clone(k.reserved))
		k.reserved = nil
	}
	require.LessOrEqual(t, k.u.Stats().LiveChunks, live+200)
	k.close(base)
	require.Zero(t, k.s.SavedBlocks())
}

// TestSweepBesideReservations: a snapshot ends while goroutines reserve ids.
func TestSweepBesideReservations(t *testing.T) {
	k := newKept(t, 3)
	k.reserve(100)
	base := k.save()
	var wg sync.WaitGroup
	var stop atomic.Bool
	for range 2 {
		wg.Go(func() {
			ids := make([]entity.ID, 50)
			for !stop.Load() {
				if err := k.s.Reserve(ids); err != nil || k.s.Hold(ids) >= 0 {
					t.Error("ids are not reserved: ", err)
					return
				}
				k.s.TakeBack(ids)
			}
		})
	}
	for range 200 {
		l := k.p.Begin()
		l.Close()
		k.s.Sweep()
	}
	stop.Store(true)
	wg.Wait()
	k.restore(base)
	k.close(base)
}

// TestReadyIsRefused: where memory for records or for what newer layers need is refused, the store
// is as it was.
func TestReadyIsRefused(t *testing.T) {
	refused := 0
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := universe.New(universe.Size(16<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		defer func() { require.NoError(t, u.Close()) }()
		s := new(entity.Store)
		s.Open(u, entity.TagOf(5))
		defer func() { require.NoError(t, s.Close()) }()
		ids := make([]entity.ID, 3*blockSize)
		if err := s.MakeRoom(10); err != nil {
			return err
		}
		s.TakeRows(0, ids[:10])
		var p past.Past
		p.Open(u)
		m := p.Add(s.Memory())
		s.KeepPast(m)
		var small, large entity.Moment
		var layers []*past.Layer
		save := func(to *entity.Moment) *past.Layer {
			l := p.Begin()
			layers = append(layers, l)
			s.Save(to, l.Number())
			return l
		}
		defer func() {
			for _, l := range layers {
				l.Close()
			}
			s.KeepPast(nil)
		}()
		one := save(&small)
		if err := errors.Join(s.MakeRoom(len(ids)-10), one.Err()); err != nil {
			return err
		}
		s.TakeRows(10, ids[10:])
		two := save(&large)
		var first error
		for _, to := range []struct {
			state *entity.Moment
			l     *past.Layer
			alive int
		}{{&small, one, 10}, {&large, two, len(ids)}, {&small, one, 10}, {&large, two, len(ids)}} {
			before, err := s.Verify()
			require.NoError(t, err)
			if err := s.Ready(to.state, to.l); err != nil {
				refused++
				if first == nil {
					first = err
				}
				verify(t, s, before)
				require.Equal(t, entity.Location(9), s.Find(ids[9]).Location)
				continue
			}
			s.Restore(to.state, to.l)
			verify(t, s, to.alive)
			require.Equal(t, to.alive == len(ids), s.Find(ids[len(ids)-1]) != nil)
			var other entity.Moment
			save(&other) // so that the next has something to keep
			s.MoveRows(ids[:10], 0)
		}
		if first == nil {
			first = layers[len(layers)-1].Err()
		}
		return first
	}))
	require.Greater(t, refused, 6)
}

// TestKeepPastEndsBesideReservations: the last snapshot ends while goroutines reserve ids.
func TestKeepPastEndsBesideReservations(t *testing.T) {
	k := newKept(t, 4)
	k.reserve(100)
	var wg sync.WaitGroup
	for range 200 {
		m := k.save()
		wg.Go(func() {
			ids := make([]entity.ID, 50)
			if err := k.s.Reserve(ids); err != nil || k.s.Hold(ids) >= 0 {
				t.Error("ids are not reserved: ", err)
				return
			}
			k.s.TakeBack(ids)
		})
		k.close(m)
		wg.Wait()
		require.Zero(t, k.s.SavedBlocks())
	}
	k.check()
}
