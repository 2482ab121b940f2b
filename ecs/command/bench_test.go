package command

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"
)

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }
type health struct{ V float64 }

const many = 1 << 20

// BenchmarkPlayAdds plays a million Adds, each of another entity, all of one archetype: in the
// order of rows, in random order, and spread over 64 archetypes in random order.
func BenchmarkPlayAdds(b *testing.B) {
	for _, c := range []struct {
		name            string
		shuffled, parts bool
	}{{"inorder", false, false}, {"shuffled", true, false}} {
		b.Run(c.name, func(b *testing.B) {
			w, err := ecs.NewWorld()
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			pos, vel, hp := ecs.Register[position](w), ecs.Register[velocity](w), ecs.Register[health](w)
			from := ecs.NewArchetype(w, pos, vel)
			batch, err := from.CreateN(many)
			if err != nil {
				b.Fatal(err)
			}
			list := batch.Entities(nil)
			if c.shuffled {
				rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			}
			cb := NewBuffer(w)
			defer cb.Close()
			q := ecs.NewQuery(w, ecs.With(hp))
			back := ecs.NewChange(w, ecs.Remove(hp))
			for b.Loop() {
				b.StopTimer()
				back.ApplyQuery(q)
				for i, e := range list {
					Add(cb, e, hp, health{float64(i)})
				}
				b.StartTimer()
				if err := cb.Play(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/many, "ns/command")
		})
	}
}

func BenchmarkRecordAdd(b *testing.B) {
	w, _ := ecs.NewWorld()
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
