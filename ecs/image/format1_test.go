package image_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// testdata/format1.world.gz is a world of format 1 with something of each kind. It was written
// once, on a CPU with cache lines of 64 bytes, and is never written anew: each later version opens
// it, with the content below.

// Types of the file. Their names, fields and options are part of it.
type (
	f1Place struct{ X, Y float32 }       // can be disabled, rows have versions
	f1Owner struct{ Of ecs.Entity }      // outlives its entity
	f1Flag  struct{}                     // a tag
	f1Item  struct{ Kind, Count uint16 } // of a buffer, 2 in the row
	f1Port  struct {                     // shared
		Name string
		Dock int32
	}
	f1Fire  struct{ Since int64 }       // sparse, can be disabled
	f1Sum   struct{ Total uint32 }      // of a chunk
	f1Route struct{ Ports []string }    // managed, with a codec
	f1Note  struct{ text string }       // managed, with methods
	f1Crew  struct{ Name *string }      // shared, with a codec
	f1Child struct{ Parent ecs.Entity } // of a hierarchy
)

func (n f1Note) MarshalBinary() ([]byte, error)     { return []byte(n.text), nil }
func (n *f1Note) UnmarshalBinary(data []byte) error { n.text = string(data); return nil }

// f1World is a world with the types of the file.
type f1World struct {
	w     *ecs.World
	place ecs.Component[f1Place]
	owner ecs.Component[f1Owner]
	flag  ecs.Component[f1Flag]
	items ecs.Buffer[f1Item]
	port  ecs.Shared[f1Port]
	fire  ecs.Sparse[f1Fire]
	sum   ecs.Chunk[f1Sum]
	route ecs.Managed[f1Route]
	note  ecs.Managed[f1Note]
	link  ecs.Managed[*f1Note]
	crew  ecs.Shared[f1Crew]
	child ecs.Component[f1Child]
	group ecs.Buffer[ecs.LinkedEntity]
}

func (m *f1World) register(w *ecs.World) {
	*m = f1World{
		w: w, place: ecs.Register[f1Place](w, ecs.Enableable, ecs.TrackRows), owner: ecs.Register[f1Owner](w, ecs.Cleanup),
		flag: ecs.Register[f1Flag](w), items: ecs.RegisterBuffer[f1Item](w, ecs.Inline(2)),
		port: ecs.RegisterShared[f1Port](w), fire: ecs.RegisterSparse[f1Fire](w, ecs.Enableable), sum: ecs.RegisterChunk[f1Sum](w),
		route: ecs.RegisterManaged[f1Route](w, ecs.Enableable, ecs.Codec(
			func(b []byte, r *f1Route) ([]byte, error) { return append(b, strings.Join(r.Ports, " ")...), nil },
			func(b []byte, r *f1Route) error { r.Ports = strings.Fields(string(b)); return nil })),
		note: ecs.RegisterManaged[f1Note](w), link: ecs.RegisterManaged[*f1Note](w),
		crew: ecs.RegisterShared[f1Crew](w, ecs.Codec(
			func(b []byte, c *f1Crew) ([]byte, error) { return append(b, *c.Name...), nil },
			func(b []byte, c *f1Crew) error { s := string(b); c.Name = &s; return nil })),
		child: ecs.Register[f1Child](w), group: ecs.RegisterBuffer[ecs.LinkedEntity](w),
	}
}

// tell writes all that the world has, line by line.
func (m *f1World) tell() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	q := ecs.NewQueryOfAll(m.w)
	defer q.Close()
	for rows := range q.Rows() {
		a := rows.Archetype()
		var names []string
		for _, c := range a.Components() {
			names = append(names, c.Name)
		}
		line("%s", strings.Join(names, ", "))
		if v, ok := m.port.At(rows); ok {
			line("  port %+v", v)
		}
		// An archetype of a changed file may name no value: then it is zero.
		if v, ok := m.crew.At(rows); ok && v.Name != nil {
			line("  crew %s", *v.Name)
		}
		for _, e := range rows.Entities() {
			line("  %v %q", e, m.w.Name(e))
			if p := m.place.Get(e); p != nil {
				line("    place %v, enabled %v, changed since 2 %v", *p, m.place.Enabled(e), m.place.ChangedSince(e, 2))
			}
			if o := m.owner.Get(e); o != nil {
				line("    owner %v", o.Of)
			}
			if c := m.child.Get(e); c != nil {
				line("    child of %v", c.Parent)
			}
			if l, ok := m.items.Get(e); ok {
				line("    items %v", l.Slice())
			}
			if l, ok := m.group.Get(e); ok {
				line("    group %v", l.Slice())
			}
			if f := m.fire.Get(e); f != nil {
				line("    fire %v, enabled %v", *f, m.fire.Enabled(e))
			}
			if s := m.sum.Get(e); s != nil {
				line("    sum %v", *s)
			}
			if a.Has(m.route) {
				line("    route %v, enabled %v", m.route.Get(e), m.route.Enabled(e))
			}
			if n := m.note.Get(e); a.Has(m.note) {
				line("    note %v", n)
			}
			if n := m.link.Get(e); n != nil && *n != nil {
				line("    link to %v", **n)
			} else if n != nil {
				line("    link to nil")
			} else if a.Has(m.link) {
				line("    no link")
			}
		}
	}
	return b.String()
}

