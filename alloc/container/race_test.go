//go:build race

package container_test

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/container"
)

// raceProgram names the program below that a process is to run.
const raceProgram = "QUARRY_RACE_PROGRAM"

// racePrograms have one goroutine change a container and another one read it, or both read it.
func racePrograms(a alloc.Allocator) map[string][2]func() {
	q, _ := container.NewQueue[int](a)
	p, _ := container.NewPriorityQueue[int, int](a)
	b, x, buffer := container.NewBitset(a), container.NewText(a), container.NewBuffer(a)
	l, _ := container.NewList[int](a)
	ada, _ := l.PushBack(1)
	bob, _ := l.PushBack(2)
	other := container.NewBitset(a)
	_ = other.Set(100)
	_ = q.PushSlice(make([]int, 10))
	_ = p.Push(1, 1)
	_ = b.Set(100)
	id, _ := x.Intern("Ada")
	_, _ = buffer.WriteString("abc")
	_ = q.Reserve(10) // so that the calls below change as little as possible
	_ = p.Reserve(10)
	return map[string][2]func(){
		"Queue.PushBack, Front":       {func() { _ = q.PushBack(1) }, func() { q.Front() }},
		"Queue.PopFront, At":          {func() { q.PopFront() }, func() { q.At(5) }},
		"PriorityQueue.Push, Peek":    {func() { _ = p.Push(1, 1) }, func() { p.Peek() }},
		"PriorityQueue.Pop, Len":      {func() { p.Pop() }, func() { p.Len() }},
		"PriorityQueue.Replace, Peek": {func() { p.Replace(1, 2) }, func() { p.Peek() }},
		"List.PushBack, Get":          {func() { _, _ = l.PushBack(3) }, func() { l.Get(ada) }},
		"List.MoveToFront, Next":      {func() { l.MoveToFront(bob) }, func() { l.Next(ada) }},
		"List.Remove, Front":          {func() { l.Remove(bob) }, func() { l.Front() }},
		"Bitset.Set, And of another":  {func() { _ = b.Set(101) }, func() { other.And(b) }},
		"Bitset.Set, Has":             {func() { _ = b.Set(101) }, func() { b.Has(3) }},
		"Bitset.Clear, Next":          {func() { b.Clear(5) }, func() { b.Next(0) }},
		"Text.Intern, Get":            {func() { _, _ = x.Intern("Bob") }, func() { x.Get(id) }},
		"Text.Retain, Find":           {func() { x.Retain(id) }, func() { x.Find("Eve") }},
		"Buffer.WriteByte, Len":       {func() { _ = buffer.WriteByte(1) }, func() { buffer.Len() }},
		"Buffer.Read, Bytes":          {func() { _, _ = buffer.Read(make([]byte, 1)) }, func() { buffer.Bytes() }},
		"none: readers": {
			func() {
				q.At(1)
				p.Peek()
				b.Has(100)
				l.Get(l.Next(l.Front()))
				x.Get(id)
				x.Find("Ada")
				buffer.Bytes()
			},
			func() {
				q.At(1)
				p.Peek()
				b.Has(100)
				l.Get(l.Next(l.Front()))
				x.Get(id)
				x.Find("Ada")
				buffer.Bytes()
			},
		},
	}
}

// TestRaceDetector runs each program in a process of its own, over memory that the race detector
// does not see.
func TestRaceDetector(t *testing.T) {
	pages := alloc.NewPages()
	programs := racePrograms(pages)
	if name := os.Getenv(raceProgram); name != "" {
		var wait, begun sync.WaitGroup
		begun.Add(len(programs[name]))
		for _, f := range programs[name] {
			wait.Go(func() {
				// The detector may take a goroutine for one that has ended.
				begun.Done()
				begun.Wait()
				f()
			})
		}
		wait.Wait()
		return
	}
	for name := range programs {
		t.Run(name, func(t *testing.T) {
			run := exec.Command(os.Args[0], "-test.run=^TestRaceDetector$")
			run.Env = append(os.Environ(), raceProgram+"="+name, "GORACE=")
			out, err := run.CombinedOutput()
			if name == "none: readers" {
				require.NoError(t, err, "%s", out)
				return
			}
			require.Error(t, err)
			require.Contains(t, string(out), "WARNING: DATA RACE")
			require.NotContains(t, string(out), "panic")
		})
	}
}
