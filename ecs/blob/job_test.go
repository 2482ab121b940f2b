package blob_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/job"
)

// TestJobs: bodies on several workers read the blobs of their rows.
func TestJobs(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	shape := ecs.Register[Shape](w)
	all := make([]blob.Blob[Mesh], 50)
	for i := range all {
		all[i] = addMesh(t, s, i)
	}
	b, err := ecs.NewArchetype(w, shape).CreateN(20_000)
	require.NoError(t, err)
	n := 0
	for rows := range b.Rows() {
		for i := range shape.Slice(rows) {
			shape.Slice(rows)[i] = Shape{Mesh: all[n%50]}
			n++
		}
	}
	jobs := job.NewScheduler(w, job.Workers(4))
	defer jobs.Close()
	sum := job.NewPartials[int]()
	read := jobs.For(ecs.NewQuery(w, ecs.Read(shape))).Uses(ecs.Read(s.Type())).Reduces(sum)
	for range 3 {
		h := read.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			meshes := blob.NewLookup[Mesh](s, c.Accessor())
			curves := blob.NewLookup[Curve](s, c.Accessor())
			if curves.Get(blob.Blob[Curve]{}) != nil {
				panic("there is no such curve")
			}
			for _, x := range shape.Slice(rows) {
				m := meshes.Get(x.Mesh)
				*sum.At(c) += m.Parts.Len() + len(m.Name.Bytes())
			}
		})
		require.NoError(t, h.Complete())
		want := 0
		for i := range all {
			m := all[i].Get(s)
			want += 400 * (m.Parts.Len() + m.Name.Len())
		}
		require.Equal(t, want, sum.Fold(0, func(a, b int) int { return a + b }))
	}
	undeclared := jobs.For(ecs.NewQuery(w, ecs.Read(shape)))
	err = undeclared.Parallel(func(c *job.Ctx, rows ecs.Rows) { blob.NewLookup[Mesh](s, c.Accessor()) }).Complete()
	require.ErrorIs(t, err, job.ErrPanic)
	type Unknown struct{ X int }
	err = read.Parallel(func(c *job.Ctx, rows ecs.Rows) { blob.NewLookup[Unknown](s, c.Accessor()) }).Complete()
	require.ErrorContains(t, err, "blob: NewLookup: Unknown is not a type of the store")
}

// TestReaders: goroutines read blobs while the world is lent.
func TestReaders(t *testing.T) {
	w := newWorld(t)
	s := newStore(t, w)
	m := addMesh(t, s, 4)
	borrow := w.Lend()
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for range 100 {
				if m.Get(s).Parts.Len() != 4 || m.Count(s) != 1 {
					panic("the mesh is another")
				}
			}
		})
	}
	group.Wait()
	borrow.End()
	require.True(t, m.Release(s))
}
