package worldfile_test

import (
	"reflect"
	"slices"
	"strings"

	"quarry/ecs"
	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
	"quarry/ecs/internal/worldfile"
	"quarry/internal/long"
)

// hostileScale is how many times longer the lists of lies are than in a short test.
var hostileScale = long.N(1, 20)

// imageLies are what somebody may write into the described sections of a file, by name.
var imageLies = map[string]func(meta [worldfile.ImageMeta][]byte) [worldfile.ImageMeta][]byte{
	"more types than there can be": lie(func(im *worldfile.WorldImage) {
		for range ecs.MaxTypes {
			im.Types = append(im.Types, im.Types[4])
		}
	}),
	"a kind that there is not": lie(func(im *worldfile.WorldImage) { im.Types[4].Kind = 77 }),
	"a type twice, with other options": lie(func(im *worldfile.WorldImage) {
		im.Types = append(im.Types, im.Types[4])
		im.Types[len(im.Types)-1].MaxRows = 7
	}),
	"a type twice": lie(func(im *worldfile.WorldImage) { im.Types = append(im.Types, im.Types[4]) }),
	"names that Go has not": lieOfTypes(func(t *worldfile.ImageType) {
		for i := range t.Fields {
			t.Fields[i].Name = []string{"a-b", "\x00", "é.日", "\xff\xfe", "_", "1"}[i%6]
		}
	}),
	"names of types": lieOfTypes(func(t *worldfile.ImageType) { t.Name = "[[." + t.Name + "]/\x00" }),
	"deep arrays": lieOfTypes(func(t *worldfile.ImageType) {
		for i := range t.Fields {
			t.Fields[i].Of, t.Fields[i].Kind = strings.Repeat("[1]", 20_000)+"uint8", uint32(reflect.Array)
		}
	}),
	"elements of a byte":   lieOfTypes(func(t *worldfile.ImageType) { t.Whole = 1 }),
	"elements of no byte":  lieOfTypes(func(t *worldfile.ImageType) { t.Whole = 0 }),
	"large elements":       lieOfTypes(func(t *worldfile.ImageType) { t.Whole = 1 << 40 }),
	"large values":         lieOfTypes(func(t *worldfile.ImageType) { t.Size = 1 << 40 }),
	"values of a byte":     lieOfTypes(func(t *worldfile.ImageType) { t.Size = 1 }),
	"much lies in a row":   lieOfTypes(func(t *worldfile.ImageType) { t.Inline, t.Size = 1<<40, 1<<46 }),
	"chunks of many bytes": lieOfTypes(func(t *worldfile.ImageType) { t.Chunk, t.Whole = 1<<40, 1<<40 }),
	"chunks of a row":      lieOfTypes(func(t *worldfile.ImageType) { t.MaxRows = 1 }),
	"chunks of many rows":  lieOfTypes(func(t *worldfile.ImageType) { t.MaxRows = 1 << 40 }),
	"all options": lieOfTypes(func(t *worldfile.ImageType) {
		t.Enableable, t.Cleanup, t.Tracked, t.MaxRows, t.Coded = true, true, true, 9, true
	}),
	"fields beyond the type": lieOfTypes(func(t *worldfile.ImageType) {
		t.Fields = append(t.Fields, worldfile.ImageField{
			Name: "far", Kind: uint32(reflect.Int64), Offset: 1 << 40, Size: 8, Of: "",
		})
	}),
	"fields of many bytes": lieOfTypes(func(t *worldfile.ImageType) {
		t.Fields = append(t.Fields, worldfile.ImageField{
			Name: "far", Kind: uint32(reflect.Int64), Offset: 0, Size: 1 << 40, Of: "",
		})
	}),
	"fields without bytes": lieOfTypes(func(t *worldfile.ImageType) {
		for range 1000 * hostileScale {
			t.Fields = append(t.Fields, worldfile.ImageField{
				Name: "none", Kind: uint32(reflect.Uint), Offset: 0, Size: 0, Of: "",
			})
		}
	}),
	"fields without bytes, of many values": lie(func(im *worldfile.WorldImage) {
		for i := range im.Types {
			for range 1000 * hostileScale {
				im.Types[i].Fields = append(im.Types[i].Fields, worldfile.ImageField{
					Name: "none", Kind: uint32(reflect.Uint), Offset: 0, Size: 0, Of: "",
				})
			}
		}
		for range 1000 * hostileScale {
			im.Values = append(im.Values, worldfile.ImageValue{Of: im.Values[0].Of, Bytes: nil})
		}
		im.Archetypes[0].Values = nil
		for i := range im.Values {
			im.Archetypes[0].Values = append(im.Archetypes[0].Values, i)
		}
	}),
	"a value over and over": lie(func(im *worldfile.WorldImage) {
		im.Values[0].Bytes = make([]byte, 100_000)
		im.Archetypes[0].Values = make([]int, 100_000)
	}),
	"row blocks far apart": lie(func(im *worldfile.WorldImage) {
		next := 1 << 21
		for i := range im.Archetypes {
			t := &im.Archetypes[i].TableImage
			t.Renumber(next-1000-len(t.Chunks), func(int) int { return 1 })
			next -= 1000
		}
	}),
	"many archetypes": lie(func(im *worldfile.WorldImage) {
		for range 2000 * hostileScale {
			im.Archetypes = append(im.Archetypes, im.Archetypes[len(im.Archetypes)-1])
		}
	}),
	"an archetype without rows, many times": lie(func(im *worldfile.WorldImage) {
		a := im.Archetypes[0]
		a.TableImage.Chunks, a.TableImage.Rows = nil, 0
		im.Archetypes = append(im.Archetypes, slices.Repeat([]worldfile.ImageArchetype{a}, 2000*hostileScale)...)
	}),
	"entries of more entities than there are": lie(func(im *worldfile.WorldImage) {
		for i := range im.Sets {
			im.Sets[i].Set.Len = 1 << 26
		}
	}),
	"values of managed types that are not there": lie(func(im *worldfile.WorldImage) {
		for i := range im.Managed {
			im.Managed[i].N = 1 << 31
		}
	}),
	"the last version": lie(func(im *worldfile.WorldImage) { im.Version = 1<<32 - 1 }),
	"many entities":    lie(func(im *worldfile.WorldImage) { im.Created, im.Destroyed = 1<<63+im.Created, 1<<63+im.Destroyed }),
	"a name over and over": lie(func(im *worldfile.WorldImage) {
		if len(im.Names) > 0 {
			im.Names = slices.Repeat(im.Names, 1000)
		}
	}),
}

