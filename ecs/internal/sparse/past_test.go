package sparse

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
	"quarry/internal/universe"
)

// keptEntry is an entry of a model.
type keptEntry struct {
	e  entity.ID
	v  byte
	on bool
}

// keptSet is a set whose past is kept, beside a list of its entries.
type keptSet struct {
	t       testing.TB
	s       *Set
	p       past.Past
	r       *rand.Rand
	list    []keptEntry
	most    int // greatest index of an entity
	version uint32
	moments []*keptMoment
}

// keptMoment is a set at one moment.
type keptMoment struct {
	l     *past.Layer
	state State
	list  []keptEntry
}

// newKeptSet makes a set of values of a size.
func newKeptSet(t *testing.T, u *universe.Universe, size int, bits bool, seed uint64) *keptSet {
	k := &keptSet{t: t, s: newSet(t, u, size, bits), r: rand.New(rand.NewPCG(seed, 3)), most: 40}
	k.p.Open(u)
	return k
}

func (k *keptSet) save() *keptMoment {
	if len(k.moments) == 0 {
		k.s.KeepPast(&k.p)
	}
	m := &keptMoment{l: k.p.Begin(), list: slices.Clone(k.list)}
	k.s.Save(&m.state)
	require.Equal(k.t, len(m.list), m.state.Len())
	k.moments = append(k.moments, m)
	return m
}

func (k *keptSet) close(m *keptMoment) {
	m.l.Close()
	if k.moments = slices.DeleteFunc(k.moments, func(o *keptMoment) bool { return o == m }); len(k.moments) == 0 {
		k.s.KeepPast(nil)
	}
}

func (k *keptSet) restore(m *keptMoment) {
	same := slices.Equal(k.list, m.list)
	k.version++
	require.NoError(k.t, k.s.Ready(m.l))
	k.s.Restore(&m.state, m.l, k.version)
	k.list = slices.Clone(m.list)
	if !same {
		require.Equal(k.t, []uint32{k.version, k.version}, []uint32{k.s.opened, k.s.Latest()},
			"what differs is marked changed")
	}
	k.check()
}

func (k *keptSet) find(e entity.ID) int {
	return slices.IndexFunc(k.list, func(x keptEntry) bool { return x.e == e })
}

func (k *keptSet) value(p unsafe.Pointer) []byte { return unsafe.Slice((*byte)(p), k.s.size) }

func (k *keptSet) fill(p unsafe.Pointer, v byte) {
	copy(k.value(p), bytes.Repeat([]byte{v}, int(k.s.size)))
}

func (k *keptSet) add(e entity.ID) {
	if k.s.Full(e) {
		require.NoError(k.t, k.s.Reserve(1, uint32(k.most)+1))
	}
	v := byte(k.r.Uint32())
	if k.s.size == 0 {
		v = 0
	}
	k.fill(k.s.Add(e, k.version), v)
	k.list = append(k.list, keptEntry{e, v, true})
}

func (k *keptSet) remove(at int) {
	require.True(k.t, k.s.Remove(k.list[at].e, k.version))
	last := len(k.list) - 1
	k.list[at] = k.list[last]
	k.list = k.list[:last]
}

// step changes the set. Its extents grow with the entities that there may be.
func (k *keptSet) step() {
	k.version++
	e := id(1 + k.r.IntN(k.most))
	at := k.find(e)
	switch op := k.r.IntN(13); {
	case op < 4:
		for range k.r.IntN(20) {
			if e := id(1 + k.r.IntN(k.most)); k.find(e) < 0 {
				k.add(e)
			}
		}
	case op < 6 && at >= 0:
		k.remove(at)
	case op == 6:
		for range k.r.IntN(len(k.list)/2 + 1) {
			k.remove(k.r.IntN(len(k.list)))
		}
	case op == 7 && at >= 0:
		k.s.Mark(Entry(at+1), k.version)
		if k.s.size > 0 {
			k.list[at].v++
		}
		k.fill(k.s.At(e), k.list[at].v)
	case op == 8:
		k.s.OpenAll(k.version)
		for i := 0; i < len(k.list) && k.s.size > 0; i += 3 {
			k.list[i].v--
			k.fill(k.s.Value(Entry(i+1)), k.list[i].v)
		}
	case op == 9 && at >= 0 && k.s.bits != nil:
		k.list[at].on = !k.list[at].on
		k.s.Switch(Entry(at+1), k.list[at].on)
	case op == 10:
		k.swap(e, id(1+k.r.IntN(k.most)))
	case op == 11:
		k.s.Trim()
	case op == 12 && k.most < 20_000:
		k.most += k.most / 8
	}
}

// swap exchanges the values of two entities for whose places there is room.
func (k *keptSet) swap(e, f entity.ID) {
	if int(max(e.Index(), f.Index())) >= int(k.s.most) {
		return
	}
	at, with := k.find(e), k.find(f)
	k.s.Swap(e, f, k.version)
	if at >= 0 {
		k.list[at].e = f
	}
	if with >= 0 {
		k.list[with].e = e
	}
}

