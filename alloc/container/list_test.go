package container_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/container"
)

// listModel is a List beside a slice.
type listModel struct {
	t     *testing.T
	l     *container.List[int64]
	want  []listedModel
	stale []alloc.Ref[int64]
}

type listedModel struct {
	r alloc.Ref[int64]
	v int64
}

func (m *listModel) step(op, n int) {
	at := 0
	if len(m.want) > 0 {
		at = n % len(m.want)
	}
	switch op % 8 {
	case 0, 1:
		r, err := m.l.PushFront(int64(n))
		require.NoError(m.t, err)
		m.want = slices.Insert(m.want, 0, listedModel{r, int64(n)})
	case 2:
		r, err := m.l.PushBack(int64(n))
		require.NoError(m.t, err)
		m.want = append(m.want, listedModel{r, int64(n)})
	case 3, 4:
		if len(m.want) > 0 {
			e := m.want[at]
			m.want = slices.Delete(m.want, at, at+1)
			if op%8 == 3 {
				m.l.MoveToFront(e.r)
				m.want = slices.Insert(m.want, 0, e)
			} else {
				m.l.MoveToBack(e.r)
				m.want = append(m.want, e)
			}
		}
	case 5, 6:
		if len(m.want) > 0 {
			e := m.want[at]
			require.Equal(m.t, e.v, m.l.Remove(e.r))
			m.want = slices.Delete(m.want, at, at+1)
			m.stale = append(m.stale, e.r)
		}
	default:
		if m.l.Trim(); n%40 == 0 {
			m.l.Clear()
			for _, e := range m.want {
				m.stale = append(m.stale, e.r)
			}
			m.want = nil
		}
	}
}

func (m *listModel) compare() {
	require.NoError(m.t, m.l.Verify())
	require.Equal(m.t, len(m.want), m.l.Len())
	i := 0
	for r, v := range m.l.All() {
		require.Equal(m.t, m.want[i], listedModel{r, *v})
		i++
	}
	require.Equal(m.t, len(m.want), i)
	back := m.l.Back()
	for i := range slices.Backward(m.want) {
		require.Equal(m.t, m.want[i].r, back)
		require.Equal(m.t, m.want[i].v, *m.l.Get(back))
		back = m.l.Prev(back)
	}
	require.Zero(m.t, back)
	for _, r := range m.stale {
		require.Nil(m.t, m.l.Get(r))
	}
}

func TestList(t *testing.T) {
	steps := 3000
	if testing.Short() {
		steps = 500
	}
	h := listHeap(t)
	m := &listModel{t: t}
	var err error
	m.l, err = container.NewList[int64](h)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 9))
	for range steps {
		m.step(random.IntN(8), random.IntN(1000))
		m.compare()
	}
	m.l.Close()
	m.l.Close()
	require.NoError(t, m.l.Verify())
	require.Zero(t, h.Stats().LiveBlocks)
}

func FuzzList(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 3, 3, 1, 5, 0, 7, 40})
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := &listModel{t: t}
		var err error
		m.l, err = container.NewList[int64](listHeap(t))
		require.NoError(t, err)
		for i := 0; i+1 < min(len(ops), 400); i += 2 {
			m.step(int(ops[i]), int(ops[i+1]))
			m.compare()
		}
		m.l.Close()
	})
}

func listHeap(t testing.TB) *alloc.Heap {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(h.Close(), u.Close())) })
	return h
}

