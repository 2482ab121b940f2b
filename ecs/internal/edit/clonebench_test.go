package edit_test

import (
	"bytes"
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkClone: a clone of 200,000 entities, into a universe, beside a copy of as many bytes into
// chunks of one: rows, records, and elements of buffers that have spilled.
func BenchmarkClone(b *testing.B) {
	const n = 200_000
	for _, spilled := range []int{0, 12, 100} { // elements of 16 bytes of each buffer
		w := ecstest.NewWorld(b)
		position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
		types, size := []ecs.Type{position, velocity}, n*(16+16+8+8)
		hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
		if spilled > 0 {
			types = append(types, hits)
			size += n * (16 + 16 + 16*spilled) // a header, room for one element in the row, and a block
		}
		batch, err := ecs.NewArchetype(w, types...).CreateN(n)
		require.NoError(b, err)
		if spilled > 0 {
			for rows := range batch.Rows() {
				for _, e := range rows.Entities() {
					buf, _ := hits.Mut(e)
					buf.Append(make([]ecstest.Hit, spilled)...)
				}
			}
		}
		from := bytes.Repeat([]byte{1}, size) // written, or its pages would all be one
		name := fmt.Sprintf("elements=%d/bytes=%d", spilled, size)
		b.Run(name+"/clone", func(b *testing.B) {
			u, err := alloc.NewUniverse()
			require.NoError(b, err)
			for b.Loop() {
				c, err := w.Clone(ecs.WithUniverse(u))
				require.NoError(b, err)
				b.StopTimer()
				require.NoError(b, c.Close())
				b.StartTimer()
			}
			require.NoError(b, u.Close())
		})
		b.Run(name+"/copy", func(b *testing.B) {
			u, err := alloc.NewUniverse()
			require.NoError(b, err)
			for b.Loop() {
				var runs []alloc.ChunkIndex
				for left := from; len(left) > 0; {
					run, err := u.AllocExact(alloc.ChunksPerMegachunk)
					require.NoError(b, err)
					left = left[copy(u.Bytes(run, alloc.ChunksPerMegachunk), left):]
					runs = append(runs, run)
				}
				b.StopTimer()
				for _, run := range runs {
					u.Free(run, alloc.ChunksPerMegachunk)
				}
				b.StartTimer()
			}
			require.NoError(b, u.Close())
		})
	}
}

// BenchmarkFork: a fork of a snapshot of 200,000 entities of 40 bytes, the first of the snapshot
// and a later one, beside a clone of the world, into a universe.
func BenchmarkFork(b *testing.B) {
	const n = 200_000
	w := ecstest.NewWorld(b)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	_, err := ecs.NewArchetype(w, position, velocity).CreateN(n)
	require.NoError(b, err)
	u, err := alloc.NewUniverse()
	require.NoError(b, err)
	s := w.Snapshot()
	for name, copied := range map[string]func(...ecs.Option) (*ecs.World, error){
		"first": func(o ...ecs.Option) (*ecs.World, error) { s.Renew(); return s.Fork(o...) },
		"later": func(o ...ecs.Option) (*ecs.World, error) { return s.Fork(o...) },
		"clone": func(o ...ecs.Option) (*ecs.World, error) { return w.Clone(o...) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c, err := copied(ecs.WithUniverse(u))
				require.NoError(b, err)
				b.StopTimer()
				require.NoError(b, c.Close())
				b.StartTimer()
			}
		})
	}
	s.Close()
	require.NoError(b, u.Close())
}
