package ecs

import (
	"reflect"
	"testing"

	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// TestCores: a face is its core and nothing else, so that a pointer to the one, a list of the one
// and a function of the one are those of the other.
func TestCores(t *testing.T) {
	for _, x := range [][2]reflect.Type{
		{reflect.TypeFor[World](), reflect.TypeFor[world.World]()},
		{reflect.TypeFor[Archetype](), reflect.TypeFor[world.Archetype]()},
		{reflect.TypeFor[Query](), reflect.TypeFor[query.Query]()},
		{reflect.TypeFor[Change](), reflect.TypeFor[edit.Change]()},
		{reflect.TypeFor[Snapshot](), reflect.TypeFor[snapshot.Snapshot]()},
		{reflect.TypeFor[Borrow](), reflect.TypeFor[query.Borrow]()},
		{reflect.TypeFor[Accessor](), reflect.TypeFor[query.Accessor]()},
		{reflect.TypeFor[Delta](), reflect.TypeFor[delta.Delta]()},
		{reflect.TypeFor[Rows](), reflect.TypeFor[query.Rows]()},
		{reflect.TypeFor[Batch](), reflect.TypeFor[edit.Batch]()},
		{reflect.TypeFor[Access](), reflect.TypeFor[world.Access]()},
		{reflect.TypeFor[Term](), reflect.TypeFor[query.Term]()},
		{reflect.TypeFor[SharedValue](), reflect.TypeFor[world.SharedValue]()},
		{reflect.TypeFor[CreateOption](), reflect.TypeFor[edit.CreateOption]()},
	} {
		face, core := x[0], x[1]
		require.Equal(t, 1, face.NumField(), "%v", face)
		require.Equal(t, core, face.Field(0).Type)
		require.Equal(t, core.Size(), face.Size(), "%v", face)
	}
	require.True(t, reflect.TypeFor[entity.ID]().ConvertibleTo(reflect.TypeFor[Entity]()))
	require.Equal(t, reflect.TypeFor[entity.ID]().Size(), reflect.TypeFor[Entity]().Size())
	ids := make([]entity.ID, 2, 5)
	list := entitiesOf(ids)
	require.Len(t, list, 2)
	require.Equal(t, 5, cap(list))
	require.Equal(t, 5, cap(idsOf(list)))
	require.Nil(t, entitiesOf(nil))
}
