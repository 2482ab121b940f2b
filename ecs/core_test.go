package ecs

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// TestCores: a face is its core and nothing else, so that a pointer to the one, a list of the one
// and a function of the one are those of the other.
func TestCores(t *testing.T) {
	for _, x := range [][2]reflect.Type{
		{reflect.TypeFor[World](), reflect.TypeFor[world.World]()},
		{reflect.TypeFor[Archetype](), reflect.TypeFor[world.Archetype]()},
		{reflect.TypeFor[Query](), reflect.TypeFor[world.Query]()},
		{reflect.TypeFor[Change](), reflect.TypeFor[world.Change]()},
		{reflect.TypeFor[Snapshot](), reflect.TypeFor[world.Snapshot]()},
		{reflect.TypeFor[Borrow](), reflect.TypeFor[world.Borrow]()},
		{reflect.TypeFor[Accessor](), reflect.TypeFor[world.Accessor]()},
		{reflect.TypeFor[Delta](), reflect.TypeFor[world.Delta]()},
		{reflect.TypeFor[Rows](), reflect.TypeFor[world.Rows]()},
		{reflect.TypeFor[Batch](), reflect.TypeFor[world.Batch]()},
		{reflect.TypeFor[Access](), reflect.TypeFor[world.Access]()},
		{reflect.TypeFor[Term](), reflect.TypeFor[world.Term]()},
		{reflect.TypeFor[SharedValue](), reflect.TypeFor[world.SharedValue]()},
		{reflect.TypeFor[RowRange](), reflect.TypeFor[world.RowRange]()},
		{reflect.TypeFor[CreateOption](), reflect.TypeFor[world.CreateOption]()},
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
