package ecs_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/lint"

	"github.com/stretchr/testify/require"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	walk := ecs.Register[ecstest.Velocity](w, ecs.Enableable)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	a := ecs.NewArchetype(w, position, walk)
	a.Create()
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Write(walk))
	change := ecs.NewChange(w, ecs.Remove(walk))
	type none struct{ P ecs.R[ecstest.Position] }
	type values struct{ P ecstest.Position }
	panics, returns := lint.NilPanics, lint.NilReturns
	lint.CheckNil(t, append(append(nilOfTypes(w), nilOfSnapshots(t, w)...),
		panics("Absent", "ecs: Absent: ", func() { ecs.Absent(nil, position) }),
		panics("Add", "ecs: NewChange: ", func() { ecs.NewChange(w, ecs.Add(nil, position)) }),
		panics("Any", "ecs: Any: ", func() { ecs.Any(nil, position) }),
		panics("Archetype.Has", "ecs: Archetype.Has: ", func() { a.Has(nil) }),
		panics("Buffer.Lookup", "ecs: Buffer.Lookup: ", func() { hits.Lookup(nil) }),
		panics("Change.ApplyQuery", "ecs: Change.ApplyQuery: ", func() { _, _ = change.ApplyQuery(nil) }),
		panics("Changed", "ecs: Changed: ", func() { ecs.Changed(nil, position) }),
		panics("Cleanup", "ecs: Cleanup: ", func() { ecs.Cleanup(nil) }),
		returns("Component.GetList", func(t *testing.T) { require.Empty(t, position.GetList(nil, nil)) }),
		panics("Component.Lookup", "ecs: Component.Lookup: ", func() { position.Lookup(nil) }),
		returns("Component.MutList", func(t *testing.T) { require.Empty(t, position.MutList(nil, nil)) }),
		panics("Component.SetValues", "ecs: Component.SetValues: ", func() { _ = position.SetValues(nil, nil) }),
		panics("Component.Values", "ecs: Component.Values: ", func() { position.Values(nil, nil) }),
		panics("Disabled", "ecs: Disabled: ", func() { ecs.Disabled(nil, walk) }),
		panics("Enableable", "ecs: Enableable: ", func() { ecs.Enableable(nil) }),
		panics("TrackRows", "ecs: TrackRows: ", func() { ecs.TrackRows(nil) }),
		panics("InfoOf", "ecs: InfoOf: ", func() { ecs.InfoOf(nil) }),
		panics("Into", "ecs: Into: ", func() { ecs.Into(nil) }),
		panics("NewBundle", "ecs: NewBundle[values]: ", func() { ecs.NewBundle[values](nil) }),
		panics("NewQueryOfAll", "ecs: NewQueryOfAll: ", func() { ecs.NewQueryOfAll(nil) }),
		panics("NewView", "ecs: NewView[none]: ", func() { ecs.NewView[none](nil) }),
		panics("Optional", "ecs: Optional: ", func() { ecs.Optional(nil, position) }),
		panics("Borrow.Rows", "ecs: Query.Rows: ",
			func() { new(ecs.Borrow).Rows(nil)(func(ecs.Rows) bool { return true }) }),
		panics("Borrow.RowsOf", "ecs: Query.Where: ",
			func() { new(ecs.Borrow).RowsOf(nil, ecs.SharedValue{})(func(ecs.Rows) bool { return true }) }),
		panics("World.OrderVersion", "ecs: World.OrderVersion: ", func() { w.OrderVersion(nil) }),
		panics("NewHasher", "ecs: NewHasher: ", func() { ecs.NewHasher(nil) }),
		panics("Present", "ecs: Present: ", func() { ecs.Present(nil, position) }),
		panics("Read", "ecs: Read: ", func() { ecs.Read(nil) }),
		panics("Remove", "ecs: NewChange: ", func() { ecs.NewChange(w, ecs.Remove(nil, position)) }),
		panics("Rows.Bytes", "ecs: Rows.Bytes: ", ecstest.InLoop(q, func(r ecs.Rows) { r.Bytes(nil) })),
		panics("Rows.Value", "ecs: Rows.Value: ", ecstest.InLoop(q, func(r ecs.Rows) { r.Value(nil, 0) })),
		panics("Uninitialized", "ecs: Uninitialized: ", func() { ecs.Uninitialized(nil, position) }),
		panics("With", "ecs: With: ", func() { ecs.With(nil, position) }),
		panics("WithUniverse", "ecs: WithUniverse: ", func() { ecs.WithUniverse(nil) }),
		panics("Without", "ecs: Without: ", func() { ecs.Without(nil, position) }),
		panics("World.Clone", "ecs: World.Clone: ", func() { _, _ = w.Clone(nil) }),
		panics("World.DestroyQuery", "ecs: World.DestroyQuery: ", func() { w.DestroyQuery(nil) }),
		panics("World.MoveAll", "ecs: World.MoveAll: ", func() { _, _ = w.MoveAll(nil) }),
		panics("World.Restore", "ecs: World.Restore: ", func() { _ = w.Restore(nil) }),
		panics("World.MoveQuery", "ecs: World.MoveQuery: ", func() { _, _ = w.MoveQuery(nil) }),
		panics("World.Restore", "ecs: World.Restore: the snapshot is nil", func() { _ = w.Restore(nil) }),
		panics("World.Value", "ecs: World.Value: ", func() { w.Value(ecs.Null, nil) }),
		panics("Write", "ecs: Write: ", func() { ecs.Write(nil) }),
		panics("enableHandle.DisableQuery", "ecs: Component.DisableQuery: ", func() { walk.DisableQuery(nil) }),
		panics("enableHandle.EnableQuery", "ecs: Component.EnableQuery: ", func() { walk.EnableQuery(nil) }),
	)...)
	require.Equal(t, 1, q.Count(), "nothing has changed")
	require.NoError(t, w.Verify())
}

