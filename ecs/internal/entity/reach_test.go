package entity_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
)

// TestBlocksInterleave makes blocks for the owner (o) and for reservations (p) in turn: they are
// numbered upwards in the order in which they are made, and all that is alive is found, the
// reserved ids from Revive on.
func TestBlocksInterleave(t *testing.T) {
	for _, order := range []string{"op", "po", "opopo", "pop", "ppoop", "oppppo", "pppppppppppppppppppo"} {
		t.Run(order, func(t *testing.T) {
			s := newStore(t)
			var alive []entity.ID
			var reserved [][]entity.ID
			seen := map[entity.ID]bool{}
			for number, kind := range order {
				ids := make([]entity.ID, usable)
				if number == 0 {
					ids = ids[1:] // index 0 is nobody's
				}
				if kind == 'o' {
					require.NoError(t, s.MakeRoom(len(ids)))
					s.TakeRows(1, ids)
					alive = append(alive, ids...)
				} else {
					require.NoError(t, s.Reserve(ids))
					reserved = append(reserved, ids)
				}
				for _, e := range ids {
					require.Equal(t, kind, rune(order[e.Index()/blockSize]), "%v", e)
					require.Equal(t, uint32(1), e.Version())
					require.False(t, seen[e], "%v", e)
					seen[e] = true
				}
				require.Equal(t, number+1, s.Blocks()+s.ReservedBlocks())
				for _, ids := range reserved {
					require.Nil(t, s.Find(ids[0]))
					require.Nil(t, s.Find(ids[len(ids)-1]))
				}
				verify(t, s, len(alive))
			}
			for _, ids := range reserved {
				revive(t, s, ids)
				s.MoveRows(ids, 1000)
				alive = append(alive, ids...)
				verify(t, s, len(alive))
			}
			view := s.View()
			require.Equal(t, len(order)*blockSize, view.Len())
			for _, e := range alive {
				require.True(t, s.Find(e) != nil && s.Find(e) == view.Record(e))
			}
			for i, ids := range reserved {
				require.Equal(t, entity.Location(1005), s.Locate(ids[5]))
				s.Move(ids[5], 7)
				require.Equal(t, entity.Location(7), s.Find(ids[5]).Location)
				if i%2 == 0 {
					s.FreeIDs(ids)
				} else {
					for _, e := range ids {
						give(t, s, e)
					}
				}
				alive = alive[:len(alive)-len(ids)]
				require.Equal(t, entity.Nowhere, view.Record(ids[5]).Location)
			}
			verify(t, s, len(alive))
			require.Zero(t, s.Reserved())
		})
	}
}

// TestIndex0Reserved: index 0 is nobody's where a goroutine makes the first block, too.
func TestIndex0Reserved(t *testing.T) {
	s := newStore(t)
	ids := reserve(t, s, usable-1)
	require.Equal(t, 1, s.ReservedBlocks())
	require.Equal(t, usable-1, s.Reserved())
	for _, version := range []uint32{0, 1, 2, 3, 1<<32 - 1} {
		require.Zero(t, s.Hold([]entity.ID{with(ids[0], 0, version)}))
	}
	revive(t, s, ids)
	s.FreeIDs(ids)
	verify(t, s, 0)
	for _, e := range reserve(t, s, usable-1) {
		require.NotZero(t, e.Index())
	}
	require.Equal(t, 1, s.ReservedBlocks())
	require.Equal(t, uint32(blockSize), take(t, s).Index())
}

// TestReachRefused: where records are refused memory nothing has changed, and the reserved ids stay
// so.
func TestReachRefused(t *testing.T) {
	for _, blocks := range []int{1, 3, 40} { // a run that is extended or moves, and a reservation beside the universe
		t.Run(fmt.Sprint(blocks), func(t *testing.T) {
			refusals := 0
			require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) (err error) {
				// One for each failure, all open until the end.
				s := open(t, newUniverse(t, 4<<20, alloc.InjectFailures(f)))
				if err = s.MakeRoom(100); err != nil {
					return err
				}
				own := s.Take(3)
				ids := make([]entity.ID, blocks*usable)
				if err = s.Reserve(ids); err != nil {
					verify(t, s, 1)
					require.Zero(t, s.ReservedBlocks())
					return err
				}
				view := s.View()
				if err = s.Reach(); err != nil {
					refusals++
					require.Equal(t, view, s.View())
					verify(t, s, 1)
					require.PanicsWithValue(t,
						fmt.Sprintf("entity: Store.Revive: %v has no record, there are %d: Reach comes first",
							ids[0], blockSize),
						func() { s.Revive(ids) })
					takeBack(t, s, ids)
					require.NotNil(t, s.Find(own))
					return err
				}
				revive(t, s, ids)
				verify(t, s, 1+len(ids))
				require.NoError(t, s.Reach())
				if err = s.MakeRoom(s.Free() + 1); err != nil {
					verify(t, s, 1+len(ids))
				}
				return err
			}))
			require.Positive(t, refusals)
		})
	}
}
