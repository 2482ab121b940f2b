package container

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// mapCalls are the methods of a map.
var mapCalls = map[string]func(m *Map[int, int]){
	"Map.Get":      func(m *Map[int, int]) { m.Get(1) },
	"Map.GetMany":  func(m *Map[int, int]) { m.GetMany(nil, nil, nil) },
	"Map.At":       func(m *Map[int, int]) { m.At(1) },
	"Map.Has":      func(m *Map[int, int]) { m.Has(1) },
	"Map.Len":      func(m *Map[int, int]) { m.Len() },
	"Map.Set":      func(m *Map[int, int]) { m.Set(1, 1) },
	"Map.GetOrAdd": func(m *Map[int, int]) { m.GetOrAdd(1) },
	"Map.Delete":   func(m *Map[int, int]) { m.Delete(1) },
	"Map.Clear":    func(m *Map[int, int]) { m.Clear() },
	"Map.Reserve":  func(m *Map[int, int]) { m.Reserve(1) },
	"Map.Trim":     func(m *Map[int, int]) { m.Trim() },
	"Map.All":      func(m *Map[int, int]) { m.All() },
	"Map.Verify":   func(m *Map[int, int]) { m.Verify() },
}

// refusesAll fails unless each method panics with its name and the text.
func refusesAll(t *testing.T, m *Map[int, int], text string) {
	for name, call := range mapCalls {
		func() {
			defer func() { require.Equal(t, "container: "+name+": "+text, recover()) }()
			call(m)
		}()
	}
}

const goneText = "the allocator was closed, or gave up the blocks (Arena.Reset, Arena.Rewind)"

func TestMapUsedWrongly(t *testing.T) {
	refusesAll(t, &Map[int, int]{}, "the container was not made by its New function")
	m := newMap[int, int](t)
	require.NoError(t, m.Set(1, 1))
	require.PanicsWithValue(t, "container: Map.GetMany: 2 keys, 1 values, 0 found", func() {
		m.GetMany(make([]int, 2), make([]int, 1), nil)
	})
	new(Map[int, int]).Close()
	all := m.All()
	m.Close()
	m.Close() // does nothing
	refusesAll(t, m, "the container is closed")
	m.Close()
	require.PanicsWithValue(t, "container: Map.All: the container is closed", func() {
		for range all {
		}
	})

	_, err := NewMap[string, int](m.from)
	require.ErrorContains(t, err, "container: NewMap: ")
	_, err = NewMap[int, *int](m.from)
	require.ErrorContains(t, err, "container: NewMap: ")
	_, err = NewMap[int, []byte](m.from)
	require.Error(t, err)
	_, err = NewMap[any, int](m.from)
	require.Error(t, err)
}

func TestMapAfterItsAllocator(t *testing.T) {
	u, err := alloc.NewUniverse()
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	a := alloc.NewArena(h)
	mark := a.Mark()
	m, err := NewMap[int, int](a)
	require.NoError(t, err)
	for i := range 3000 {
		require.NoError(t, m.Set(i, i))
	}
	require.NoError(t, m.Verify())
	all := m.All()
	a.Rewind(mark)
	refusesAll(t, m, goneText)
	m.Close() // has nothing to free
	refusesAll(t, m, "the container is closed")
	require.Panics(t, func() {
		for range all {
		}
	})
	m.Close()
	m, err = NewMap[int, int](a)
	require.NoError(t, err)
	require.NoError(t, m.Set(1, 1))
	require.Panics(t, func() { // while a loop runs
		for range m.All() {
			a.Reset(0)
		}
	})
	refusesAll(t, m, goneText)
	a.Close()
	require.NoError(t, h.Close())
	require.NoError(t, u.Close())
}

// TestMapOnPages: a map works on allocators other than a heap.
func TestMapOnPages(t *testing.T) {
	p := alloc.NewPages()
	m, err := NewMap[int, int](p)
	require.NoError(t, err)
	model := map[int]int{}
	for i := range 3000 {
		mapStep(t, m, model, i%7, i, i)
	}
	sameAsModel(t, m, model)
	m.Close()
	require.NoError(t, p.Close())
}

