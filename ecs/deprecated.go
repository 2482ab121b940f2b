package ecs

import (
	"fmt"
	"iter"

	"quarry/alloc"
	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// Deprecated names, which the next version will not have. go fix writes what to write instead where
// a function has the comment go:fix inline; the comments of the others have it.

// Share is World.Lend.
//
// Deprecated: use World.Lend.
//
//go:fix inline
func (w *World) Share() *Borrow { return w.Lend() }

// Shared is World.Lent.
//
// Deprecated: use World.Lent.
//
//go:fix inline
func (w *World) Shared() bool { return w.Lent() }

// Rows is Query.Rows, which any goroutine may call while the world is lent.
//
// Deprecated: use Query.Rows.
//
//go:fix inline
func (b *Borrow) Rows(q *Query) iter.Seq[Rows] { return q.Rows() }

// RowsOf is Query.Where, which any goroutine may call while the world is lent.
//
// Deprecated: use Query.Where.
//
//go:fix inline
func (b *Borrow) RowsOf(q *Query, value SharedValue) iter.Seq[Rows] { return q.Where(value) }

// RowsOf is Query.Where.
//
// Deprecated: use Query.Where.
//
//go:fix inline
func (q *Query) RowsOf(value SharedValue) iter.Seq[Rows] { return q.Where(value) }

// MaxEntities is the number of entity indices of a world, including the index of Null and one more
// index that no entity gets.
//
// Deprecated: it is 1 << 27; a *LimitError has the limit that was reached.
const MaxEntities = entity.MaxIDs

// MaxTypes is the maximum number of component types of a world, including the four built-in types.
//
// Deprecated: it is 1,024; a *LimitError has the limit that was reached.
const MaxTypes = world.MaxTypes

// Used returns the bytes that rows use.
//
// Deprecated: use Rows and RowBytes.
//
//go:fix inline
func (o Occupancy) Used() int { return o.Rows * o.RowBytes }

// Waste returns the bytes that are held but not used: room for further rows, padding at the ends of
// columns, and the reserve.
//
// Deprecated: use Bytes, Reserve, Rows and RowBytes.
//
//go:fix inline
func (o Occupancy) Waste() int { return o.Bytes + o.Reserve - o.Rows*o.RowBytes }

// SparseLookup is Lookup.
//
// Deprecated: use Lookup.
//
//go:fix inline
type SparseLookup[T any] = Lookup[T]

// ManagedLookup is Lookup.
//
// Deprecated: use Lookup.
//
//go:fix inline
type ManagedLookup[T any] = Lookup[T]

// LookupIn is Component.Lookup.
//
// Deprecated: use Lookup.
//
//go:fix inline
func (c Component[T]) LookupIn(in *Snapshot) Lookup[T] { return c.Lookup(in) }

// LookupIn is Buffer.Lookup.
//
// Deprecated: use Lookup.
//
//go:fix inline
func (b Buffer[T]) LookupIn(in *Snapshot) BufferLookup[T] { return b.Lookup(in) }

// LookupIn is Sparse.Lookup.
//
// Deprecated: use Lookup.
//
//go:fix inline
func (s Sparse[T]) LookupIn(in *Snapshot) Lookup[T] { return s.Lookup(in) }

// LookupIn is Managed.Lookup.
//
// Deprecated: use Lookup.
//
//go:fix inline
func (m Managed[T]) LookupIn(in *Snapshot) Lookup[T] { return m.Lookup(in) }

// Set writes e's value; see Mut. It returns false if e is not alive or does not have the type.
//
// Deprecated: use Mut.
func (l Lookup[T]) Set(e Entity, v T) bool {
	p := l.Mut(e)
	if p != nil {
		*p = v
	}
	return p != nil
}

// Len returns the number of entities that were alive.
//
// Deprecated: use Snapshot.Count.
func (s *Snapshot) Len() int {
	s.inner().Check("Snapshot.Len")
	return int(s.core.Created - s.core.Destroyed)
}

// World returns the snapshot's world.
//
// Deprecated: keep the world beside the snapshot.
func (s *Snapshot) World() *World {
	s.inner().Check("Snapshot.World")
	return worldFrom(s.core.World)
}

// Locate returns where e's values were, or false if e was not alive. The archetype is the
// snapshot's.
//
// Deprecated: where rows were tells nothing about where they are; use Lookup or Alive.
func (s *Snapshot) Locate(e Entity) (Location, bool) {
	return s.then("Snapshot.Locate", snapshot.ForRecords).locate("Snapshot.Locate", e)
}

// All yields the entities that have the type, with their values for writing, in the order of
// Entities. Disabled ones are among them. It marks all entries changed. The world is locked against
// structural changes, Add and Remove of sparse types among them, while the loop runs. Cost: a call
// per entry, which a loop over Slice avoids.
//
// Deprecated: loop over Entities and Slice.
func (s Sparse[T]) All() iter.Seq2[Entity, *T] {
	return func(yield func(Entity, *T) bool) {
		set := s.t.OpenSet("Sparse.All", world.MayWrite)
		scan := query.OpenAll(s.t)
		defer scan.EndAll()
		for at, e := range set.IDs() {
			if !yield(Entity(e), (*T)(set.Value(sparse.Entry(at+1)))) { // Safe because the set has values of T.
				return
			}
		}
	}
}

// At returns the value of the i'th row of rows, or nil if its entity has none. If the query
// declares Write, or the rows come from a Batch, At marks all values of the type changed. It panics
// for a type that the query does not declare with Read or Write, if i is not in [0, rows.Len()),
// and like Component.Slice. Cost: see Column, which checks once for all rows.
//
// Deprecated: use Column.
func (s Sparse[T]) At(rows Rows, i int) *T {
	return (*T)(rows.core.SparseValue(s.t, i)) // Safe because the set has values of T.
}

// Reset is Clear, then Shrink without a budget.
//
// Deprecated: call both.
//
//go:fix inline
func (w *World) Reset() {
	w.Clear()
	w.Shrink(0)
}

// Set writes the value of e's chunk. It returns false if e is not alive or does not have the type.
//
// Deprecated: use Mut.
func (c Chunk[T]) Set(e Entity, v T) bool {
	p := c.Mut(e)
	if p != nil {
		*p = v
	}
	return p != nil
}

// AppendText appends what MarshalText returns.
//
// Deprecated: use MarshalText.
func (e Entity) AppendText(b []byte) ([]byte, error) {
	form, err := e.MarshalText()
	return append(b, form...), err
}

// AppendBinary appends what MarshalBinary returns.
//
// Deprecated: use MarshalBinary.
func (e Entity) AppendBinary(b []byte) ([]byte, error) {
	form, err := e.MarshalBinary()
	return append(b, form...), err
}

// Len returns the number of rows, or 0 if the chunk lacks an optional type.
//
// Deprecated: use Rows.Len, and In of the handle.
func (b buffersOf[T]) Len() int { return b.b.rows }

// Len returns the number of rows, or 0 if the chunk lacks an optional type.
//
// Deprecated: use Rows.Len, and In of the handle.
func (b Bits[T]) Len() int { return b.b.rows }

// Len returns the number of rows, or 0 if the chunk lacks an optional type.
//
// Deprecated: use Rows.Len, and In of the handle.
func (b BitsW[T]) Len() int { return b.b.rows }

// DefaultChunkGrowth returns the policy of worlds without ChunkGrowth.
//
// Deprecated: it is what ChunkGrowth documents.
//
//go:fix inline
func DefaultChunkGrowth() alloc.Growth { return alloc.Doubling().Capped(64) }

// MaxDelta is how many bytes a delta may have that ApplyDelta reads, unless its reader says that it
// has more.
//
// Deprecated: DecodeDelta takes a limit of your own.
const MaxDelta = delta.MaxDelta

// Locate returns the location of e's values, or false if e is not alive.
//
// Deprecated: use job.Ctx.Locate.
func (r *Accessor) Locate(e Entity) (Location, bool) {
	r.inner().Check("Accessor.Locate")
	return worldFrom(r.core.Borrow.World).locate("Accessor.Locate", e)
}

// World returns the change's world.
//
// Deprecated: keep the world beside the change.
func (c *Change) World() *World { return worldFrom(c.core.World) }

// World returns the query's world, or nil if the query is closed.
//
// Deprecated: keep the world beside the query.
func (q *Query) World() *World {
	if q == nil || q.core.Matching == nil {
		return nil
	}
	return worldFrom(q.core.World)
}

// At returns the i'th entity that matches. It panics if i is not in [0, Count()). Cost: per chunk
// before the entity.
//
// Deprecated: use Entities.
func (q *Query) At(i int) Entity {
	e, found, left := Null, false, i
	q.inner().Each("Query.At", func(rows query.Rows) bool {
		if n := rows.Count(); left >= n {
			left -= n
			return true
		}
		for row := range eachBit(rows.Mask()) {
			if found = left == 0; found {
				e = Entity(rows.Entities()[row])
				break
			}
			left--
		}
		return false
	})
	if !found {
		panic(fmt.Sprintf("ecs: Query.At: index %d is not in [0, %d) of %v", i, q.Count(), q))
	}
	return e
}

// String returns the location as "[Position Velocity] chunk 3 row 17", or "nowhere".
//
// Deprecated: print the fields.
func (p Location) String() string {
	if p.Archetype == nil {
		return "nowhere"
	}
	return fmt.Sprintf("%v chunk %d row %d", p.Archetype, p.Chunk, p.Row)
}

// The Try forms. go fix does not rewrite them: it inlines no function of several statements.

// TryNewArchetype is Try of NewArchetype.
//
// Deprecated: use Try.
func TryNewArchetype(w *World, types ...Type) (a *Archetype, err error) {
	err = Try(func() { a = NewArchetype(w, types...) })
	return a, err
}

// TryCreate is Try of Archetype.Create.
//
// Deprecated: use Try.
func (a *Archetype) TryCreate() (e Entity, err error) {
	err = Try(func() { e = a.Create() })
	return e, err
}

// TryCreate is Try of Bundle.Create.
//
// Deprecated: use Try.
func (b *Bundle[S]) TryCreate(s S) (e Entity, err error) {
	err = Try(func() { e = b.Create(s) })
	return e, err
}

// TrySet is Try of Bundle.Set.
//
// Deprecated: use Try.
func (b *Bundle[S]) TrySet(e Entity, s S) (set bool, err error) {
	err = Try(func() { set = b.Set(e, s) })
	return set, err
}

// TryInstantiate is Try of World.Instantiate.
//
// Deprecated: use Try.
func (w *World) TryInstantiate(e Entity) (made Entity, err error) {
	err = Try(func() { made = w.Instantiate(e) })
	return made, err
}

// TryDestroy is Try of World.Destroy.
//
// Deprecated: use Try.
func (w *World) TryDestroy(e Entity) (destroyed bool, err error) {
	err = Try(func() { destroyed = w.Destroy(e) })
	return destroyed, err
}

// TryAdd is Try of Component.Add.
//
// Deprecated: use Try.
func (c Component[T]) TryAdd(e Entity, v T) (added bool, err error) {
	err = Try(func() { added = c.Add(e, v) })
	return added, err
}

// TryAdd is Try of Managed.Add.
//
// Deprecated: use Try.
func (m Managed[T]) TryAdd(e Entity, v T) (added bool, err error) {
	err = Try(func() { added = m.Add(e, v) })
	return added, err
}

// TryAdd is Try of Sparse.Add.
//
// Deprecated: use Try.
func (s Sparse[T]) TryAdd(e Entity, v T) (added bool, err error) {
	err = Try(func() { added = s.Add(e, v) })
	return added, err
}

// TryAdd is Try of Chunk.Add.
//
// Deprecated: use Try.
func (c Chunk[T]) TryAdd(e Entity) (added bool, err error) {
	err = Try(func() { added = c.Add(e) })
	return added, err
}

// TryRemove is Try of Component.Remove.
//
// Deprecated: use Try.
func (h handle) TryRemove(e Entity) (removed bool, err error) {
	err = Try(func() { removed = h.Remove(e) })
	return removed, err
}

// TryAdd is Try of Shared.Add.
//
// Deprecated: use Try.
func (c Shared[T]) TryAdd(e Entity, v T) (added bool, err error) {
	err = Try(func() { added = c.Add(e, v) })
	return added, err
}

// TrySet is Try of Shared.Set.
//
// Deprecated: use Try.
func (c Shared[T]) TrySet(e Entity, v T) (set bool, err error) {
	err = Try(func() { set = c.Set(e, v) })
	return set, err
}

// TryRemove is Try of Shared.Remove.
//
// Deprecated: use Try.
func (c Shared[T]) TryRemove(e Entity) (removed bool, err error) {
	err = Try(func() { removed = c.Remove(e) })
	return removed, err
}

// TryAppend is Try of DynamicBuffer.Append.
//
// Deprecated: use Try.
func (d DynamicBuffer[T]) TryAppend(v ...T) error { return Try(func() { d.Append(v...) }) }

// TryInsert is Try of DynamicBuffer.Insert.
//
// Deprecated: use Try.
func (d DynamicBuffer[T]) TryInsert(i int, v ...T) error { return Try(func() { d.Insert(i, v...) }) }

// TryCopyFrom is Try of DynamicBuffer.CopyFrom.
//
// Deprecated: use Try.
func (d DynamicBuffer[T]) TryCopyFrom(v []T) error { return Try(func() { d.CopyFrom(v) }) }

// TryReserve is Try of DynamicBuffer.Reserve.
//
// Deprecated: use Try.
func (a array) TryReserve(n int) error { return Try(func() { a.Reserve(n) }) }

// TryResize is Try of DynamicBuffer.Resize.
//
// Deprecated: use Try.
func (a array) TryResize(n int) error { return Try(func() { a.Resize(n) }) }

// TryResizeUninitialized is Try of DynamicBuffer.ResizeUninitialized.
//
// Deprecated: use Try.
func (a array) TryResizeUninitialized(n int) error { return Try(func() { a.ResizeUninitialized(n) }) }
