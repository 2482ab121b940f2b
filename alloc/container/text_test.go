package container

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// textStream runs operations on a Text, of whose hashes only some bits are kept, beside a map.
func textStream(keep uint32) func(t testing.TB, a alloc.Allocator, p *tape) {
	return func(t testing.TB, a alloc.Allocator, p *tape) {
		r := &refuser{Allocator: a}
		x := NewText(r)
		x.keep = keep
		defer x.Close()
		type kept struct {
			id   TextID
			refs int
		}
		model := map[string]kept{}
		var stale []TextID
		for !p.ended() {
			s := strings.Repeat(string(rune('a'+p.next(30))), p.next(5)*p.next(10))
			k, there := model[s]
			op := p.next(12)
			switch op {
			case 0, 1, 2, 3, 4:
				var id TextID
				var err error
				if op == 0 {
					id, err = x.InternBytes([]byte(s))
				} else {
					id, err = x.Intern(s)
				}
				if err != nil {
					require.True(t, r.refuse && !there)
					require.ErrorIs(t, err, errRefused)
					break
				}
				require.True(t, !there || id == k.id)
				require.NotContains(t, stale, id)
				model[s] = kept{id, k.refs + 1}
			case 5, 6, 7:
				if !there {
					break
				}
				x.Release(k.id)
				if k.refs--; k.refs > 0 {
					model[s] = k
				} else {
					delete(model, s)
					stale = append(stale, k.id)
				}
			case 8:
				if there {
					x.Retain(k.id)
					k.refs++
					model[s] = k
				}
			case 9:
				r.refuse = p.next(3) == 0
			case 10:
				if p.next(10) == 0 {
					x.Clear()
					for _, k := range model {
						stale = append(stale, k.id)
					}
					clear(model)
				}
			case 11:
				seen := map[string]kept{}
				for id, b := range x.All() {
					seen[string(b)] = kept{id, x.Refs(id)}
				}
				require.True(t, maps.Equal(model, seen))
			}
			require.NoError(t, x.Verify(), "op %d", op)
			require.Equal(t, len(model), x.Len())
			k, there = model[s]
			id, ok := x.Find(s)
			require.True(t, ok == there && id == k.id)
			text, ok := x.String(k.id)
			require.True(t, ok == there && (!ok || text == s))
		}
		for _, id := range stale {
			require.True(t, !x.Has(id) && x.Get(id) == nil && x.Refs(id) == 0)
		}
	}
}

func TestTextModel(t *testing.T) {
	for _, keep := range []uint32{math.MaxUint32, 3, 0} { // the last: all hashes are equal
		withTapes(t, 8, 1000, textStream(keep))
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("some texts, short and long"))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) <= 2000 {
			runTape(t, bytes, textStream(math.MaxUint32))
			runTape(t, bytes, textStream(1))
		}
	})
}

func TestTextMany(t *testing.T) {
	h := openHeap(t)
	x := NewText(h)
	defer x.Close()
	const n = 30_000
	ids := make([]TextID, n)
	text := func(i int) string { return fmt.Sprintf("player %d%s", i, strings.Repeat("!", i%9)) }
	for i := range n {
		id, err := x.Intern(text(i))
		require.NoError(t, err)
		ids[i] = id
	}
	require.NoError(t, x.Verify())
	for i := range n {
		if id, ok := x.Find(text(i)); !ok || id != ids[i] || string(x.Get(id)) != text(i) {
			t.Fatal(i)
		}
		if i%2 == 0 {
			x.Release(ids[i])
		}
	}
	require.NoError(t, x.Verify())
	full := h.Stats().LiveBytes
	for i := range n { // in the same entries
		id, err := x.Intern(text(i))
		require.NoError(t, err)
		require.Equal(t, i%2 == 1, id == ids[i])
		require.Equal(t, i%2 == 1, x.Has(ids[i]))
	}
	require.NoError(t, x.Verify())
	require.Less(t, h.Stats().LiveBytes, full*3/2)
	longest := 0
	for b := range x.buckets {
		chain := 0
		for i := *x.head(b); i != noEntry; i = x.entry(i).next {
			chain++
		}
		longest = max(longest, chain)
	}
	require.Less(t, longest, 30)
}

