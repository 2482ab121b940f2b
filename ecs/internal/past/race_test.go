package past_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/past"
)

// TestReadersBesideWrites: goroutines read layers while others write, and see each unit as it was.
// A unit holds one number, everywhere.
func TestReadersBesideWrites(t *testing.T) {
	const words, count = past.UnitSize / 8, 2 * units
	memory := make([]uint64, count*words)
	var p past.Past
	p.Open(newUniverse(t, 16<<20))
	m := p.Add(unsafe.Pointer(&memory[0]), len(memory)*8)
	var readers sync.WaitGroup
	var read atomic.Int64
	var open []*past.Layer
	for round := range 60 {
		l := p.Begin()
		open = append(open, l)
		want := make([]uint64, count)
		for unit := range want {
			want[unit] = memory[unit*words]
		}
		for g := range 2 {
			readers.Go(func() {
				got := make([]uint64, words)
				for i := range 40 {
					unit := (i*7 + g*3 + round) % count
					// Safe because words have the bytes of a unit.
					if err := l.Read(m, unit,
						unsafe.Slice((*byte)(unsafe.Pointer(&got[0])), past.UnitSize)); err != nil {
						t.Error(err)
						return
					}
					for _, v := range got {
						if v != want[unit] {
							t.Errorf("layer %d: unit %d has %d, want %d", l.Number(), unit, v, want[unit])
							return
						}
					}
					read.Add(1)
				}
			})
		}
		var writers sync.WaitGroup
		for range 2 {
			writers.Go(func() { // both pass the barrier of the same units; one writes, by pieces
				for unit := range count {
					if (unit+round)%3 != 0 {
						m.BeforeWrite(unsafe.Pointer(&memory[unit*words]), past.UnitSize)
					}
				}
			})
		}
		for g := range 2 {
			writers.Go(func() {
				for unit := g; unit < count; unit += 2 {
					if (unit+round)%3 == 0 {
						continue
					}
					for _, i := range rand.Perm(pieces) {
						piece := memory[unit*words+i*words/pieces:][:words/pieces]
						m.BeforeWrite(unsafe.Pointer(&piece[0]), past.PieceSize)
						for i := range piece {
							piece[i] = uint64(round + 1)
						}
					}
				}
			})
		}
		writers.Wait()
		if len(open) == 4 {
			readers.Wait()
			require.NoError(t, p.Verify())
			for _, i := range rand.Perm(len(open)) {
				open[i].Close()
				require.NoError(t, p.Verify())
			}
			open = open[:0]
		}
	}
	require.Positive(t, read.Load())
	require.Zero(t, p.Units())
}

// TestReadersBesideResize: memory moves while goroutines read layers.
func TestReadersBesideResize(t *testing.T) {
	var p past.Past
	p.Open(newUniverse(t, 16<<20))
	memory := bytes.Repeat([]byte{7}, 4*past.UnitSize)
	m := p.Add(unsafe.Pointer(&memory[0]), len(memory))
	l := p.Begin()
	var readers sync.WaitGroup
	var stop atomic.Bool
	for range 2 {
		readers.Go(func() {
			got := make([]byte, past.UnitSize)
			for unit := 0; !stop.Load(); unit = (unit + 1) % 4 {
				if err := l.Read(m, unit, got); err != nil || got[0] != 7 || got[past.UnitSize-1] != 7 {
					t.Errorf("unit %d has %d and %d: %v", unit, got[0], got[past.UnitSize-1], err)
					return
				}
			}
		})
	}
	for i := range 200 {
		m.Resize(func() (unsafe.Pointer, int) {
			old := memory
			memory = make([]byte, (4+i%3)*past.UnitSize)
			copy(memory, old)
			clear(old)
			return unsafe.Pointer(&memory[0]), len(memory)
		})
		m.BeforeWrite(m.Address(i/50), 1)
		memory[i/50*past.UnitSize] = byte(i)
	}
	stop.Store(true)
	readers.Wait()
	l.Close()
}
