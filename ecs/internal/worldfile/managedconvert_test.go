package worldfile_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// parcel is a managed type of a file, crate what it has become: its codec reads what it wrote.
type (
	parcel struct{ Text string }
	crate  struct {
		Weight int
		Text   string
	}
)

func encodeParcel(b []byte, p *parcel) ([]byte, error) { return append(b, p.Text...), nil }
func encodeCrate(b []byte, c *crate) ([]byte, error)   { return append(b, c.Text...), nil }
func decodeParcel(b []byte, p *parcel) error           { p.Text = string(b); return nil }

func decodeCrate(b []byte, c *crate) error {
	*c = crate{len(b), string(b)}
	return nil
}

// TestManagedValuesOfRowsThatChange: values of a managed type whose Go type has changed, of rows
// that are converted, of three archetypes of the file that become one; and of a type that entities
// lose.
func TestManagedValuesOfRowsThatChange(t *testing.T) {
	for _, n := range []int{1, 70, 3000} {
		w := ecstest.NewWorld(t)
		mood, only := ecs.Register[oldMood](w), ecs.Register[oldOnly](w)
		text := ecs.RegisterManaged[parcel](w, ecs.Codec(encodeParcel, decodeParcel))
		lost := ecs.RegisterManaged[note](w, ecs.Codec(encodeNote, decodeNote))
		var all []ecs.Entity
		for _, a := range []*ecs.Archetype{
			ecs.NewArchetype(w, text, mood), ecs.NewArchetype(w, text, mood, only),
			ecs.NewArchetype(w, text, mood, lost), ecs.NewArchetype(w, text),
		} {
			batch, err := a.CreateN(n)
			require.NoError(t, err)
			all = append(all, batch.Entities(nil)...)
		}
		for i, e := range all {
			mood.Set(e, oldMood{int16(i)})
			lost.Set(e, note{Text: "gone"})
			if i%5 > 0 {
				text.Set(e, parcel{fmt.Sprint("text ", i)})
			}
		}
		f := imageOfWorld(t, w)
		f.Rules = &worldfile.Rules{Drop: []string{"oldOnly", "note"},
			Types: []worldfile.Rename{{Old: "oldMood", New: "newMood"}, {Old: "parcel", New: "crate"}}}
		var level ecs.Component[newMood]
		var box ecs.Managed[crate]
		o, err := door.OpenImage(f, func(w *ecs.World) {
			level, box = ecs.Register[newMood](w), ecs.RegisterManaged[crate](w, ecs.Codec(encodeCrate, decodeCrate))
		}, nil)
		require.NoError(t, err)
		require.NoError(t, o.Verify())
		for i, e := range all {
			want := crate{}
			if s := fmt.Sprint("text ", i); i%5 > 0 {
				want = crate{len(s), s}
			}
			if got := box.Get(e); i%5 > 0 {
				require.Equal(t, want, *got, "%v", e)
			} else {
				require.Nil(t, got)
			}
			if i < 3*n {
				require.Equal(t, newMood{int32(int16(i))}, *level.Get(e))
			}
		}
		require.Equal(t, 3*n, ecs.NewArchetype(o, level, box).Len())
		require.NoError(t, o.Close())
	}
}
