package ecs_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestZeroHandlesHaveNames calls what is nil or zero.
func TestZeroHandlesHaveNames(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	var q ecs.Query
	nobody := ": the query is nil or the zero value; queries come from NewQuery"
	for text, f := range map[string]func(){
		"ecs: Query.Rows" + nobody: func() {
			for range q.Rows() {
				t.Error("rows of nothing")
			}
		},
		"ecs: Query.Count" + nobody:      func() { q.Count() },
		"ecs: Query.Close" + nobody:      func() { q.Close() },
		"ecs: Query.SetSince" + nobody:   func() { q.SetSince(1) },
		"ecs: door.PinSince" + nobody:    func() { door.PinSince(&q, 1) },
		"ecs: door.Looks" + nobody:       func() { door.Looks(&q) },
		"ecs: Component.Values" + nobody: func() { position.Values(nil, nil) },
		"ecs: World.Close: the world is nil or the zero value; worlds come from NewWorld":  func() { _ = (*ecs.World)(nil).Close() },
		"ecs: World.Stats: the world is nil or the zero value; worlds come from NewWorld":  func() { new(ecs.World).Stats() },
		"ecs: NewQuery: the world is nil or the zero value; worlds come from NewWorld":     func() { ecs.NewQuery(nil) },
		"ecs: NewChange: the world is nil or the zero value; worlds come from NewWorld":    func() { ecs.NewChange(nil) },
		"ecs: NewArchetype: the world is nil or the zero value; worlds come from NewWorld": func() { ecs.NewArchetype(nil) },
	} {
		require.PanicsWithValue(t, text, f)
	}
	require.Equal(t, "change of no world", new(ecs.Change).String())
}
