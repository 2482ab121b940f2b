package name

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
)

func id(index uint32) entity.ID { return entity.Make(index, entity.TagOf(3), 1) }

// model is a plain map of texts, and lists, the one that was named last at the end.
type model struct {
	texts map[uint32]string
	lists map[string][]entity.ID
}

func (m *model) remove(index uint32) {
	text, ok := m.texts[index]
	if !ok {
		return
	}
	list := m.lists[text]
	at := slices.Index(list, id(index))
	if m.lists[text] = slices.Concat(list[:at], list[at+1:]); len(list) == 1 {
		delete(m.lists, text)
	}
	delete(m.texts, index)
}

func (m *model) set(index uint32, text string) {
	if m.texts[index] == text {
		return
	}
	m.remove(index)
	if text != "" {
		m.texts[index] = text
		m.lists[text] = append(slices.Clip(m.lists[text]), id(index))
	}
}

// clone shares the lists, which are never written.
func (m *model) clone() *model { return &model{maps.Clone(m.texts), maps.Clone(m.lists)} }

func (m *model) compare(t *testing.T, n *Names) {
	require.NoError(t, n.Verify())
	require.Equal(t, len(m.texts), n.Len())
	texts, lists := map[uint32]string{}, map[string][]entity.ID{}
	for e, text := range n.All() {
		if e != id(e.Index()) || n.Of(e.Index()) != text {
			t.Fatalf("%v has the name %q, and %q", e, text, n.Of(e.Index()))
		}
		texts[e.Index()] = text
	}
	for text := range n.Texts() {
		all := slices.Collect(n.AllNamed(text))
		if front, ok := n.Named(text); !ok || all[0] != front || lists[text] != nil {
			t.Fatalf("%q names %v, %v is in front", text, front, all[0])
		}
		slices.Reverse(all)
		lists[text] = all
	}
	require.True(t, maps.Equal(m.texts, texts))
	require.True(t, maps.EqualFunc(m.lists, lists, slices.Equal))
}

// collide returns two texts with the same hash.
func collide() (a, b string) {
	seen := map[uint32]string{}
	for i := 0; ; i++ {
		text := fmt.Sprint("text ", i)
		if other, ok := seen[hashOf(text)]; ok {
			return other, text
		}
		seen[hashOf(text)] = text
	}
}

// TestNamesFollowAModel names entities, takes shares, returns to older and newer ones, and drops
// them. Few texts make long lists, and two of the texts have one hash.
func TestNamesFollowAModel(t *testing.T) {
	a, b := collide()
	for _, size := range []struct{ entities, texts, steps, each int }{
		{3, 2, 3000, 1}, {40, 3, 6000, 5}, {40, 100, 6000, 5}, {1000, 5, 9000, 500}, {3000, 6000, 20_000, 1000}, {30_000, 20_000, 60_000, 20_000},
	} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(size.entities), uint64(size.texts)))
			texts := []string{"", a, b}
			for i := range size.texts {
				texts = append(texts, fmt.Sprint("n", i))
			}
			var names Names
			var shares []Names
			var models []*model
			now := &model{map[uint32]string{}, map[string][]entity.ID{}}
			for step := range size.steps {
				switch k := r.IntN(min(size.each, 100) + 20); {
				case k == 0 && r.IntN(3) == 0:
					shares, models = append(shares, names.Share()), append(models, now.clone())
				case k == 1 && len(shares) > 0 && r.IntN(3) == 0:
					i := r.IntN(len(shares))
					names.Return(&shares[i])
					now = models[i].clone()
				case k == 2 && len(shares) > 4:
					i := r.IntN(len(shares))
					shares, models = slices.Delete(shares, i, i+1), slices.Delete(models, i, i+1)
				default:
					index, text := 1+r.Uint32N(uint32(size.entities)), texts[r.IntN(len(texts))]
					if r.IntN(5) == 0 {
						names.Remove(index)
						now.remove(index)
						break
					}
					names.Set(id(index), text)
					now.set(index, text)
				}
				if step%size.each == 0 {
					now.compare(t, &names)
					for i := range shares {
						models[i].compare(t, &shares[i])
					}
				}
			}
		})
	}
}

// TestIterationStops: the iterators stop where the loop does.
func TestIterationStops(t *testing.T) {
	var n Names
	for range n.AllNamed("same") {
		t.Fatal("nothing has the name")
	}
	for i := range uint32(100) {
		n.Set(id(1+i), "same")
		n.Set(id(1000+i), fmt.Sprint(i))
	}
	seen := 0
	for range n.All() {
		if seen++; seen == 50 {
			break
		}
	}
	for range n.Texts() {
		if seen++; seen == 100 {
			break
		}
	}
	for e := range n.AllNamed("same") {
		if seen++; seen == 150 {
			require.Equal(t, id(51), e)
			break
		}
	}
	require.Equal(t, 150, seen)
}

