package ecs

import (
	"reflect"
	"slices"
	"strings"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/internal/seam/under"
)

// HostileScale is how many times longer the lists of lies are than in a short test.
var HostileScale = 1

// ImageLies are what somebody may write into the described sections of a file, by name.
var ImageLies = map[string]func(meta [under.ImageMeta][]byte) [under.ImageMeta][]byte{
	"more types than there can be": lie(func(im *worldImage) {
		for range MaxTypes {
			im.types = append(im.types, im.types[4])
		}
	}),
	"a kind that there is not": lie(func(im *worldImage) { im.types[4].kind = 77 }),
	"a type twice, with other options": lie(func(im *worldImage) {
		im.types = append(im.types, im.types[4])
		im.types[len(im.types)-1].maxRows = 7
	}),
	"a type twice": lie(func(im *worldImage) { im.types = append(im.types, im.types[4]) }),
	"names that Go has not": lieOfTypes(func(t *imageType) {
		for i := range t.fields {
			t.fields[i].name = []string{"a-b", "\x00", "é.日", "\xff\xfe", "_", "1"}[i%6]
		}
	}),
	"names of types": lieOfTypes(func(t *imageType) { t.name = "[[." + t.name + "]/\x00" }),
	"deep arrays": lieOfTypes(func(t *imageType) {
		for i := range t.fields {
			t.fields[i].of, t.fields[i].kind = strings.Repeat("[1]", 20_000)+"uint8", uint32(reflect.Array)
		}
	}),
	"elements of a byte":   lieOfTypes(func(t *imageType) { t.whole = 1 }),
	"elements of no byte":  lieOfTypes(func(t *imageType) { t.whole = 0 }),
	"large elements":       lieOfTypes(func(t *imageType) { t.whole = 1 << 40 }),
	"large values":         lieOfTypes(func(t *imageType) { t.size = 1 << 40 }),
	"values of a byte":     lieOfTypes(func(t *imageType) { t.size = 1 }),
	"much lies in a row":   lieOfTypes(func(t *imageType) { t.inline, t.size = 1<<40, 1<<46 }),
	"chunks of many bytes": lieOfTypes(func(t *imageType) { t.chunk, t.whole = 1<<40, 1<<40 }),
	"chunks of a row":      lieOfTypes(func(t *imageType) { t.maxRows = 1 }),
	"chunks of many rows":  lieOfTypes(func(t *imageType) { t.maxRows = 1 << 40 }),
	"all options":          lieOfTypes(func(t *imageType) { t.enableable, t.cleanup, t.tracked, t.maxRows, t.coded = true, true, true, 9, true }),
	"fields beyond the type": lieOfTypes(func(t *imageType) {
		t.fields = append(t.fields, imageField{"far", uint32(reflect.Int64), 1 << 40, 8, ""})
	}),
	"fields of many bytes": lieOfTypes(func(t *imageType) {
		t.fields = append(t.fields, imageField{"far", uint32(reflect.Int64), 0, 1 << 40, ""})
	}),
	"fields without bytes": lieOfTypes(func(t *imageType) {
		for range 1000 * HostileScale {
			t.fields = append(t.fields, imageField{"none", uint32(reflect.Uint), 0, 0, ""})
		}
	}),
	"fields without bytes, of many values": lie(func(im *worldImage) {
		for i := range im.types {
			for range 1000 * HostileScale {
				im.types[i].fields = append(im.types[i].fields, imageField{"none", uint32(reflect.Uint), 0, 0, ""})
			}
		}
		for range 1000 * HostileScale {
			im.values = append(im.values, imageValue{im.values[0].of, nil})
		}
		im.archetypes[0].values = nil
		for i := range im.values {
			im.archetypes[0].values = append(im.archetypes[0].values, i)
		}
	}),
	"a value over and over": lie(func(im *worldImage) {
		im.values[0].bytes = make([]byte, 100_000)
		im.archetypes[0].values = make([]int, 100_000)
	}),
	"stretches far apart": lie(func(im *worldImage) {
		next := 1 << 21
		for i := range im.archetypes {
			t := &im.archetypes[i].table
			t.Renumber(next-1000-len(t.Chunks), func(int) int { return 1 })
			next -= 1000
		}
	}),
	"many archetypes": lie(func(im *worldImage) {
		for range 2000 * HostileScale {
			im.archetypes = append(im.archetypes, im.archetypes[len(im.archetypes)-1])
		}
	}),
	"an archetype without rows, many times": lie(func(im *worldImage) {
		a := im.archetypes[0]
		a.table.Chunks, a.table.Rows = nil, 0
		im.archetypes = append(im.archetypes, slices.Repeat([]imageArchetype{a}, 2000*HostileScale)...)
	}),
	"entries of more entities than there are": lie(func(im *worldImage) {
		for i := range im.sets {
			im.sets[i].set.Len = 1 << 26
		}
	}),
	"values of managed types that are not there": lie(func(im *worldImage) {
		for i := range im.managed {
			im.managed[i].n = 1 << 31
		}
	}),
	"the last version": lie(func(im *worldImage) { im.version = 1<<32 - 1 }),
	"many entities":    lie(func(im *worldImage) { im.created, im.destroyed = 1<<63+im.created, 1<<63+im.destroyed }),
	"a name over and over": lie(func(im *worldImage) {
		if len(im.names) > 0 {
			im.names = slices.Repeat(im.names, 1000)
		}
	}),
}

// lie returns a function that makes other sections of those of a file.
func lie(change func(im *worldImage)) func(meta [under.ImageMeta][]byte) [under.ImageMeta][]byte {
	return func(meta [under.ImageMeta][]byte) [under.ImageMeta][]byte {
		var im worldImage
		for i, code := range im.sections() {
			code(&imageCoder{deltaCoder{codec.Coder{In: meta[i], Reading: true}}})
		}
		change(&im)
		for i, code := range im.sections() {
			c := &imageCoder{deltaCoder{codec.Coder{}}}
			code(c)
			meta[i] = c.Out
		}
		return meta
	}
}

// lieOfTypes returns lie of all types that are not built in.
func lieOfTypes(change func(t *imageType)) func(meta [under.ImageMeta][]byte) [under.ImageMeta][]byte {
	return lie(func(im *worldImage) {
		for i := int(builtIn); i < len(im.types); i++ {
			change(&im.types[i])
		}
	})
}

// StretchesOf returns what is above the numbers of all stretches that a world's rows have.
func StretchesOf(w *World) (end int) {
	for i := range entity.Stretches {
		if _, ok := w.tables.FindOwner(location(i) << entity.RowBits); ok {
			end = i + 1
		}
	}
	return end
}