// nilOfSnapshots are the calls of snapshots and deltas.
func nilOfSnapshots(t *testing.T, w *ecs.World) []lint.NilCall {
	position := ecs.Register[ecstest.Position](w)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	note := ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable)
	text := ecs.RegisterManaged[[]string](w)
	moment := w.Snapshot()
	t.Cleanup(moment.Close)
	panics := lint.NilPanics
	return []lint.NilCall{
		panics("Buffer.Lookup", "ecs: Buffer.Lookup: the accessor or snapshot is nil", func() { hits.Lookup(nil) }),
		panics("Buffer.LookupIn", "ecs: Buffer.Lookup: the snapshot is nil", func() { hits.LookupIn(nil) }),
		panics("Component.Lookup", "ecs: Component.Lookup: the accessor or snapshot is nil", func() { position.Lookup(nil) }),
		panics("Component.LookupIn", "ecs: Component.Lookup: the snapshot is nil", func() { position.LookupIn(nil) }),
		panics("Diff: older", "ecs: Diff: the snapshot is nil", func() { _, _ = ecs.Diff(nil, moment) }),
		panics("Diff: newer", "ecs: Diff: the snapshot is nil", func() { _, _ = ecs.Diff(moment, nil) }),
		panics("DecodeDelta", "ecs: DecodeDelta: the reader is nil", func() { _, _ = ecs.DecodeDelta(nil, 1) }),
		panics("Delta.ApplyTo", "ecs: Delta.ApplyTo: ", func() { _ = new(ecs.Delta).ApplyTo(nil) }),
		panics("Delta.Values", "ecs: Delta.Values: a type is nil", func() {
			d, _ := ecs.Diff(moment, moment)
			d.Values(ecs.Null, nil)
		}),
		panics("EncodeDelta", "ecs: EncodeDelta: the delta is nil", func() { _ = ecs.EncodeDelta(nil, nil) }),
		panics("CopyWith", "ecs: CopyWith: the function is nil", func() { ecs.CopyWith[string](nil) }),
		panics("Codec: encode", "ecs: Codec: a function is nil",
			func() { ecs.Codec(nil, func([]byte, *string) error { return nil }) }),
		panics("Codec: decode", "ecs: Codec: a function is nil", func() {
			ecs.Codec(func(b []byte, _ *string) ([]byte, error) { return b, nil }, nil)
		}),
		panics("Managed.Lookup", "ecs: Managed.Lookup: the accessor or snapshot is nil", func() { text.Lookup(nil) }),
		panics("Managed.LookupIn", "ecs: Managed.Lookup: the snapshot is nil", func() { text.LookupIn(nil) }),
		panics("Snapshot.Count", "ecs: Snapshot.Rows: the query is nil", func() { moment.Count(nil) }),
		panics("Snapshot.Fork", "ecs: Snapshot.Fork: an option is nil", func() { _, _ = moment.Fork(nil) }),
		panics("Snapshot.Rows", "ecs: Snapshot.Rows: the query is nil", func() { moment.Rows(nil)(nil) }),
		panics("Snapshot.RowsSince", "ecs: Snapshot.Rows: the query is nil", func() { moment.RowsSince(nil, 0)(nil) }),
		panics("Sparse.Lookup", "ecs: Sparse.Lookup: the accessor or snapshot is nil", func() { note.Lookup(nil) }),
		panics("Sparse.LookupIn", "ecs: Sparse.Lookup: the snapshot is nil", func() { note.LookupIn(nil) }),
		panics("World.ApplyDelta", "ecs: World.ApplyDelta: the reader is nil", func() { _ = w.ApplyDelta(nil) }),
	}
}

