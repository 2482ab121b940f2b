package command

import (
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// groupOf makes a group of an entity and one more.
func (y *yard) groupOf(member ecs.Entity) ecs.Entity {
	e := y.plain.Create()
	y.group.Add(e)
	list, _ := y.group.Mut(e)
	list.Append(ecs.LinkedEntity{Entity: e}, ecs.LinkedEntity{Entity: member})
	return e
}

// TestCopiesOfMembers: a copy of a group has what commands before it gave a member.
func TestCopiesOfMembers(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	member := y.plain.Create()
	e := y.groupOf(member)
	Set(cb, member, y.pos, position{9, 9})
	c := cb.Instantiate(e)
	require.NoError(t, cb.Play())
	copied := y.group.Slice(cb.Made(c))[1].Entity
	require.NotEqual(t, member, copied)
	require.Equal(t, position{9, 9}, *y.pos.Get(copied))
}

// TestMembersEnd: members end with their entity, each group's: commands behind cannot be about
// them. Members that were taken out before, do not.
func TestMembersEnd(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	first, second, freed := y.plain.Create(), y.plain.Create(), y.plain.Create()
	cb.Destroy(y.groupOf(first))
	cb.Destroy(y.groupOf(second))
	Set(cb, second, y.pos, position{9, 9})
	e := y.groupOf(freed)
	PutBuffer(cb, e, y.group, ecs.LinkedEntity{Entity: e})
	cb.Destroy(e)
	var refused *PlayError
	require.ErrorAs(t, cb.PlayRest(), &refused)
	require.Equal(t, 1, refused.Count)
	require.Equal(t, reasons[hasEnded], refused.Failures[0].Why)
	require.False(t, y.w.Alive(first))
	require.False(t, y.w.Alive(second))
	require.True(t, y.w.Alive(freed))
}

// TestMembersOfCopiesEnd: a copy that is destroyed by the commands that make it takes its members
// along, though it was given another.
func TestMembersOfCopiesEnd(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e, more := y.groupOf(y.plain.Create()), y.plain.Create()
	c := cb.Instantiate(e)
	Append(cb, c, y.group, ecs.LinkedEntity{Entity: more})
	cb.Destroy(c)
	before := y.w.Stats().Alive
	require.NoError(t, cb.Play())
	require.Equal(t, before-1, y.w.Stats().Alive)
	require.False(t, y.w.Alive(more))
}

// TestCopyOfAGroupAtOnce: a copy of a group that is destroyed at once was made, for what becomes of
// its members depends on how: its own destruction ends them, that of another whose member it is
// does not.
func TestCopyOfAGroupAtOnce(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	source, other := y.groupOf(y.plain.Create()), y.plain.Create()
	alive := y.w.Stats().Alive
	cb.Destroy(cb.Instantiate(source))
	require.NoError(t, cb.Play())
	require.Equal(t, alive, y.w.Stats().Alive)
	PutBuffer(cb, other, y.group, ecs.LinkedEntity{Entity: cb.Instantiate(source)})
	cb.Destroy(other)
	require.NoError(t, cb.Play())
	require.Equal(t, alive-1+1, y.w.Stats().Alive, "without the other one, with the copy of a member")
}

// TestMembersOfTheDyingStay: one that is dying is not destroyed again, nor are the members of a
// group that it got meanwhile, in the world or by commands before.
func TestMembersOfTheDyingStay(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	dying, ends, first, second := y.plain.Create(), y.plain.Create(), y.plain.Create(), y.plain.Create()
	y.socket.Add(dying, socket{1})
	y.socket.Add(ends, socket{2})
	require.True(t, y.w.Destroy(dying))
	give(y.group, dying, ecs.LinkedEntity{Entity: dying}, ecs.LinkedEntity{Entity: first})
	cb.Destroy(dying)
	cb.DestroyList([]ecs.Entity{dying})
	cb.Destroy(ends)
	AddBuffer(cb, ends, y.group, ecs.LinkedEntity{Entity: second})
	cb.Destroy(ends)
	Set(cb, first, y.pos, position{1, 1})
	Set(cb, second, y.pos, position{2, 2})
	require.NoError(t, cb.Play())
	q := ecs.NewQuery(y.w, ecs.With(y.group))
	defer q.Close()
	require.Equal(t, 2, q.Count())
	cb.DestroyQuery(q)
	require.NoError(t, cb.Play())
	require.Equal(t, 2, q.Count())
	require.Equal(t, position{1, 1}, *y.pos.Get(first))
	require.Equal(t, position{2, 2}, *y.pos.Get(second))
}

// TestMembersAreNoPattern destroys an entity that has got a member in the same buffer, and then
// another entity of the same archetype: what the first destruction did to the member, of another
// archetype, says nothing about the second.
func TestMembersAreNoPattern(t *testing.T) {
	y := openYard(t)
	list := y.populate(5, false)
	head, other, member := list[0], list[1], list[4] // [position], [position] and one with a Cleanup type
	cb := y.open(t)
	PutBuffer(cb, head, y.group, ecs.LinkedEntity{Entity: head}, ecs.LinkedEntity{Entity: member})
	cb.Destroy(head)
	cb.Destroy(other)
	require.NoError(t, cb.Play())
	require.False(t, y.w.Alive(head))
	require.False(t, y.w.Alive(other))
	require.True(t, y.dying(member))
}