func TestTextBadInput(t *testing.T) {
	x := NewText(openHeap(t))
	defer x.Close()
	_, ok := x.Find("")
	require.False(t, ok)
	require.True(t, !x.Has(TextID{}) && x.Get(TextID{9, 1}) == nil)
	id, err := x.Intern("")
	require.NoError(t, err)
	require.NotNil(t, x.Get(id))
	require.Empty(t, x.Get(id))
	empty, ok := x.FindBytes(nil)
	require.True(t, ok && empty == id)
	x.Release(id)
	require.PanicsWithValue(t, "container: Text.Release: slot 0 generation 1 names no text", func() { x.Release(id) })
	require.PanicsWithValue(t, "container: Text.Retain: slot 0 generation 1 names no text", func() { x.Retain(id) })
	id, err = x.Intern("kept for good")
	require.NoError(t, err)
	x.entry(id.Slot).refs = math.MaxUint32 - 1
	x.refs = math.MaxUint32 - 1
	x.Retain(id)
	x.Retain(id)
	x.Release(id)
	require.Equal(t, math.MaxUint32, x.Refs(id))
	require.NoError(t, x.Verify())
	b := x.Get(id)
	again, err := x.InternBytes(b[:4]) // of its own bytes
	require.NoError(t, err)
	require.Equal(t, "kept", string(x.Get(again)))
	require.Equal(t, 17, x.Bytes())
	require.PanicsWithValue(t, "container: Text.Len: the container was not made by its New function",
		func() { new(Text).Len() })
	seen := 0
	for id := range x.All() { // changed meanwhile
		seen++
		if seen == 1 {
			_, err = x.Intern("one more")
			require.NoError(t, err)
			x.Release(again)
			x.entry(id.Slot)
		}
	}
	require.Equal(t, 2, seen)
	require.False(t, x.Has(TextID{again.Slot, again.Generation + 1}), "an id that Intern never gave")
}

func TestTextDamage(t *testing.T) {
	damaged := func(want string, f func(x *Text)) {
		t.Helper()
		x := NewText(openHeap(t))
		for _, s := range []string{"a", "b", "a text of more than twelve bytes", "gone"} {
			_, err := x.Intern(s)
			require.NoError(t, err)
		}
		x.Release(TextID{3, 1})
		require.NoError(t, x.Verify())
		var entries []textEntry
		for i := range x.made {
			entries = append(entries, *x.entry(i))
		}
		sound := *x
		var heads []uint32
		for b := range x.buckets {
			heads = append(heads, *x.head(b))
		}
		f(x)
		require.ErrorContains(t, x.Verify(), want)
		*x = sound
		for i, e := range entries {
			*x.entry(uint32(i)) = e
		}
		for b, i := range heads {
			*x.head(uint32(b)) = i
		}
		x.Close()
	}
	damaged("T1: entry 0 has hash", func(x *Text) { x.entry(0).inline[0] = 'x' })
	damaged("T1", func(x *Text) { x.entry(1).generation = 2 })
	damaged("T1", func(x *Text) { x.entry(0).next = 0 })
	damaged("T1: entry 2 is in the list of free ones", func(x *Text) { x.free = 2 })
	damaged("T1: 3 entries are live and 0 free, of 4", func(x *Text) { x.free = noEntry })
	damaged("T2", func(x *Text) {
		x.entry(1).inline, x.entry(1).hash = x.entry(0).inline, x.entry(0).hash
		for b := range x.buckets {
			*x.head(b) = noEntry
		}
		x.entry(0).next, x.entry(1).next = 1, noEntry
		*x.head(x.bucketOf(x.entry(0).hash)) = 0
	})
	damaged("T3", func(x *Text) { x.bytes++ })
	damaged("T3", func(x *Text) { x.refs++ })
	damaged("T4", func(x *Text) { x.buckets = 2 })
}

func TestTextGone(t *testing.T) {
	gone(t, func(a alloc.Allocator) (func(), string, func()) {
		x := NewText(a)
		return func() {
			_, err := x.Intern("a text of more than twelve bytes")
			require.NoError(t, err)
		}, "container: Text.Intern", x.Close
	})
}

func TestTextFailures(t *testing.T) {
	everyFailure(t, func(a alloc.Allocator) (err error) {
		x := NewText(a)
		defer x.Close()
		n := 0
		for i := range 1100 {
			if _, err = x.Intern(fmt.Sprintf("a text of more than twelve bytes %d", i*1000/(i+1)*i)); err != nil {
				break
			}
			n++
		}
		refs := 0
		for id := range x.All() {
			refs += x.Refs(id)
		}
		if bad := x.Verify(); bad != nil || refs != n {
			return fmt.Errorf("%d references of %d: %v", refs, n, bad)
		}
		return err
	})
}

func BenchmarkText(b *testing.B) {
	const n = 100_000
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("player %d", i)
	}
	x := NewText(openHeap(b))
	defer x.Close()
	b.Run("Intern, new", func(b *testing.B) {
		for i := range b.N {
			if i%n == 0 {
				x.Clear()
			}
			_, _ = x.Intern(names[i%n])
		}
	})
	b.Run("Intern, known", func(b *testing.B) {
		for i := range b.N {
			_, _ = x.Intern(names[i%n])
		}
	})
	id, _ := x.Intern(names[0])
	b.Run("Get", func(b *testing.B) {
		for range b.N {
			_ = x.Get(id)
		}
	})
	b.Run("map[string]uint32, known", func(b *testing.B) {
		m := map[string]uint32{}
		for i, s := range names {
			m[s] = uint32(i)
		}
		for i := range b.N {
			_ = m[names[i%n]]
		}
	})
}
