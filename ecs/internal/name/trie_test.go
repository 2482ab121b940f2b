package name

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// item is a value whose key the tests choose.
type item struct{ k, v uint32 }

func (i item) key() uint32 { return i.k }

// TestTrieFollowsAModel adds, changes and removes values with keys of several kinds, among them
// keys that several values have, while roots of earlier moments stay as they were.
func TestTrieFollowsAModel(t *testing.T) {
	for kind, key := range map[string]func(r *rand.Rand) uint32{
		"any":                   func(r *rand.Rand) uint32 { return r.Uint32() },
		"few":                   func(r *rand.Rand) uint32 { return r.Uint32N(8) * 0x20000001 },
		"one":                   func(*rand.Rand) uint32 { return 0xdeadbeef },
		"two, the last bit":     func(r *rand.Rand) uint32 { return 0xfffffffe | r.Uint32N(2) },
		"the last bits":         func(r *rand.Rand) uint32 { return r.Uint32N(200) },
		"the first bits":        func(r *rand.Rand) uint32 { return r.Uint32() << 29 },
		"the first bits, a few": func(r *rand.Rand) uint32 { return r.Uint32() << 20 },
	} {
		t.Run(kind, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			x := trieModel{t: t, now: map[item]int{}}
			for step := range 2000 {
				x.step(r, key(r), step)
				if step%200 == 0 {
					x.compare(&x.trie, x.now)
					for i := range x.tries {
						x.compare(&x.tries[i], x.models[i])
					}
				}
			}
		})
	}
}

// trieModel is a trie beside a map from values to the number of each.
type trieModel struct {
	t      *testing.T
	trie   trie[item]
	now    map[item]int
	list   []item // the keys of the map, in no order
	tries  []trie[item]
	models []map[item]int
}

func (x *trieModel) step(r *rand.Rand, key uint32, step int) {
	switch n := r.IntN(100); {
	case n == 0:
		x.tries, x.models = append(x.tries, x.trie), append(x.models, maps.Clone(x.now))
		x.trie.now++
		if len(x.tries) > 5 {
			x.tries, x.models = x.tries[1:], x.models[1:]
		}
	case n == 1 && len(x.tries) > 0:
		i := r.IntN(len(x.tries))
		x.trie.root, x.now, x.list = x.tries[i].root, maps.Clone(x.models[i]), nil
		x.trie.now++
		for v := range x.now {
			x.list = append(x.list, v)
		}
	case n < 40 && len(x.list) > 0:
		at := r.IntN(len(x.list))
		old := x.list[at]
		where := slices.Index(x.trie.find(old.k).values, old)
		delete(x.now, old)
		if n < 20 {
			x.trie.remove(old.k, where)
			x.list = slices.Delete(x.list, at, at+1)
			return
		}
		changed := item{old.k, uint32(step)}
		*x.trie.change(old.k, where) = changed
		x.now[changed], x.list[at] = 1, changed
	default:
		v := item{key, uint32(step)}
		x.trie.add(key, v)
		x.now[v] = 1
		x.list = append(x.list, v)
	}
}

func (x *trieModel) compare(trie *trie[item], model map[item]int) {
	got := map[item]int{}
	require.NoError(x.t, trie.root.verify(trie.now, 0, 0, func(v *item) error { got[*v]++; return nil }))
	require.Equal(x.t, model, got)
	n := 0
	trie.root.all(func(v *item) bool { n++; return got[*v] == 1 })
	require.Equal(x.t, len(model), n)
	for v := range model {
		if !slices.Contains(trie.find(v.k).values, v) {
			x.t.Fatalf("%v is not found", v)
		}
	}
	if len(model) > 1 {
		n = 0
		require.False(x.t, trie.root.all(func(*item) bool { n++; return n < 2 }), "it stops")
		require.Equal(x.t, 2, n)
	}
}
