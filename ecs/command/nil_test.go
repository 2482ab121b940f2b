package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil. Nothing is recorded.
func TestNil(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	list := []ecs.Entity{e}
	var none *Buffer
	panics := lint.NilPanics
	lint.CheckNil(t, append(nilOfQueries(y, cb),
		panics("Add: recorder", "command: Add: ", func() { Add(nil, e, y.pos, position{}) }),
		panics("Add: buffer", "command: Add: ", func() { Add(none, e, y.pos, position{}) }),
		panics("AddList", "command: AddList: ", func() { AddList(nil, list, y.pos, position{}) }),
		panics("AddQuery: recorder", "command: AddQuery: ", func() { AddQuery(nil, y.q, y.pos, position{}) }),
		panics("AddQuery: query", "command: AddQuery: ", func() { AddQuery(cb, nil, y.pos, position{}) }),
		panics("AddShared", "command: AddShared: ", func() { AddShared(nil, e, y.team, "red") }),
		panics("AddSharedList", "command: AddSharedList: ", func() { AddSharedList(nil, list, y.team, "red") }),
		panics("AddSharedQuery: recorder", "command: AddSharedQuery: ", func() { AddSharedQuery(nil, y.q, y.team, "red") }),
		panics("AddSharedQuery: query", "command: AddSharedQuery: ", func() { AddSharedQuery(cb, nil, y.team, "red") }),
		panics("Put: recorder", "command: Put: ", func() { Put(nil, e, y.pos, position{}) }),
		panics("Put: buffer", "command: Put: ", func() { Put(none, e, y.pos, position{}) }),
		panics("PutList", "command: PutList: ", func() { PutList(nil, list, y.pos, position{}) }),
		panics("PutQuery: recorder", "command: PutQuery: ", func() { PutQuery(nil, y.q, y.pos, position{}) }),
		panics("PutQuery: query", "command: PutQuery: ", func() { PutQuery(cb, nil, y.pos, position{}) }),
		panics("PutShared", "command: PutShared: ", func() { PutShared(nil, e, y.team, "red") }),
		panics("PutSharedList", "command: PutSharedList: ", func() { PutSharedList(nil, list, y.team, "red") }),
		panics("PutSharedQuery: recorder", "command: PutSharedQuery: ", func() { PutSharedQuery(nil, y.q, y.team, "red") }),
		panics("PutSharedQuery: query", "command: PutSharedQuery: ", func() { PutSharedQuery(cb, nil, y.team, "red") }),
		panics("Set: recorder", "command: Set: ", func() { Set(nil, e, y.pos, position{}) }),
		panics("Set: buffer", "command: Set: ", func() { Set(none, e, y.pos, position{}) }),
		panics("SetList", "command: SetList: ", func() { SetList(nil, list, y.pos, position{}) }),
		panics("SetQuery: recorder", "command: SetQuery: ", func() { SetQuery(nil, y.q, y.pos, position{}) }),
		panics("SetQuery: query", "command: SetQuery: ", func() { SetQuery(cb, nil, y.pos, position{}) }),
		panics("SetShared", "command: SetShared: ", func() { SetShared(nil, e, y.team, "red") }),
		panics("SetSharedList", "command: SetSharedList: ", func() { SetSharedList(nil, list, y.team, "red") }),
		panics("SetSharedQuery: recorder", "command: SetSharedQuery: ", func() { SetSharedQuery(nil, y.q, y.team, "red") }),
		panics("SetSharedQuery: query", "command: SetSharedQuery: ", func() { SetSharedQuery(cb, nil, y.team, "red") }),
		panics("AddBuffer", "command: AddBuffer: ", func() { AddBuffer(nil, e, y.hits) }),
		panics("AddBufferList", "command: AddBufferList: ", func() { AddBufferList(nil, list, y.hits) }),
		panics("AddBufferQuery: recorder", "command: AddBufferQuery: ", func() { AddBufferQuery(nil, y.q, y.hits) }),
		panics("AddBufferQuery: query", "command: AddBufferQuery: ", func() { AddBufferQuery(cb, nil, y.hits) }),
		panics("PutBuffer", "command: PutBuffer: ", func() { PutBuffer(nil, e, y.hits) }),
		panics("PutBufferList", "command: PutBufferList: ", func() { PutBufferList(nil, list, y.hits) }),
		panics("PutBufferQuery: recorder", "command: PutBufferQuery: ", func() { PutBufferQuery(nil, y.q, y.hits) }),
		panics("PutBufferQuery: query", "command: PutBufferQuery: ", func() { PutBufferQuery(cb, nil, y.hits) }),
		panics("SetBuffer", "command: SetBuffer: ", func() { SetBuffer(nil, e, y.hits) }),
		panics("SetBufferList", "command: SetBufferList: ", func() { SetBufferList(nil, list, y.hits) }),
		panics("SetBufferQuery: recorder", "command: SetBufferQuery: ", func() { SetBufferQuery(nil, y.q, y.hits) }),
		panics("SetBufferQuery: query", "command: SetBufferQuery: ", func() { SetBufferQuery(cb, nil, y.hits) }),
		panics("Append", "command: Append: ", func() { Append(nil, e, y.hits) }),
		panics("AppendList", "command: AppendList: ", func() { AppendList(nil, list, y.hits) }),
		panics("AppendQuery: recorder", "command: AppendQuery: ", func() { AppendQuery(nil, y.q, y.hits) }),
		panics("AppendQuery: query", "command: AppendQuery: ", func() { AppendQuery(cb, nil, y.hits) }),
		panics("Buffer.Parallel", "command: Buffer.Parallel: ", func() { cb.Parallel(nil) }),
		panics("Keep", "command: Keep: ", func() { Keep(nil) }),
		panics("Trace", "command: Trace: ", func() { Trace(nil) }),
		panics("NewBuffer: world", "command: NewBuffer: ", func() { NewBuffer(nil) }),
		panics("NewBuffer: option", "command: NewBuffer: ", func() { NewBuffer(y.w, nil) }),
		panics("NewBuffer: second option", "command: NewBuffer: ", func() { NewBuffer(y.w, Keep, nil) }),
		panics("Writer.Create", "command: Writer.Create: ", func() { cb.Create(nil) }),
		panics("Writer.Add", "command: Writer.Add: ", func() { cb.Add(e, y.slow, nil) }),
		panics("Writer.Remove", "command: Writer.Remove: ", func() { cb.Remove(e, y.slow, nil) }),
		panics("Writer.Enable", "command: Writer.Enable: ", func() { cb.Enable(e, nil) }),
		panics("Writer.Disable", "command: Writer.Disable: ", func() { cb.Disable(e, nil) }),
		panics("Writer.Apply", "command: Writer.Apply: ", func() { cb.Apply(e, nil) }),
		panics("Writer.ApplyList", "command: Writer.ApplyList: ", func() { cb.ApplyList(list, nil) }),
		panics("Writer.AddList", "command: Writer.AddList: ", func() { cb.AddList(list, nil) }),
		panics("Writer.RemoveList", "command: Writer.RemoveList: ", func() { cb.RemoveList(list, nil) }),
		panics("Writer.EnableList", "command: Writer.EnableList: ", func() { cb.EnableList(list, nil) }),
		panics("Writer.DisableList", "command: Writer.DisableList: ", func() { cb.DisableList(list, nil) }),
	)...)
	require.Zero(t, cb.Len())
}

