package command

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// spawns is how many entities BenchmarkSpawn makes in a round.
const spawns = 1_000_000

// spawner makes entities of three components, each with values of its own, in the three ways
// that BenchmarkSpawn compares.
type spawner struct {
	w     *ecs.World
	pos   ecs.Component[position]
	vel   ecs.Component[velocity]
	hp    ecs.Component[health]
	units *ecs.Archetype
	cb    *Buffer
}

func newSpawner(b *testing.B) *spawner {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	s := &spawner{w: w, pos: ecs.Register[position](w), vel: ecs.Register[velocity](w), hp: ecs.Register[health](w)}
	s.units = ecs.NewArchetype(w, s.pos, s.vel, s.hp)
	s.cb = NewBuffer(w)
	return s
}

func (s *spawner) close(b *testing.B) {
	s.cb.Close()
	require.NoError(b, s.w.Close())
}

// byHand makes each entity at once and sets its values.
func (s *spawner) byHand() {
	for i := range spawns {
		e := s.units.Create()
		s.pos.Set(e, position{float64(i), 1})
		s.vel.Set(e, velocity{1, float64(i)})
		s.hp.Set(e, health{float64(i)})
	}
}

// byBatch makes all entities at once and writes the columns.
func (s *spawner) byBatch(b *testing.B) {
	batch, err := s.units.CreateN(spawns)
	require.NoError(b, err)
	i := 0
	for rows := range batch.Rows() {
		p, v, h := s.pos.Slice(rows), s.vel.Slice(rows), s.hp.Slice(rows)
		for j := range p {
			p[j], v[j], h[j] = position{float64(i), 1}, velocity{1, float64(i)}, health{float64(i)}
			i++
		}
	}
}

func (s *spawner) record() {
	for i := range spawns {
		e := s.cb.Create(s.units)
		Set(s.cb, e, s.pos, position{float64(i), 1})
		Set(s.cb, e, s.vel, velocity{1, float64(i)})
		Set(s.cb, e, s.hp, health{float64(i)})
	}
}

func (s *spawner) play(b *testing.B) {
	if err := s.cb.Play(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSpawn makes a million entities with three values each, by a buffer and without one, in
// turns. With "cold" each turn has a new world, and so has the buffer; with "warm" the world was
// cleared and the memory of both is there. It reports ms a round, by how much record and Play
// together take longer than by hand, and what a turn of the buffer leaves: the buffer's own
// memory and what Go's heap and the process hold more than before the buffer's turn, the world
// emptied.
func BenchmarkSpawn(b *testing.B) {
	b.Run("cold", func(b *testing.B) { benchmarkSpawn(b, newSpawner, (*spawner).close) })
	b.Run("warm", func(b *testing.B) {
		one := newSpawner(b)
		defer one.close(b)
		one.byHand()
		one.w.Clear()
		one.record()
		one.play(b)
		one.w.Clear()
		benchmarkSpawn(b, func(*testing.B) *spawner { return one }, func(s *spawner, _ *testing.B) { s.w.Clear() })
	})
}

func benchmarkSpawn(b *testing.B, begin func(*testing.B) *spawner, end func(*spawner, *testing.B)) {
	var hand, batch, record, play time.Duration
	var heap, resident, bytes int64
	for b.Loop() {
		s := begin(b)
		hand += timed(s.byHand)
		end(s, b)

		s = begin(b)
		batch += timed(func() { s.byBatch(b) })
		end(s, b)

		s = begin(b)
		beforeHeap, beforeResident := held(b)
		record += timed(s.record)
		bytes = max(bytes, s.cb.Bytes())
		play += timed(func() { s.play(b) })
		afterHeap, afterResident := held(b)
		heap, resident = max(heap, afterHeap-beforeHeap), max(resident, afterResident-beforeResident)
		b.ReportMetric(float64(s.cb.Bytes())/1e6, "MB-buffer-kept")
		end(s, b)
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(b.N) }
	b.ReportMetric(ms(hand), "ms-hand")
	b.ReportMetric(ms(batch), "ms-CreateN")
	b.ReportMetric(ms(record), "ms-record")
	b.ReportMetric(ms(play), "ms-play")
	b.ReportMetric(float64(record+play)/float64(hand), "x-hand")
	b.ReportMetric(float64(bytes)/1e6, "MB-recorded")
	b.ReportMetric(float64(heap)/1e6, "MB-heap-kept")
	b.ReportMetric(float64(resident)/1e6, "MB-rss-more")
	b.ReportMetric(0, "ns/op")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// held returns the bytes that Go's heap and the process hold.
func held(b *testing.B) (heap, resident int64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	require.NoError(b, err)
	return int64(m.HeapAlloc), pages * int64(os.Getpagesize())
}
