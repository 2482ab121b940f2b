package journal_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

type (
	red   struct{ N int }
	green struct{ N int }
	blue  struct{ N int }
)

// TestJournalKeepsArchetypesWithoutRows: a world that a journal opens has the archetypes of the one
// that it was, those without rows too, from the base and from the log, so both go on in the same
// order.
func TestJournalKeepsArchetypesWithoutRows(t *testing.T) {
	register := func(w *ecs.World) {
		ecs.Register[red](w)
		ecs.Register[green](w)
		ecs.Register[blue](w)
	}
	visits := func(w *ecs.World) (all []ecs.Entity) {
		q := ecs.NewQueryOfAll(w)
		defer q.Close()
		for rows := range q.Rows() {
			all = append(all, rows.Entities()...)
		}
		return all
	}
	for steps := range 4 {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			folder := t.TempDir()
			j, err := journal.Open(folder, register, journal.SyncEach())
			require.NoError(t, err)
			w := j.World()
			r, g := ecs.Register[red](w), ecs.Register[green](w)
			e := ecs.NewArchetype(w).Create()
			g.Add(e, green{1}) // archetypes that nobody holds, and that have no rows in the end
			r.Add(e, red{1})
			g.Remove(e)
			r.Remove(e)
			require.NoError(t, j.Commit())
			for step := range steps {
				switch step {
				case 0:
					require.NoError(t, j.Rebase())
				case 1:
					ecs.NewArchetype(w, ecs.Register[blue](w))
				case 2:
					w.Shrink(0) // the first ones are given up, and one of them comes again
					r.Add(e, red{2})
					r.Remove(e)
				}
				require.NoError(t, j.Commit())
			}
			require.NoError(t, j.Close())
			j, err = journal.Open(folder, register)
			require.NoError(t, err)
			opened := j.World()
			for _, w := range []*ecs.World{w, opened} {
				r, g, b := ecs.Register[red](w), ecs.Register[green](w), ecs.Register[blue](w)
				for _, a := range []*ecs.Archetype{
					ecs.NewArchetype(w, b), ecs.NewArchetype(w, r), ecs.NewArchetype(w, r, g), ecs.NewArchetype(w, g),
				} {
					a.Create()
				}
			}
			require.Len(t, visits(w), 5)
			require.Equal(t, visits(w), visits(opened))
			require.Equal(t, w.Hash(), opened.Hash())
			require.NoError(t, j.Close())
			require.NoError(t, opened.Close())
			require.NoError(t, w.Close())
		})
	}
}