// f1Content is what tell writes of the file.
const f1Content = `f1Place, []f1Item, f1Port, chunk f1Sum, managed f1Route
  port {Name:Genoa Dock:7}
  1v1 "flagship"
    place {0 -1.5}, enabled true, changed since 2 false
    items []
    sum {77}
    route <nil>, enabled true
  2v1 "ship"
    place {1 -1.5}, enabled false, changed since 2 false
    items [{1 0} {1 1} {1 2}]
    fire {1000}, enabled true
    sum {77}
    route &{[Oslo Port1]}, enabled true
  3v1 "ship"
    place {0.25 8}, enabled true, changed since 2 true
    items [{2 0} {2 1} {2 2} {2 3} {2 4} {2 5}]
    sum {77}
    route <nil>, enabled true
  4v1 ""
    place {3 -1.5}, enabled true, changed since 2 false
    items [{3 0} {3 1} {3 2} {3 3} {3 4} {3 5} {3 6} {3 7} {3 8}]
    fire {3000}, enabled false
    sum {77}
    route &{[Oslo Port3]}, enabled false
f1Owner, f1Flag, managed f1Note, managed *image_test.f1Note, f1Crew
  crew Anna
  6v1 ""
    owner 1v1
    fire {5000}, enabled true
    note &{note 5}
    link to {friend}
  7v1 ""
    owner 1v1
    note <nil>
    link to nil
f1Place, f1Flag, f1Crew, f1Child
  crew Ben
  9v1 ""
    place {8 -1.5}, enabled true, changed since 2 false
    child of 1v1
Prefab, []LinkedEntity, f1Place, managed f1Route
  10v1 ""
    place {0 0}, enabled true, changed since 2 false
    group [{10v1} {11v1}]
    route &{[none]}, enabled true
Prefab, f1Child
  11v1 ""
    child of 10v1
CleanupEntity, f1Owner
  8v1 ""
    owner 1v1
f1Flag
  8192v1 ""
`

// formatOne returns the bytes of the file.
func formatOne(t testing.TB) []byte {
	f, err := os.Open("testdata/format1.world.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	all, err := io.ReadAll(z)
	require.NoError(t, err)
	return all
}

// TestFormatOne: the file has its content, opened, mapped or read, and is written as the same
// bytes again, but for the version of the world, which has gone on.
func TestFormatOne(t *testing.T) {
	file := formatOne(t)
	path := filepath.Join(t.TempDir(), "one.world")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	require.NoError(t, image.Check(path))
	for name, open := range map[string]func(m *f1World) (*ecs.World, error){
		"Open":    func(m *f1World) (*ecs.World, error) { return image.Open(path, m.register) },
		"Checked": func(m *f1World) (*ecs.World, error) { return image.Open(path, m.register, image.Checked()) },
		"Load":    func(m *f1World) (*ecs.World, error) { return image.Load(bytes.NewReader(file), m.register) },
	} {
		t.Run(name, func(t *testing.T) {
			var m f1World
			w, err := open(&m)
			require.NoError(t, err)
			defer func() { require.NoError(t, w.Close()) }()
			require.NoError(t, w.Verify())
			require.Equal(t, f1Content, m.tell())
			require.EqualValues(t, 5, w.Version())
			again := filepath.Join(t.TempDir(), "again.world")
			require.NoError(t, image.SaveFile(w, again))
			sameSections(t, path, again)
			m.goOn(t)
		})
	}
}

// sameSections requires that sections of two files are the same, but for what the version of the
// world makes differ: a number in tables, and checksums.
func sameSections(t *testing.T, path, again string) {
	one, err := image.Describe(path)
	require.NoError(t, err)
	two, err := image.Describe(again)
	require.NoError(t, err)
	require.Equal(t, one.Version+1, two.Version)
	require.Equal(t, one.Sections, two.Sections)
	a, err := os.ReadFile(path)
	require.NoError(t, err)
	b, err := os.ReadFile(again)
	require.NoError(t, err)
	differ := map[string]int{}
	for _, s := range one.Sections {
		for at := s.Offset; at < s.Offset+s.Bytes; at++ {
			if a[at] != b[at] {
				differ[s.Name]++
			}
		}
	}
	require.Equal(t, 1, differ["tables"], "the version")
	delete(differ, "header")
	delete(differ, "tables")
	delete(differ, "sums")
	require.Empty(t, differ)
}

// goOn asks for what a walk does not show: the ids that come next, reserved and not, and the name
// of two.
func (m *f1World) goOn(t *testing.T) {
	ship, ok := m.w.Named("ship")
	require.True(t, ok)
	require.Equal(t, "3v1", ship.String(), "the one named last")
	require.Equal(t, "12v1", ecs.NewArchetype(m.w).Create().String())
	next := make([]ecs.Entity, 1)
	require.NoError(t, m.w.Reserve(next))
	require.Equal(t, "8195v1", next[0].String())
	_, err := ecs.NewArchetype(m.w, m.flag).CreateReserved(next)
	require.NoError(t, err)
	require.NoError(t, m.w.Verify())
}
