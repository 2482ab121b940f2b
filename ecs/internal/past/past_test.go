package past_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/past"
)

// units of a test's memory.
const units = 40

func newMemory(n int) []byte { return make([]byte, n*past.UnitSize) }

// slow is a past of two memories beside whole copies of them.
type slow struct {
	t        *testing.T
	p        past.Past
	r        *rand.Rand
	memories [2][]byte
	of       [2]*past.Memory
	layers   []*layer
	born     [2]map[int]bool // units that came after all layers that there are
}

type layer struct {
	l      *past.Layer
	copies [2][]byte
	lacks  [2]map[int]bool // units that came later
}

func newSlow(t *testing.T, seed uint64) *slow {
	s := &slow{t: t, r: rand.New(rand.NewPCG(seed, 1))}
	for i := range s.memories {
		s.memories[i] = newMemory(units)
		s.of[i] = s.p.Add(unsafe.Pointer(&s.memories[i][0]), len(s.memories[i]))
	}
	return s
}

// write writes some bytes of some units.
func (s *slow) write() {
	i, first := s.r.IntN(2), s.r.IntN(units)
	n := 1 + s.r.IntN(min(3, units-first))
	require.NoError(s.t, s.of[i].Gate(first, n))
	for unit := first; unit < first+n; unit++ {
		s.memories[i][unit*past.UnitSize+s.r.IntN(past.UnitSize)] = byte(s.r.Uint32())
	}
}

// replace lets a unit be of no layer that there is.
func (s *slow) replace() {
	i, unit := s.r.IntN(2), s.r.IntN(units)
	if len(s.layers) > 1 { // older layers may have shown it: only for units of none
		return
	}
	for _, l := range s.layers {
		l.lacks[i][unit] = true
	}
	s.of[i].Born(unit, 1)
	s.memories[i][unit*past.UnitSize] = byte(s.r.Uint32())
}

func (s *slow) begin() {
	l := &layer{l: s.p.Begin()}
	for i := range s.memories {
		l.copies[i], l.lacks[i] = bytes.Clone(s.memories[i]), map[int]bool{}
	}
	s.layers = append(s.layers, l)
}

// show compares some units of a layer with its copies.
func (s *slow) show(l *layer) {
	i, first := s.r.IntN(2), s.r.IntN(units)
	n := 1 + s.r.IntN(units-first)
	for unit := first; unit < first+n; unit++ {
		if l.lacks[i][unit] {
			return
		}
	}
	p, err := l.l.Show(s.of[i], first, n)
	require.NoError(s.t, err)
	got := unsafe.Slice((*byte)(p), n*past.UnitSize)
	require.True(s.t, bytes.Equal(l.copies[i][first*past.UnitSize:(first+n)*past.UnitSize], got), "units %d to %d", first, first+n)
}

// restore puts the memories back, and compares what was said to have changed.
func (s *slow) restore(l *layer) {
	before := [2][]byte{bytes.Clone(s.memories[0]), bytes.Clone(s.memories[1])}
	seen := [2]map[int]bool{{}, {}}
	require.NoError(s.t, l.l.Restore(func(m *past.Memory, unit int) {
		i := slices.Index(s.of[:], m)
		require.False(s.t, seen[i][unit], "a unit is restored once")
		seen[i][unit] = true
	}))
	for i := range s.memories {
		for unit := range units {
			at := unit * past.UnitSize
			now := s.memories[i][at : at+past.UnitSize]
			if l.lacks[i][unit] {
				continue
			}
			require.True(s.t, bytes.Equal(l.copies[i][at:at+past.UnitSize], now), "unit %d", unit)
			require.Equal(s.t, !bytes.Equal(before[i][at:at+past.UnitSize], now), seen[i][unit], "unit %d", unit)
		}
	}
}

// TestAgainstCopies does all that a past does at random, beside whole copies.
func TestAgainstCopies(t *testing.T) {
	for seed := range uint64(8) {
		s := newSlow(t, seed)
		for range 600 {
			switch op := s.r.IntN(20); {
			case op < 10:
				s.write()
			case op == 10:
				s.replace()
			case op < 13 && len(s.layers) < 6:
				s.begin()
			case op == 13 && len(s.layers) > 0:
				i := s.r.IntN(len(s.layers))
				require.NoError(t, s.layers[i].l.Close())
				s.layers = slices.Delete(s.layers, i, i+1)
			case op == 14 && len(s.layers) > 0:
				s.restore(s.layers[s.r.IntN(len(s.layers))])
			case len(s.layers) > 0:
				s.show(s.layers[s.r.IntN(len(s.layers))])
			}
			require.NoError(t, s.p.Verify())
			require.Equal(t, len(s.layers), s.p.Layers())
		}
		for _, l := range s.layers {
			require.NoError(t, l.l.Close())
		}
		require.NoError(t, s.p.Release())
	}
}

// TestReadersBesideWrites: goroutines read layers while others write, and see each unit as it was.
// A unit holds one number, everywhere.
func TestReadersBesideWrites(t *testing.T) {
	memory := make([]uint64, units*past.UnitSize/8)
	var p past.Past
	m := p.Add(unsafe.Pointer(&memory[0]), len(memory)*8)
	const words = past.UnitSize / 8
	var readers sync.WaitGroup
	var done atomic.Bool
	var open []*past.Layer
	for round := range 60 {
		l := p.Begin()
		open = append(open, l)
		want := make([]uint64, units)
		for unit := range want {
			want[unit] = memory[unit*words]
		}
		for g := range 2 {
			readers.Go(func() {
				for i := 0; i < 20 && !done.Load(); i++ {
					unit := (i*7 + g*3 + round) % units
					at, err := l.Show(m, unit, 1)
					if err != nil {
						panic(err)
					}
					for _, v := range unsafe.Slice((*uint64)(at), words) {
						if v != want[unit] {
							panic(fmt.Sprintf("layer %d: unit %d has %d, want %d", l.Number(), unit, v, want[unit]))
						}
					}
				}
			})
		}
		var writers sync.WaitGroup
		for g := range 2 {
			writers.Go(func() {
				for unit := g; unit < units; unit += 2 {
					if (unit+round)%3 == 0 {
						continue
					}
					if err := m.Gate(unit, 1); err != nil {
						panic(err)
					}
					for i := range words {
						memory[unit*words+i] = uint64(round + 1)
					}
				}
			})
		}
		writers.Wait()
		if len(open) == 4 {
			readers.Wait()
			require.NoError(t, p.Verify())
			for _, i := range rand.Perm(len(open)) {
				require.NoError(t, open[i].Close())
				require.NoError(t, p.Verify())
			}
			open = open[:0]
		}
	}
	done.Store(true)
	readers.Wait()
}