// check compares the set with the list.
func (k *keptSet) check() {
	require.NoError(k.t, k.s.Verify())
	require.NoError(k.t, k.p.Verify())
	require.Equal(k.t, len(k.list), k.s.Len())
	for i, x := range k.list {
		if k.s.IDs()[i] != x.e || k.s.Find(x.e) != Entry(i+1) || k.s.Enabled(Entry(i+1)) != x.on {
			require.Fail(k.t, "another entry", "%d: %v, want %v", i, k.s.IDs()[i], x)
		}
		for _, b := range k.value(k.s.Value(Entry(i + 1))) {
			if b != x.v {
				require.Fail(k.t, "another value", "%d: %d, want %v", i, b, x)
			}
		}
	}
}

// TestRestoreFollowsAModel goes back and forth between several moments of a set, among all that may
// change it, while its extents grow and move.
func TestRestoreFollowsAModel(t *testing.T) {
	for _, size := range []int{0, 8, 16, 72} {
		u := newUniverse(t, 16<<20)
		k := newKeptSet(t, u, size, size != 16, uint64(size))
		restored := 0
		for range 1500 {
			switch op := k.r.IntN(30); {
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
		}
		k.check()
		require.Greater(t, restored, 30)
		require.Greater(t, k.most, 10_000)
		for len(k.moments) > 0 {
			k.restore(k.moments[0])
			k.close(k.moments[0])
		}
		require.Zero(t, k.p.Units())
	}
}

// TestRestoreOfTheSame: where nothing differs, nothing is marked or copied.
func TestRestoreOfTheSame(t *testing.T) {
	k := newKeptSet(t, newUniverse(t, 16<<20), 8, true, 1)
	for i := 1; i < 30; i++ {
		k.add(id(i))
	}
	k.version = 7
	m := k.save()
	k.restore(m)
	require.Zero(t, k.s.Latest())
	newer := k.save()
	k.restore(m)
	k.s.Switch(3, false)
	k.restore(m)
	require.EqualValues(t, k.version, k.s.Latest(), "a bit differs")
	require.Zero(t, newer.l.Units(), "bits are no units, and nothing else was written since")
	k.s.Mark(1, 100) // its value is written with what it was
	k.restore(m)
	require.EqualValues(t, 100, k.s.Latest())
	require.Equal(t, 1, newer.l.Units())
	k.close(m)
	k.close(newer)
}

// TestClearOfALaterSet: a set that a state does not know is cleared, and comes back with a later
// moment.
func TestClearOfALaterSet(t *testing.T) {
	u := newUniverse(t, 16<<20)
	k := newKeptSet(t, u, 8, true, 2)
	before := k.p.Begin()
	k.s.KeepPast(&k.p) // there is a moment without the set
	require.NoError(t, k.s.ReadyClear())
	k.s.Clear(1)
	require.Zero(t, k.s.Latest(), "there was nothing to clear")
	k.most = 9000
	for i := 1; i < 9000; i += 3 {
		k.add(id(i))
	}
	k.s.Switch(5, false)
	k.list[4].on = false
	k.moments = []*keptMoment{{l: before}} // the set's past is kept until then
	after := k.save()
	require.NoError(t, k.s.ReadyClear())
	k.s.Clear(5)
	require.NoError(t, k.s.Verify())
	require.Zero(t, k.s.Len())
	require.Zero(t, k.s.Find(id(1)))
	require.EqualValues(t, 5, k.s.Latest())
	k.restore(after)
	k.close(after)
	before.Close()
	k.s.KeepPast(nil)
}

// TestReadyIsRefused: where there is no memory to keep what newer moments need, the set is as it
// was, and newer moments are not lost.
func TestReadyIsRefused(t *testing.T) {
	refused := 0
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := universe.New(universe.Size(8<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		k := &keptSet{t: t, s: new(Set), r: rand.New(rand.NewPCG(1, 3)), most: 10_000}
		k.s.Open(u, 8, true)
		k.p.Open(u)
		defer func() {
			for len(k.moments) > 0 {
				k.close(k.moments[0])
			}
			require.NoError(t, k.s.Close())
			require.NoError(t, u.Close())
		}()
		if err := k.s.Reserve(3000, 10_001); err != nil {
			return err
		}
		one := k.save()
		for i := 1; i < 9000; i += 4 {
			k.add(id(i))
		}
		if err := one.l.Err(); err != nil {
			return err
		}
		two := k.save()
		ready := []func() error{func() error { return k.s.Ready(one.l) }, k.s.ReadyClear}
		var first error
		for _, ready := range ready {
			if err := ready(); err != nil {
				refused++
				require.NoError(t, two.l.Err())
				k.check()
				first = err
			}
		}
		if first == nil {
			k.restore(one)
			k.restore(two)
			require.NoError(t, k.s.ReadyClear())
			k.s.Clear(9)
			k.list = nil
			k.check()
			k.restore(two)
		}
		return first
	}))
	require.Greater(t, refused, 6)
}