// nilOfQueries are the commands of a writer about queries.
func nilOfQueries(y *yard, cb *Buffer) []lint.NilCall {
	panics := lint.NilPanics
	return []lint.NilCall{
		panics("Writer.ApplyQuery: query", "command: Writer.ApplyQuery: ", func() { cb.ApplyQuery(nil, y.change) }),
		panics("Writer.ApplyQuery: change", "command: Writer.ApplyQuery: ", func() { cb.ApplyQuery(y.q, nil) }),
		panics("Writer.DestroyQuery", "command: Writer.DestroyQuery: ", func() { cb.DestroyQuery(nil) }),
		panics("Writer.AddQuery: query", "command: Writer.AddQuery: ", func() { cb.AddQuery(nil, y.walk) }),
		panics("Writer.AddQuery: type", "command: Writer.AddQuery: ", func() { cb.AddQuery(y.q, nil) }),
		panics("Writer.RemoveQuery: query", "command: Writer.RemoveQuery: ", func() { cb.RemoveQuery(nil, y.walk) }),
		panics("Writer.RemoveQuery: type", "command: Writer.RemoveQuery: ", func() { cb.RemoveQuery(y.q, nil) }),
		panics("Writer.EnableQuery: query", "command: Writer.EnableQuery: ", func() { cb.EnableQuery(nil, y.walk) }),
		panics("Writer.EnableQuery: type", "command: Writer.EnableQuery: ", func() { cb.EnableQuery(y.q, nil) }),
		panics("Writer.DisableQuery: query", "command: Writer.DisableQuery: ", func() { cb.DisableQuery(nil, y.walk) }),
		panics("Writer.DisableQuery: type", "command: Writer.DisableQuery: ", func() { cb.DisableQuery(y.q, nil) }),
	}
}
