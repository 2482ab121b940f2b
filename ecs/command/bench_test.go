package command

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }
type health struct{ V float64 }

const many = 1 << 20

type benchmark struct {
	name   string
	record func(cb *Buffer)
}

// BenchmarkPlay plays a million commands, each about another entity of [position velocity], and
// one about a query of as many: ns a command, or an entity. Recording is not timed.
func BenchmarkPlay(b *testing.B) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	defer w.Close()
	pos, vel, hp := ecs.Register[position](w), ecs.Register[velocity](w), ecs.Register[health](w)
	movers := ecs.NewArchetype(w, pos, vel)
	all, hurt := ecs.NewQuery(w, ecs.With(pos)), ecs.NewQuery(w, ecs.With(hp))
	heal := ecs.NewChange(w, ecs.Remove(hp))
	list := make([]ecs.Entity, 0, many)
	// begin makes the million again.
	begin := func(shuffled bool) {
		w.Clear()
		batch, err := movers.CreateN(many)
		require.NoError(b, err)
		list = batch.Entities(list[:0])
		if shuffled {
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
	}
	addAll := func(cb *Buffer) {
		for i, e := range list {
			Add(cb, e, hp, health{float64(i)})
		}
	}
	for _, c := range []benchmark{
		{"add", addAll},
		{"addshuffled", addAll},
		{"addquery", func(cb *Buffer) { Add(cb, all, hp, health{1}) }},
		{"addlist", func(cb *Buffer) { Add(cb, list, hp, health{1}) }},
		{"addtwo", func(cb *Buffer) { // two commands of each of half a million
			for i, e := range list[:many/2] {
				Add(cb, e, hp, health{float64(i)})
				Set(cb, e, pos, position{1, 2})
			}
		}},
		{"set", func(cb *Buffer) {
			for i, e := range list {
				Set(cb, e, pos, position{float64(i), 0})
			}
		}},
		{"remove", func(cb *Buffer) {
			for _, e := range list {
				cb.Remove(e, vel)
			}
		}},
		{"destroy", func(cb *Buffer) {
			for _, e := range list {
				cb.Destroy(e)
			}
		}},
		{"create", func(cb *Buffer) { // two commands an entity
			for i := range many / 2 {
				Set(cb, cb.Create(movers), pos, position{float64(i), 0})
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			cb := NewBuffer(w)
			defer cb.Close()
			begin(c.name == "addshuffled")
			for b.Loop() {
				b.StopTimer()
				switch c.name {
				case "remove", "destroy", "create":
					begin(false)
				default:
					_, err := heal.ApplyQuery(hurt)
					require.NoError(b, err)
				}
				c.record(cb)
				b.StartTimer()
				if err := cb.Play(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/many, "ns/command")
		})
	}
}

// BenchmarkDirect makes the changes of BenchmarkPlay/add at once, one call each: what a buffer's
// record and Play are to be compared with.
func BenchmarkDirect(b *testing.B) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	defer w.Close()
	pos, vel, hp := ecs.Register[position](w), ecs.Register[velocity](w), ecs.Register[health](w)
	batch, err := ecs.NewArchetype(w, pos, vel).CreateN(many)
	require.NoError(b, err)
	list := batch.Entities(nil)
	hurt, heal := ecs.NewQuery(w, ecs.With(hp)), ecs.NewChange(w, ecs.Remove(hp))
	for b.Loop() {
		b.StopTimer()
		_, err := heal.ApplyQuery(hurt)
		require.NoError(b, err)
		b.StartTimer()
		for i, e := range list {
			hp.Add(e, health{float64(i)})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/many, "ns/command")
}

// BenchmarkRecord records one command.
func BenchmarkRecord(b *testing.B) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	defer w.Close()
	pos, hp := ecs.Register[position](w), ecs.Register[health](w)
	e := ecs.NewArchetype(w, pos).Create()
	cb := NewBuffer(w)
	defer cb.Close()
	n := 0
	for b.Loop() {
		if n++; n == 1<<16 {
			cb.Clear()
			n = 0
		}
		Add(cb, e, hp, health{1})
	}
}
