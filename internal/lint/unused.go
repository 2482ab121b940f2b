package lint

const unusedFile = "internal/lint/unused.go"

// unusedNames are exported names that no program here uses, by the folder of their package
// (used.go). The list only shrinks: a name gets an example, a page or a workload, or it goes.
var unusedNames = map[string]string{
	"ecs": `
		Archetype.Chunk Buffer.Changed Buffer.ChangedAt Buffer.ChangedSince Buffer.DisableAt
		Buffer.EnableAt Buffer.EnabledAt BufferR.At BufferW.At BufferLookup.ChangedSince Bundle.Set
		Chunk.Add Chunk.Changed Chunk.ChangedAt Chunk.ChangedSince Chunk.Mut Chunk.ReadOnly
		Component.Changed Component.ChangedAt Component.ChangedSince Component.DisableAt
		Component.EnableAt Component.EnabledAt Delta.Born Delta.Changed Delta.IsEmpty Delta.Lost
		Delta.Renamed Delta.Values DynamicBuffer.ResizeUninitialized DynamicBuffer.Trim
		Entity.MarshalText Entity.UnmarshalText ErrLimit ErrNotSingle LimitError.Err Location.Chunk
		Location.Row Lookup.ChangedSince Managed.Changed Managed.ChangedAt Managed.ChangedSince
		Managed.DisableAt Managed.EnableAt Managed.EnabledAt MaxRows MoveResult.Batch Rows.Mask
		Rows.Ordered Shared.Add Shared.Has Shared.Remove Sparse.Changed Sparse.Disable
		Sparse.DisableList Sparse.DisableQuery Sparse.Enable Sparse.EnableList Sparse.EnableQuery
		Sparse.Enabled Sparse.Has Sparse.Mut Stats.Chunks Stats.Reserve Stats.Reserved Stats.Shared
		Stats.Small Stats.Spilled World.Unreserve
	`,
}
