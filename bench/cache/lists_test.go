package main

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// plainLRU is a slow twin of a shard: the entries in the order of use.
type plainLRU struct {
	list   []listEntry
	atMost int
}

func (p *plainLRU) get(key string) ([]byte, bool) {
	i := slices.IndexFunc(p.list, func(e listEntry) bool { return e.key == key })
	if i < 0 {
		return nil, false
	}
	e := p.list[i]
	p.list = slices.Insert(slices.Delete(p.list, i, i+1), 0, e)
	return e.value, true
}

func (p *plainLRU) set(key string, value []byte) {
	p.list = slices.DeleteFunc(p.list, func(e listEntry) bool { return e.key == key })
	p.list = slices.Insert(p.list, 0, listEntry{key: key, value: slices.Clone(value)})
	for p.bytes() > p.atMost {
		p.list = p.list[:len(p.list)-1]
	}
}

func (p *plainLRU) bytes() (sum int) {
	for _, e := range p.list {
		sum += e.size()
	}
	return sum
}

func TestListsAreLRU(t *testing.T) {
	s, err := newLists(bound{bytes: 500, mean: 10})
	require.NoError(t, err)
	twin := &plainLRU{atMost: 500}
	r := rand.New(rand.NewPCG(3, 4))
	for range 4_000 {
		key := strconv.Itoa(r.IntN(100))
		if r.IntN(2) == 0 {
			value := make([]byte, r.IntN(30))
			value = append(value, byte(r.Uint32()))
			s.set(key, value, time.Duration(r.IntN(2))*time.Hour)
			twin.set(key, value)
		} else {
			got, ok := s.get(key, nil)
			want, wantOK := twin.get(key)
			require.Equal(t, wantOK, ok)
			require.Equal(t, want, got)
		}
		require.Equal(t, twin.bytes(), s.bytes())
	}
	require.NoError(t, s.close())
}

// TestHitsHaveTheLatestValue: whatever a cache evicts, a value that it finds is the one set last
// or, in a cache that delays sets, one set before. Such a cache may take them when all gets are
// over, so now and then it is waited for.
func TestHitsHaveTheLatestValue(t *testing.T) {
	for i := range contenders {
		c := &contenders[i]
		t.Run(c.name, func(t *testing.T) {
			e := newEntries()
			s, err := c.open(bound{smallest, e.mean(), sessionTime})
			require.NoError(t, err)
			set := map[string][]string{}
			r := rand.New(rand.NewPCG(5, 6))
			found := 0
			var buffer, into []byte
			into = make([]byte, 0, valueMost)
			for step := range 2000 {
				if s, ok := s.(interface{ settle() }); ok && step%100 == 99 {
					s.settle()
				}
				n := r.Uint32N(500)
				buffer = e.key(n, buffer[:0])
				if r.IntN(2) == 0 {
					key := string(buffer)
					made := e.value(r.Uint32(), nil)
					s.set(text(buffer), made, lifetime(key))
					set[key] = append(set[key], string(made))
					clear(made) // the cache has its own
				} else if got, ok := s.get(text(buffer), into[:0]); ok {
					all := set[string(buffer)]
					age := slices.Index(all, string(got))
					require.True(t, age == len(all)-1 || c.late && age >= 0, "value %d of the %d that were set",
						age, len(all))
					found++
				}
			}
			require.Equal(t, c.null, found == 0)
			require.NoError(t, s.close())
		})
	}
}
