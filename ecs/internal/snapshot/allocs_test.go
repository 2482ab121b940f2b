package snapshot_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// TestSnapshotsAllocateNothing: once all memory has been taken, renewing and restoring snapshots
// allocate nothing on the Go heap, whatever is written between.
func TestSnapshotsAllocateNothing(t *testing.T) {
	if debug.On {
		t.Skip("debug builds allocate")
	}
	ecstest.SkipCheckptr(t)
	for name, write := range map[string]func(s *snapWorld, list []ecs.Entity){
		"rows in place": func(s *snapWorld, _ []ecs.Entity) {
			for rows := range s.write.Rows() {
				s.place.Slice(rows)[0].X++
			}
		},
		"rows that come and go": func(s *snapWorld, list []ecs.Entity) {
			s.Destroy(list[3])
			s.plain.Create()
			s.big.Add(list[7], snapBig{})
		},
		"buffers": func(s *snapWorld, list []ecs.Entity) {
			b, _ := s.hits.Mut(list[5])
			for i := range 50 {
				b.Append(uint32(i))
			}
		},
		"sparse values": func(s *snapWorld, list []ecs.Entity) {
			s.load.Remove(list[2])
			s.load.Add(list[9], snapLoad{1})
			s.load.Set(list[4], snapLoad{3})
		},
		"bits, chunk values": func(s *snapWorld, list []ecs.Entity) {
			s.speed.Disable(list[1])
			for rows := range s.boxes.Rows() {
				s.box.At(rows).Low++
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSnapWorld(t, 1)
			// Finding it allocates in builds without assembly.
			s.plain = ecs.NewArchetype(s.World, s.place)
			// A restore gives up archetypes that came since.
			ecs.NewArchetype(s.World, s.place, s.speed, s.hits, s.box, s.big)
			batch, err := ecs.NewArchetype(s.World, s.place, s.speed, s.hits, s.box).CreateN(2000)
			require.NoError(t, err)
			list := batch.Entities(nil)
			for _, e := range list[:5] {
				s.load.Add(e, snapLoad{2})
			}
			for _, e := range list[5:40] {
				s.hits.Append(e, make([]uint32, 30)...)
			}
			m := s.Snapshot()
			pass := func() {
				m.Renew()
				write(s, list)
				if err := s.Restore(m); err != nil {
					t.Fatal(err)
				}
				write(s, list)
				if err := s.Restore(m); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 {
				pass()
			}
			require.Zero(t, testing.AllocsPerRun(50, pass), "no other is alive")
			older := s.Snapshot()
			for range 20 {
				pass()
			}
			require.Zero(t, testing.AllocsPerRun(50, pass), "an older one is alive")
			older.Close()
			require.NoError(t, s.Verify())
		})
	}
}
