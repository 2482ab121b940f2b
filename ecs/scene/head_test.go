package scene_test

import (
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// TestBadHeads: a file with good checksums and a wrong head is refused by name, and no memory is
// allocated for it.
func TestBadHeads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "head.world")
	write := func(entities int, head func(w *ecs.World)) {
		w, err := ecs.NewWorld()
		require.NoError(t, err)
		registerTown(w)
		scene.Register(w)
		identity, tag := ecs.Register[scene.Identity](w), ecs.RegisterShared[scene.Tag](w)
		a := ecs.NewArchetype(w, identity, tag, ecs.Register[Door](w))
		for i := range entities {
			identity.Set(a.Create(), scene.Identity{Object: uint64(i + 1), Local: uint32(i)})
		}
		head(w)
		require.NoError(t, image.SaveFile(w, path))
		require.NoError(t, w.Close())
	}
	g := newGame(t)
	for want, head := range map[string]func(*ecs.World){
		"it has no head": func(*ecs.World) {},
		"its head has format 9, this program knows":          func(w *ecs.World) { scene.MakeHead(w, 9, 1, 2, "s") },
		"it has 2 entities, its head says 4294967295":        func(w *ecs.World) { scene.MakeHead(w, 1, 1, ^uint32(0), "s") },
		"it has 2 entities, its head says 1":                 func(w *ecs.World) { scene.MakeHead(w, 1, 1, 1, "s") },
		"entities are in part 0 of 0":                        func(w *ecs.World) { scene.MakeHead(w, 1, 0, 2, "s") },
		"a link of entity 2 to 0, of 2 entities and 1 types": func(w *ecs.World) { scene.MakeHead(w, 1, 1, 2, "s\x00x", [3]uint32{2, 0, 0}) },
		"a link of entity 0 to 0, of 2 entities and 0 types": func(w *ecs.World) { scene.MakeHead(w, 1, 1, 2, "s", [3]uint32{0, 0, 0}) },
		"a link of entity 0 to 2, of 2 entities and 1 types": func(w *ecs.World) { scene.MakeHead(w, 1, 1, 2, "s\x00x", [3]uint32{0, 0, 2}) },
		"it has 4294967295 parts, and 2 entities":            func(w *ecs.World) { scene.MakeHead(w, 1, ^uint32(0), 2, "s") },
		"entity number 0, of 2, is there twice or too much":  func(w *ecs.World) { twice(w); scene.MakeHead(w, 1, 1, 2, "s") },
	} {
		write(2, head)
		err := g.fail(path)
		require.ErrorIs(t, err, scene.ErrSection)
		require.ErrorContains(t, err, want)
	}
	write(2, func(w *ecs.World) { scene.MakeHead(w, 1, 1, 2, "s\x00unknown", [3]uint32{0, 0, 1}) })
	require.Equal(t, "s", g.load(path)[0].Name()) // a type that nobody knows: its links are left out
}

// twice gives both entities one number.
func twice(w *ecs.World) {
	identity := ecs.Register[scene.Identity](w)
	q := ecs.NewQuery(w, ecs.Write(identity))
	defer q.Close()
	for rows := range q.Rows() {
		for i := range identity.Slice(rows) {
			identity.Slice(rows)[i].Local = 0
		}
	}
}
