package command

import (
	"testing"

	"quarry/ecs"
	"quarry/internal/lint"

	"github.com/stretchr/testify/require"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil. Nothing is recorded.
func TestNil(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	e := y.full.Create()
	list := []ecs.Entity{e}
	var none *Buffer
	var gone *ecs.Query
	panics := lint.NilPanics
	lint.CheckNil(t, append(append(append(nilOfQueries(y, cb), nilOfSparse(y, cb)...), nilOfBundles(y, cb)...),
		panics("Add: recorder", "command: Add: ", func() { Add(nil, e, y.pos, position{}) }),
		panics("Add: buffer", "command: Add: ", func() { Add(none, e, y.pos, position{}) }),
		panics("Add: list", "command: Add: ", func() { Add(nil, list, y.pos, position{}) }),
		panics("Add: by query", "command: Add: ", func() { Add(nil, y.q, y.pos, position{}) }),
		panics("Add: query", "command: Add: ", func() { Add(cb, gone, y.pos, position{}) }),
		panics("AddShared: recorder", "command: AddShared: ", func() { AddShared(nil, e, y.team, "red") }),
		panics("AddShared: list", "command: AddShared: ", func() { AddShared(nil, list, y.team, "red") }),
		panics("AddShared: by query", "command: AddShared: ", func() { AddShared(nil, y.q, y.team, "red") }),
		panics("AddShared: query", "command: AddShared: ", func() { AddShared(cb, gone, y.team, "red") }),
		panics("Put: recorder", "command: Put: ", func() { Put(nil, e, y.pos, position{}) }),
		panics("Put: buffer", "command: Put: ", func() { Put(none, e, y.pos, position{}) }),
		panics("Put: list", "command: Put: ", func() { Put(nil, list, y.pos, position{}) }),
		panics("Put: by query", "command: Put: ", func() { Put(nil, y.q, y.pos, position{}) }),
		panics("Put: query", "command: Put: ", func() { Put(cb, gone, y.pos, position{}) }),
		panics("PutShared: recorder", "command: PutShared: ", func() { PutShared(nil, e, y.team, "red") }),
		panics("PutShared: list", "command: PutShared: ", func() { PutShared(nil, list, y.team, "red") }),
		panics("PutShared: by query", "command: PutShared: ", func() { PutShared(nil, y.q, y.team, "red") }),
		panics("PutShared: query", "command: PutShared: ", func() { PutShared(cb, gone, y.team, "red") }),
		panics("Set: recorder", "command: Set: ", func() { Set(nil, e, y.pos, position{}) }),
		panics("Set: buffer", "command: Set: ", func() { Set(none, e, y.pos, position{}) }),
		panics("Set: list", "command: Set: ", func() { Set(nil, list, y.pos, position{}) }),
		panics("Set: by query", "command: Set: ", func() { Set(nil, y.q, y.pos, position{}) }),
		panics("Set: query", "command: Set: ", func() { Set(cb, gone, y.pos, position{}) }),
		panics("SetShared: recorder", "command: SetShared: ", func() { SetShared(nil, e, y.team, "red") }),
		panics("SetShared: list", "command: SetShared: ", func() { SetShared(nil, list, y.team, "red") }),
		panics("SetShared: by query", "command: SetShared: ", func() { SetShared(nil, y.q, y.team, "red") }),
		panics("SetShared: query", "command: SetShared: ", func() { SetShared(cb, gone, y.team, "red") }),
		panics("AddBuffer: recorder", "command: AddBuffer: ", func() { AddBuffer(nil, e, y.hits) }),
		panics("AddBuffer: list", "command: AddBuffer: ", func() { AddBuffer(nil, list, y.hits) }),
		panics("AddBuffer: by query", "command: AddBuffer: ", func() { AddBuffer(nil, y.q, y.hits) }),
		panics("AddBuffer: query", "command: AddBuffer: ", func() { AddBuffer(cb, gone, y.hits) }),
		panics("PutBuffer: recorder", "command: PutBuffer: ", func() { PutBuffer(nil, e, y.hits) }),
		panics("PutBuffer: list", "command: PutBuffer: ", func() { PutBuffer(nil, list, y.hits) }),
		panics("PutBuffer: by query", "command: PutBuffer: ", func() { PutBuffer(nil, y.q, y.hits) }),
		panics("PutBuffer: query", "command: PutBuffer: ", func() { PutBuffer(cb, gone, y.hits) }),
		panics("SetBuffer: recorder", "command: SetBuffer: ", func() { SetBuffer(nil, e, y.hits) }),
		panics("SetBuffer: list", "command: SetBuffer: ", func() { SetBuffer(nil, list, y.hits) }),
		panics("SetBuffer: by query", "command: SetBuffer: ", func() { SetBuffer(nil, y.q, y.hits) }),
		panics("SetBuffer: query", "command: SetBuffer: ", func() { SetBuffer(cb, gone, y.hits) }),
		panics("Append: recorder", "command: Append: ", func() { Append(nil, e, y.hits) }),
		panics("Append: list", "command: Append: ", func() { Append(nil, list, y.hits) }),
		panics("Append: by query", "command: Append: ", func() { Append(nil, y.q, y.hits) }),
		panics("Append: query", "command: Append: ", func() { Append(cb, gone, y.hits) }),
		panics("Buffer.Parallel", "command: Buffer.Parallel: ", func() { cb.Parallel(nil) }),
		panics("Keep", "command: Keep: ", func() { Keep(nil) }),
		panics("Trace", "command: Trace: ", func() { Trace(nil) }),
		panics("NewBuffer: world", "command: NewBuffer: ", func() { NewBuffer(nil) }),
		panics("NewLender: world", "command: NewLender: ", func() { NewLender(nil) }),
		panics("NewLender: option", "command: NewLender: ", func() { NewLender(y.w, nil) }),
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

// nilOfBundles are the calls of bundles.
func nilOfBundles(y *yard, cb *Buffer) []lint.NilCall {
	panics := lint.NilPanics
	return []lint.NilCall{
		panics("NewBundle", "command: NewBundle[", func() { NewBundle[recruit](nil) }),
		panics("Bundle.Create: bundle", "command: Bundle.Create: ", func() {
			(*Bundle[recruit])(nil).Create(cb, y.full, recruit{})
		}),
		panics("Bundle.Create: recorder", "command: Bundle.Create: ", func() {
			new(Bundle[recruit]).Create(nil, y.full, recruit{})
		}),
		panics("Bundle.Create: archetype", "command: Bundle.Create: ", func() {
			NewBundle[struct{ P position }](y.w).Create(cb, nil, struct{ P position }{})
		}),
	}
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