// TestMapRefused refuses each request for memory; the map is as its model all the time, and goes on
// after that.
func TestMapRefused(t *testing.T) {
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(64 << 20))
		require.NoError(t, err)
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		m, err := NewMap[int, [3]int](wrap.NewFail(h, f))
		require.NoError(t, err)
		m.step = 1
		model := map[int][3]int{}
		var first error
		refused := 0
		keep := func(err error) bool {
			first = errors.Join(first, err)
			if err != nil {
				refused++
			}
			if err != nil && (refused < 10 || refused%100 == 0) {
				require.NoError(t, m.Verify())
				require.Equal(t, len(model), m.Len())
				for key, value := range model {
					if got, ok := m.Get(key); !ok || got != value {
						t.Fatalf("key %d is lost: %v", key, err)
					}
				}
			}
			return err == nil
		}
		for i := range 1500 {
			if keep(m.Set(i, [3]int{i})) {
				model[i] = [3]int{i}
			} else {
				require.False(t, m.Has(i))
			}
			if i%100 == 0 {
				_, _, err := m.GetOrAdd(-i - 1)
				if keep(err) {
					model[-i-1] = [3]int{}
				}
			}
		}
		keep(m.Reserve(3000))
		for i := range 1500 {
			if i%5 != 0 {
				m.Delete(i)
				delete(model, i)
			}
		}
		keep(m.Trim())
		sameAsModel(t, m, model)
		m.Close()
		return errors.Join(first, h.Close(), u.Close())
	}))
}

// TestMapOfLargeValues: each table that a Set makes is larger than what it replaces, so a refusal
// of the next one leaves a sound map.
func TestMapOfLargeValues(t *testing.T) {
	m := newMap[int, [4096]byte](t)
	for class := 2; class < m.classes; class++ {
		require.Greater(t, m.limit(class), m.limit(class-1))
	}
	r := &refuser{Allocator: m.from}
	m.source = newSource("NewMap", r)
	for i := range 40 {
		require.NoError(t, m.Set(i, [4096]byte{byte(i)}))
		require.NoError(t, m.Verify())
		r.refuse = true
		if m.Set(-i-1, [4096]byte{}) == nil {
			m.Delete(-i - 1)
		}
		r.refuse = false
		require.NoError(t, m.Verify())
	}
}

// TestMapSplitsUnevenly: a table beyond the largest, which keys have that all begin with one bit,
// is split and trimmed into tables that hold what they get.
func TestMapSplitsUnevenly(t *testing.T) {
	m := newMap[int, [4096]byte](t)
	key := 0
	add := func(first uint64) {
		for key++; m.hash(key)>>63 != first; key++ {
		}
		require.NoError(t, m.Set(key, [4096]byte{}))
		require.NoError(t, m.Verify())
	}
	for m.class(0) <= m.largest {
		add(0)
	}
	require.Zero(t, m.depth())
	for m.count < int(m.limit(m.class(0)))-1 {
		add(0)
	}
	require.NoError(t, m.Trim())
	require.NoError(t, m.Verify())
	add(1)
	for range 30 {
		add(0)
	}
	require.Positive(t, m.depth())
}

// TestMapAllocatorPanics: the map is as before when its allocator panics.
func TestMapAllocatorPanics(t *testing.T) {
	m := newMap[int, int](t)
	m.step = 1
	from := &panicking{Allocator: m.from}
	m.source = newSource("NewMap", from)
	model, panics := map[int]int{}, 0
	for i := range 5000 {
		if i%3 == 0 {
			from.armed = true
			func() {
				defer func() {
					if recover() != nil {
						panics++
					}
				}()
				if m.Set(i, i) == nil {
					model[i] = i
				}
			}()
			from.armed = false
		} else {
			mapStep(t, m, model, 0, i, i)
		}
	}
	require.Positive(t, panics)
	sameAsModel(t, m, model)
}

