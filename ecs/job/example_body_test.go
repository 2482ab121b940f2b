package job_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"quarry/ecs"
	"quarry/ecs/job"
)

// A body of one row at a time, which notes rows in a mask of its chunk: calls begin at multiples of
// 64 rows, so no two write a word.
func ExampleEach2() {
	type Place struct{ X float64 }
	type Speed struct{ X float64 }
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	place, speed := ecs.Register[Place](w), ecs.Register[Speed](w)
	runners := ecs.NewArchetype(w, place, speed)
	if _, err := runners.CreateN(500); err != nil { // in one chunk
		fmt.Println(err)
		return
	}
	q := ecs.NewQuery(w, ecs.Write(place), ecs.Read(speed))
	for rows := range q.Rows() {
		for i, e := range rows.Entities() {
			speed.Mut(e).X = float64(i % 10)
		}
	}
	s := job.NewScheduler(w)
	defer s.Close()
	var arrived [8]uint64
	run := s.For(q).Named("run").Parallel(
		job.Each2(place, speed, func(c *job.Ctx, row int, p *Place, v *Speed) {
			if p.X += v.X; p.X >= 5 {
				at := c.Row() + row
				arrived[at/64] |= 1 << (at % 64)
			}
		}))
	for !run.Done() { // or Complete, which waits
	}
	count := 0
	for _, word := range arrived {
		count += bits.OnesCount64(word)
	}
	fmt.Println(count, "arrived", s.Complete())
	// Output: 250 arrived <nil>
}

// Two jobs share a counter but no type, so one is made to wait for the other. Missiles whose target
// is gone are counted.
func ExampleJob_After() {
	type Missile struct{ Target ecs.Entity }
	type Score struct{ Points int }
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	missile, score := ecs.Register[Missile](w), ecs.Register[Score](w)
	scores := ecs.NewArchetype(w, score)
	here, gone := scores.Create(), scores.Create()
	missiles := ecs.NewArchetype(w, missile)
	for range 10 {
		for _, target := range []ecs.Entity{here, gone} {
			missile.Set(missiles.Create(), Missile{target})
		}
	}
	w.Destroy(gone)
	s := job.NewScheduler(w)
	defer s.Close()
	var lost atomic.Int32
	fly := s.For(ecs.NewQuery(w, ecs.Read(missile))).Named("fly")
	count := s.For(ecs.NewQuery(w, ecs.Write(score))).Named("count")
	flown := fly.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		for _, m := range missile.Slice(rows) {
			if !c.Alive(m.Target) {
				lost.Add(1)
			}
		}
	})
	count.After(flown).Schedule(func(_ *job.Ctx, rows ecs.Rows) {
		for i := range score.Slice(rows) {
			score.Slice(rows)[i].Points = int(lost.Load())
		}
	})
	fmt.Println(s.Complete(), *score.Get(here))
	// Output: <nil> {10}
}

// A body that panics is an error of Complete, with the stack of the body.
func ExamplePanicError() {
	type Account struct{ Cents int }
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	account := ecs.Register[Account](w)
	ecs.NewArchetype(w, account).Create()
	s := job.NewScheduler(w)
	defer s.Close()
	audit := s.For(ecs.NewQuery(w, ecs.Read(account))).Named("audit")
	h := audit.Parallel(func(_ *job.Ctx, rows ecs.Rows) {
		panic(fmt.Errorf("%d accounts are empty", rows.Len()))
	})
	err = h.Complete()
	var failed *job.PanicError
	fmt.Println(errors.As(err, &failed), errors.Is(err, job.ErrPanic))
	fmt.Println(failed.Job, "at part", failed.Ordinal, "-", failed.Value)
	fmt.Println(bytes.Contains(failed.Stack, []byte("ExamplePanicError")))
	// Output:
	// true true
	// audit at part 0 - 1 accounts are empty
	// true
}