// TestTextsAreCopied writes the bytes of a text afterwards. Entities with the same text have one
// copy.
func TestTextsAreCopied(t *testing.T) {
	var n Names
	text := []byte("door")
	for i := range uint32(2) {
		// Safe because text has 4 bytes; it is written while nobody else has the string.
		n.Set(id(1+i), unsafe.String(&text[0], len(text)))
	}
	text[0] = 'f'
	require.Equal(t, "door", n.Of(1))
	e, ok := n.Named("door")
	require.True(t, ok)
	require.Equal(t, id(2), e)
	// Safe because both are strings that have bytes; the addresses are compared alone.
	require.Same(t, unsafe.StringData(n.Of(1)), unsafe.StringData(n.Of(2)))
	require.NoError(t, n.Verify())
}

// TestChangesAreBounded: what a change allocates after a share does not grow with the names, but by
// the branches of a level for eight times as many.
func TestChangesAreBounded(t *testing.T) {
	for _, count := range []uint32{1000, 100_000} {
		var n Names
		for i := range count {
			n.Set(id(1+i), fmt.Sprint("the entity number ", i))
		}
		next, kept := uint32(0), []Names(nil)
		change := func() {
			kept = append(kept[:0], n.Share())
			next = (next + 7919) % count
			n.Set(id(1+next), "another")
		}
		for range 100 { // the list of "another" has a front and a second entry
			change()
		}
		const rounds = 1000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			change()
		}
		runtime.ReadMemStats(&after)
		require.Less(t, (after.TotalAlloc-before.TotalAlloc)/rounds, uint64(16<<10), "bytes a change, of %d names",
			count)
		require.Less(t, (after.Mallocs-before.Mallocs)/rounds, uint64(60), "objects a change, of %d names", count)
		require.NoError(t, n.Verify())
	}
}

// TestReadersBesideChanges: goroutines read what was shared while the owner changes names, returns
// to older ones, and shares again.
func TestReadersBesideChanges(t *testing.T) {
	const count, rounds = 600, 60
	r := rand.New(rand.NewPCG(8, 1))
	var names Names
	var shares []Names
	var models []*model
	now := &model{map[uint32]string{}, map[string][]entity.ID{}}
	var readers sync.WaitGroup
	for round := range rounds {
		share, m := names.Share(), now.clone()
		shares, models = append(shares, share), append(models, m)
		for range 2 {
			readers.Go(func() {
				if err := share.Verify(); err != nil {
					t.Error(err)
				}
				for i := range uint32(count) {
					if got := share.Of(1 + i); got != m.texts[1+i] {
						t.Errorf("round %d: index %d has the name %q, want %q", round, 1+i, got, m.texts[1+i])
						return
					}
				}
				for text, list := range m.lists {
					if e, _ := share.Named(text); e != list[len(list)-1] {
						t.Errorf("round %d: %q names %v, want %v", round, text, e, list[len(list)-1])
						return
					}
				}
			})
		}
		for range 300 {
			index, text := 1+r.Uint32N(count), fmt.Sprint("n", r.IntN(count))
			names.Set(id(index), text)
			now.set(index, text)
		}
		if i := r.IntN(len(shares)); round%3 == 2 {
			names.Return(&shares[i])
			now = models[i].clone()
		}
	}
	readers.Wait()
	now.compare(t, &names)
	for i := range shares {
		models[i].compare(t, &shares[i])
	}
}

// TestVerifyNamesTheInvariant corrupts each in turn.
func TestVerifyNamesTheInvariant(t *testing.T) {
	for _, way := range []struct {
		invariant string
		corrupt   func(n *Names)
	}{
		{"N1: on level 2", func(n *Names) { n.entries.find(keyOf(7)).born = n.entries.now + 1 }},
		{"N1: on level 0", func(n *Names) { n.lists.root.values = []list{{}} }},
		{"N1: on level 0", func(n *Names) { n.lists.root = slot[list]{values: make([]list, full+1)} }},
		{"N1: the key", func(n *Names) { n.entries.find(keyOf(7)).values = n.entries.find(keyOf(8)).values }},
		{"N2", func(n *Names) {
			s := n.entries.find(keyOf(7))
			s.values = append(s.values, s.values[0])
		}},
		{"N3", func(n *Names) {
			l, _ := n.list(hashOf("same"), "same")
			l.text = "other"
		}},
		{"N3", func(n *Names) {
			s := n.lists.find(hashOf("same"))
			s.values = append(s.values, s.values[0])
		}},
		{"N4: index 9 follows 0", func(n *Names) { n.change(9).text = "other" }},
		{"N4: index 8 follows 9", func(n *Names) { n.change(8).prev = 7 }},
		{"N4: index 4000 follows 8", func(n *Names) { n.change(8).next = 4000 }},
		{"N4: 9v3 is in front", func(n *Names) {
			l, _ := n.list(hashOf("same"), "same")
			l.front = entity.Make(9, l.front.Tag(), 3)
		}},
		{"N4: 299 entities are in", func(n *Names) { n.change(8).next = 0 }},
		{"N4: 300 entities are in", func(n *Names) { n.n++ }},
	} {
		var n Names
		for i := range uint32(300) {
			n.Set(id(1+i), fmt.Sprint(i))
		}
		for _, index := range []uint32{7, 8, 9} {
			n.Set(id(index), "same")
		}
		require.NoError(t, n.Verify())
		way.corrupt(&n)
		require.ErrorContains(t, n.Verify(), "name: "+way.invariant)
	}
}