// TestMapAllocatorPanicsLate: a split gives back what it has made when a later request panics; the
// heap has no blocks left at the end.
func TestMapAllocatorPanicsLate(t *testing.T) {
	panics := 0
	for calls := range 3 { // two tables and a directory
		m := newMap[int, int](t)
		m.step = 1
		from := &panicking{Allocator: m.from}
		m.source = newSource("NewMap", from)
		model := map[int]int{}
		for i := range 5000 {
			from.armed, from.calls = true, calls
			func() {
				defer func() {
					if recover() != nil {
						panics++
					}
				}()
				mapStep(t, m, model, 0, i, i)
			}()
			from.armed = false
			mapStep(t, m, model, 0, i, i)
		}
		sameAsModel(t, m, model)
		require.NoError(t, m.Verify())
		require.Positive(t, panics, "after %d requests", calls)
		panics = 0
	}
}

// panicking is an allocator that panics after some calls, and when a block is freed, while it is
// armed.
type panicking struct {
	alloc.Allocator
	armed bool
	calls int // that go well
	frees bool
}

func (p *panicking) Alloc(size, align int) (unsafe.Pointer, error) {
	if p.armed && p.calls == 0 {
		panic("no memory today")
	}
	p.calls--
	return p.Allocator.Alloc(size, align)
}

func (p *panicking) FreeSized(at unsafe.Pointer, size, align int) {
	p.Allocator.FreeSized(at, size, align)
	if p.frees {
		panic("the block is damaged")
	}
}

// TestFreePanics: a Clear or Trim in which each free panics, as that of a wrapper does that finds a
// block damaged, leaves a sound container, and goes on when it is called again.
func TestFreePanics(t *testing.T) {
	from := &panicking{Allocator: openHeap(t), frees: true}
	x, p := NewText(from), NewBufferPool(from, 1000)
	const n = 5
	var buffers [n]*Buffer
	for i := range n {
		_, err := x.Intern(strings.Repeat(string(rune('a'+i)), 20))
		require.NoError(t, err)
		buffers[i] = p.Get()
		require.NoError(t, buffers[i].Grow(100))
	}
	for _, b := range buffers {
		p.Put(b)
	}
	for i := range n {
		require.Panics(t, x.Clear)
		require.NoError(t, x.Verify())
		require.Equal(t, n-1-i, x.Len())
		require.Panics(t, p.Trim)
		require.NoError(t, p.Verify())
	}
	from.frees = false
	x.Clear()
	x.Close()
	require.NoError(t, p.Close())
}

// TestMapHashesCollide: a map whose keys all have one hash reports that when its one table cannot
// grow.
func TestMapHashesCollide(t *testing.T) {
	m := newMap[int, [4096]byte](t)
	m.kept = 0
	m.classes = m.largest + 1
	var err error
	for i := range 100 {
		if err = m.Set(i, [4096]byte{}); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, alloc.ErrTooBig)
	require.NoError(t, m.Verify())
}

func FuzzMap(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), uint8(64))
	f.Add([]byte{0, 0, 0, 0, 0, 1, 8, 0, 0, 255, 255, 2}, uint8(3))
	f.Fuzz(func(t *testing.T, ops []byte, bits uint8) {
		m, model := newMap[uint16, uint16](t), map[uint16]uint16{}
		m.kept, m.step = ^uint64(0)<<(bits%64), 1
		for ; len(ops) >= 4; ops = ops[4:] {
			op, key := int(binary.LittleEndian.Uint16(ops)), binary.LittleEndian.Uint16(ops[2:])
			for i := range uint16(op/16%64 + 1) { // a run of keys, so that short inputs make tables split
				mapStep(t, m, model, op, key%2048+i, key^i)
			}
			require.NoError(t, m.Verify())
		}
		sameAsModel(t, m, model)
	})
}
