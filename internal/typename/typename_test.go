package typename

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

type pair[A, B any] struct {
	A A
	B B
}

func TestOf(t *testing.T) {
	const home = written + "/internal/typename."
	for of, want := range map[reflect.Type]string{
		reflect.TypeFor[marker]():             home + "marker",
		reflect.TypeFor[[4]uint8]():           "[4]uint8",
		reflect.TypeFor[int]():                ".int",
		reflect.TypeFor[pair[int, marker]]():  home + "pair[int," + home + "marker]",
		reflect.TypeFor[pair[*marker, int]](): home + "pair[*" + home + "marker,int]",
	} {
		require.Equal(t, want, Of(of))
	}
}

// TestStable: files written under one path are equal to those written under another.
func TestStable(t *testing.T) {
	for name, want := range map[string]string{
		"example.org/quarry/ecs.Prefab":                            "/ecs.Prefab",
		"example.org/quarry/ecs/hierarchy.Parent":                  "/ecs/hierarchy.Parent",
		"game.Pair[example.org/quarry/ecs.Entity,game.Hit]":        "game.Pair[/ecs.Entity,game.Hit]",
		"game.Pair[int,*example.org/quarry/ecs.Entity]":            "game.Pair[int,*/ecs.Entity]",
		"game.Of[[]example.org/quarry/ecs.Entity]":                 "game.Of[[]/ecs.Entity]",
		"my.example.org/quarry/ecs.Prefab":                         "",
		"example.org/quarry.Type":                                  "",
		"example.org/quarrying/ecs.Prefab":                         "",
		"other.org/example.org/quarry/x.Box[example.org/quarry/y]": "other.org/example.org/quarry/x.Box[/y]",
	} {
		if want == "" {
			require.Equal(t, name, stable("example.org/quarry", name))
			continue
		}
		got := stable("example.org/quarry", name)
		require.NotEqual(t, name, got)
		require.Equal(t, want, shorten(got), name)
	}
	require.Equal(t, written+"/ecs.Prefab", stable(written, written+"/ecs.Prefab"))
}

// shorten leaves the written path out, since publishing renames it in this file.
func shorten(name string) string {
	for {
		at := index(name, written+"/")
		if at < 0 {
			return name
		}
		name = name[:at] + name[at+len(written):]
	}
}

// index is where a path begins, behind what continues no other.
func index(name, path string) int {
	for at := range len(name) - len(path) + 1 {
		if name[at:at+len(path)] == path && (at == 0 || name[at-1] != '/') {
			return at
		}
	}
	return -1
}