// lie returns a function that makes other sections of those of a file.
func lie(change func(im *worldfile.WorldImage)) func(meta [worldfile.ImageMeta][]byte) [worldfile.ImageMeta][]byte {
	return func(meta [worldfile.ImageMeta][]byte) [worldfile.ImageMeta][]byte {
		var im worldfile.WorldImage
		for i, code := range im.Sections() {
			code(&codec.Coder{In: meta[i], Reading: true})
		}
		change(&im)
		for i, code := range im.Sections() {
			c := new(codec.Coder)
			code(c)
			meta[i] = c.Out
		}
		return meta
	}
}

// lieOfTypes returns lie of all types that are not built in.
func lieOfTypes(
	change func(t *worldfile.ImageType),
) func(meta [worldfile.ImageMeta][]byte) [worldfile.ImageMeta][]byte {
	return lie(func(im *worldfile.WorldImage) {
		for i := int(world.BuiltIn); i < len(im.Types); i++ {
			change(&im.Types[i])
		}
	})
}

// rowBlocksOf returns what is above the numbers of all row blocks that a world's rows have.
func rowBlocksOf(w *ecs.World) (end int) {
	for i := range entity.RowBlocks {
		if _, ok := door.World(w).Tables.FindOwner(world.Location(i) << entity.RowBits); ok {
			end = i + 1
		}
	}
	return end
}