// nilOfTypes are the calls that make a world, types and what is made of them.
func nilOfTypes(w *ecs.World) []lint.NilCall {
	position, mark := ecs.Register[ecstest.Position](w), ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable)
	panics := lint.NilPanics
	return []lint.NilCall{
		panics("Try", "ecs: Try: the function is nil", func() { _ = ecs.Try(nil) }),
		panics("TryNewArchetype", "ecs: NewArchetype: ", func() { _, _ = ecs.TryNewArchetype(nil) }),
		panics("NewArchetype: world", "ecs: NewArchetype: ", func() { ecs.NewArchetype(nil) }),
		panics("NewArchetype: type", "ecs: NewArchetype: ", func() { ecs.NewArchetype(w, nil, position) }),
		panics("NewChange", "ecs: NewChange: ", func() { ecs.NewChange(nil) }),
		panics("NewQuery", "ecs: NewQuery: ", func() { ecs.NewQuery(nil) }),
		panics("NewWorld", "ecs: NewWorld: ", func() { _, _ = ecs.NewWorld(nil) }),
		panics("NewWorld: second", "ecs: NewWorld: ",
			func() { _, _ = ecs.NewWorld(ecs.ChunkGrowth(alloc.Doubling().Capped(64)), nil) }),
		panics("Register: world", "ecs: Register[Position]: ", func() { ecs.Register[ecstest.Position](nil) }),
		panics("Register: option", "ecs: Register[Position]: ", func() { ecs.Register[ecstest.Position](w, nil) }),
		panics("RegisterBuffer: world", "ecs: RegisterBuffer[Hit]: ", func() { ecs.RegisterBuffer[ecstest.Hit](nil) }),
		panics("RegisterBuffer: option", "ecs: RegisterBuffer[Hit]: ",
			func() { ecs.RegisterBuffer[ecstest.Hit](w, nil) }),
		panics("Sparse.Lookup", "ecs: Sparse.Lookup: ", func() { mark.Lookup(nil) }),
		panics("sparseHandle.DisableQuery", "ecs: Sparse.DisableQuery: ", func() { mark.DisableQuery(nil) }),
		panics("sparseHandle.EnableQuery", "ecs: Sparse.EnableQuery: ", func() { mark.EnableQuery(nil) }),
		panics("RegisterSparse: world", "ecs: RegisterSparse[string]: ", func() { ecs.RegisterSparse[string](nil) }),
		panics("RegisterSparse: option", "ecs: RegisterSparse[int]: ", func() { ecs.RegisterSparse[int](w, nil) }),
		panics("Between", "ecs: Between: ", func() { ecs.Between[ecstest.Position, float64](position, nil, 0, 1) }),
		panics("NewRange", "ecs: NewRange: ", func() { ecs.NewRange[ecstest.Position, float64](position, nil, 0, 1) }),
		panics("Merge", "ecs: Merge: ", func() { ecs.Merge[int64](nil) }),
		panics("RegisterChunk: world", "ecs: RegisterChunk[int64]: ", func() { ecs.RegisterChunk[int64](nil) }),
		panics("RegisterChunk: option", "ecs: RegisterChunk[int64]: ", func() { ecs.RegisterChunk[int64](w, nil) }),
		panics("RegisterManaged: world", "ecs: RegisterManaged[string]: ", func() { ecs.RegisterManaged[string](nil) }),
		panics("RegisterManaged: option", "ecs: RegisterManaged[string]: ",
			func() { ecs.RegisterManaged[string](w, nil) }),
		panics("RegisterShared: world", "ecs: RegisterShared[string]: ", func() { ecs.RegisterShared[string](nil) }),
		panics("RegisterShared: option", "ecs: RegisterShared[string]: ",
			func() { ecs.RegisterShared[string](w, nil) }),
	}
}