// TestListMisuse: stale references, a list that is closed, and one whose arena was freed are
// reported by name.
func TestListMisuse(t *testing.T) {
	h := listHeap(t)
	_, err := container.NewList[string](h)
	require.ErrorContains(t, err, "container: NewList: ")
	l, err := container.NewList[int64](h)
	require.NoError(t, err)
	r, err := l.PushBack(1)
	require.NoError(t, err)
	l.Remove(r)
	const stale = ": the reference {0 1} names no element (removed before?)"
	for name, call := range map[string]func(){
		"Remove":      func() { l.Remove(r) },
		"MoveToFront": func() { l.MoveToFront(r) },
		"MoveToBack":  func() { l.MoveToBack(r) },
		"Next":        func() { l.Next(r) },
		"Prev":        func() { l.Prev(r) },
	} {
		require.PanicsWithValue(t, "container: List."+name+stale, call)
	}
	require.Nil(t, l.Get(r))
	require.Zero(t, l.Remove(alloc.Ref[int64]{}))
	l.Close()
	require.PanicsWithValue(t, "container: List.PushBack: the container is closed", func() { l.PushBack(1) })
	require.PanicsWithValue(t, "container: List.Get: the container is closed", func() { l.Get(r) })

	a := alloc.NewArena(h)
	l, err = container.NewList[int64](a)
	require.NoError(t, err)
	r, err = l.PushBack(1)
	require.NoError(t, err)
	a.Reset(alloc.KeepAll)
	const lost = ": the allocator was closed, or gave up the blocks (Arena.Reset, Arena.Rewind)"
	require.PanicsWithValue(t, "container: List.Get"+lost, func() { l.Get(r) })
	require.PanicsWithValue(t, "container: List.PushFront"+lost, func() { l.PushFront(1) })
	for range 2 {
		for name, call := range map[string]func(){
			"Front": func() { l.Front() },
			"Back":  func() { l.Back() },
			"Len":   func() { l.Len() },
			"All": func() {
				for range l.All() {
				}
			},
		} {
			says := lost
			if l.IsClosed() {
				says = ": the container is closed"
			}
			require.PanicsWithValue(t, "container: List."+name+says, call)
		}
		l.Close()
	}
	a.Close()
	require.PanicsWithValue(t, "container: List.Len: the container was not made by its New function",
		func() { new(container.List[int]).Len() })
}

// TestListBesideScratch: a list whose elements lie before a mark outlives a Rewind to it, though
// elements were pushed and freed meanwhile.
func TestListBesideScratch(t *testing.T) {
	a := alloc.NewArena(listHeap(t))
	defer a.Close()
	l, err := container.NewList[int64](a)
	require.NoError(t, err)
	_, err = l.PushBack(1)
	require.NoError(t, err)
	mark := a.Mark()
	_, err = a.Alloc(100, 8) // another's
	require.NoError(t, err)
	_, err = l.PushBack(2)
	require.NoError(t, err)
	l.Trim()
	a.Rewind(mark)
	require.Equal(t, 2, l.Len())
	require.NoError(t, l.Verify())
}

// TestListRefused: a refused push changes nothing.
func TestListRefused(t *testing.T) {
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(4<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		l, err := container.NewList[[100]int64](h)
		require.NoError(t, err)
		var failed error
		n := 0
		for range 200 {
			if _, err := l.PushFront([100]int64{}); err == nil {
				n++
			} else if failed == nil {
				failed = err
			}
			require.NoError(t, l.Verify())
			require.Equal(t, n, l.Len())
		}
		l.Close()
		require.Zero(t, h.Stats().LiveBlocks)
		require.NoError(t, errors.Join(h.Close(), u.Close()))
		return failed
	}))
}

// A loop may remove the element that it is at.
func ExampleList() {
	u, _ := alloc.NewUniverse(alloc.Size(8 << 20))
	h, _ := alloc.NewHeap(u)
	l, err := container.NewList[int32](h)
	if err != nil {
		fmt.Println(err)
		return
	}
	seven, _ := l.PushBack(7)
	for _, v := range []int32{8, 9, 10} {
		_, _ = l.PushBack(v)
	}
	l.MoveToBack(seven)
	for r, v := range l.All() {
		if fmt.Print(*v, " "); *v%2 == 0 {
			l.Remove(r)
		}
	}
	fmt.Println(l.Len())
	l.Close()
	fmt.Println(errors.Join(h.Close(), u.Close()))
	// Output:
	// 8 9 10 7 2
	// <nil>
}

// TestListInvariants: Verify names what does not hold.
func TestListInvariants(t *testing.T) {
	l, err := container.NewList[int64](listHeap(t))
	require.NoError(t, err)
	for i := range int64(4) {
		_, err := l.PushBack(i)
		require.NoError(t, err)
	}
	for _, how := range []string{"last", "prev", "next", "ring"} {
		undo := l.Corrupt(how)
		require.ErrorContains(t, l.Verify(), "container: list: L2", how)
		undo()
		require.NoError(t, l.Verify())
	}
	l.Close()
}
