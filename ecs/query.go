package ecs

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Query finds the entities that match its terms. Archetypes are matched when a query or an
// archetype is created, never while iterating. A query belongs to the world's owner: one goroutine
// at a time. Loops over a query may be nested. For loops in several goroutines, see Rows.
type Query struct{ core query.Query }

func (q *Query) inner() *query.Query { return (*query.Query)(unsafe.Pointer(q)) } // Safe because a Query is its core.

// NewQuery creates a query from terms, in any order. Without terms the query matches every entity
// except those hidden by Prefab and DisabledEntity. NewQuery panics for a type of another world,
// for a type in two terms, and for Disabled of a type that is not Enableable.
//
// Until the query is closed, the world tests every new archetype that has one of the query's types
// against it, or every new archetype if the query requires no type. So create queries once, not in
// every frame. Queries with equal match conditions share their matches.
func NewQuery(w *World, terms ...Term) *Query {
	w.inner().CheckNew("NewQuery")
	w.inner().CheckNotLent("NewQuery") // it enters the index of archetypes and the list of queries
	q := &Query{core: query.Query{World: w.inner(), Terms: coresOf[query.Term](slices.Clone(terms))}}
	var seen world.Signature
	for _, t := range terms {
		if len(t.core.Of) == 0 && t.core.Kind < query.TermOrdered {
			if t.core.Kind == query.TermRead {
				panic("ecs: NewQuery: a term is the zero value; terms come from Read, Write, With and so on")
			}
			panic("ecs: NewQuery: " + query.TermNames[t.core.Kind] + " names no type")
		}
		for i := range t.core.Of {
			q.inner().Declare((&t).inner(), i, &seen)
		}
		q.core.Ordered = q.core.Ordered || t.core.Kind == query.TermOrdered
		q.core.Sets = t.core.AppendSparseFilters(q.core.Sets)
	}
	q.core.Matching = w.core.Index.Matching(q.inner().Read())
	return q
}

// Close removes the query from its world, which then no longer tests new archetypes against it.
// Close panics inside a loop over the query and while the world is lent. A second call does
// nothing. Loops over a closed query panic.
func (q *Query) Close() { q.inner().Close() }

// Since returns the version that the Changed and Ordered terms compare with: the world's version
// when a loop last ran to its end, or the version given to SetSince.
func (q *Query) Since() uint32 { return q.core.Since }

// SetSince sets the version that the Changed and Ordered terms compare with, as World.Version and
// World.Advance return it. Version 0 passes every chunk. SetSince panics while the world is lent.
func (q *Query) SetSince(version uint32) { q.inner().SetSince("Query.SetSince", version, false) }

// String returns the terms, as in query(Write Position, Read Velocity).
func (q *Query) String() string { return q.inner().String() }

// Rows yields the matching rows, one chunk at a time: archetypes in order of creation, chunks and
// rows in order. A chunk with at least one matching row is yielded whole, with a mask if not every
// row matches. Rows allocates nothing. The world is locked against structural changes while the
// loop runs, so an iter.Pull over Rows must be stopped.
//
// When a loop over a query with Changed or Ordered terms runs to its end, it sets Since to the
// current version and advances the world's version: the next loop sees later writes, but not the
// writes of this loop. A break prevents that. Loops in package system advance once per update
// instead. While the world is lent, Rows does not advance versions, and panics for a query with
// Write.
//
// Goroutines: the owner, or any goroutine between World.Lend and Borrow.End. One that goes on after
// End races with the owner. The race detector reports it, and debug builds panic where a loop goes
// on inside one that began after it, unless iter.Pull runs one of the two.
func (q *Query) Rows() iter.Seq[Rows] {
	return func(yield func(Rows) bool) { q.inner().Walk(coreYield(yield)) }
}

// Where yields the query's rows whose entities have the given shared value. It is like Rows but
// does not advance Since. It serves values that change from call to call, such as the cells around
// a ship, without a query for each value, as the term Where would need. Cost: a search among the
// query's archetypes for each archetype of the value, whatever the number of values. It panics for
// a value of another world. Goroutines: as Rows.
func (q *Query) Where(value SharedValue) iter.Seq[Rows] {
	return func(yield func(Rows) bool) { q.inner().WalkOf(value.core, coreYield(yield)) }
}

// Access holds the types of one world that are read and the types that are written. The zero value
// holds none.
type Access struct{ core world.Access }

// Access returns the types that a loop over the query reads or may write. These are the types
// declared with Read and Write, alone and inside other terms. The types whose enable bits decide
// which rows match, and the types of Changed and Between terms, count as read. Other terms add
// nothing, because only structural changes alter which entity has which type or shared value.
func (q *Query) Access() Access { return Access{q.inner().Access()} }

// Conflicts returns the names of the types by which a and b conflict, in order of registration: the
// types that one of them writes and the other reads or writes. It returns nil if they do not
// conflict. A closed world answers too. Conflicts panics for types that the world does not have.
func (w *World) Conflicts(a, b Access) (names []string) {
	return query.Conflicts(w.inner(), a.core, b.core)
}

// Query results as a number, an entity or a slice, in the order of Query.Rows. Changed and Ordered
// terms compare with Since, which does not advance.

// ErrNotSingle is wrapped by the error of Query.Single if not exactly one entity matches.
var ErrNotSingle = errors.New("not exactly one entity")

// Count returns the number of entities that match. Cost: per archetype; per chunk if enable bits or
// versions decide; per row if sparse types or Masked terms do.
func (q *Query) Count() int { return q.inner().Count() }

// Matches reports whether a loop over q would now yield e as a matching row.
func (q *Query) Matches(e Entity) bool { return q.inner().Matches(entity.ID(e)) }

// Empty reports whether no entity matches. It stops at the first match.
func (q *Query) Empty() bool { return q.inner().Empty() }

// Single returns the only entity that matches. If not exactly one entity matches, it returns an
// error that wraps ErrNotSingle and gives the number of matches.
func (q *Query) Single() (Entity, error) {
	e, n := q.inner().Single()
	if n != 1 {
		return Null, fmt.Errorf("ecs: Query.Single: %v matches %d: %w", q, n, ErrNotSingle)
	}
	return Entity(e), nil
}

// Entities appends the entities that match to dst.
func (q *Query) Entities(dst []Entity) []Entity {
	q.inner().Each("Query.Entities", func(rows query.Rows) bool {
		dst = entitiesOf(Rows{rows}.core.AppendEntities(idsOf(dst)))
		return true
	})
	return dst
}

// Values appends to dst the component of every entity that matches q. It panics if q does not
// declare the component, and for a chunk without it (Optional, Any).
func (c Component[T]) Values(q *Query, dst []T) []T {
	n := query.Count(c.t, q.inner())
	dst = slices.Grow(dst, n)
	query.CopyValues(c.t, q.inner(), bytesOf(dst[len(dst):len(dst)+n]))
	return dst[:len(dst)+n]
}

// SetValues writes src to the components of the entities that match q, one value per entity, in the
// order of Values. If the number of entities is not len(src), SetValues writes nothing and returns
// an error with both numbers. It panics if q does not declare the component with Write, for a chunk
// without it, and while the world is lent.
func (c Component[T]) SetValues(q *Query, src []T) error {
	return query.SetValues(c.t, q.inner(), bytesOf(src), len(src))
}

// bytesOf views values as bytes, so that what copies them is there once for all types.
func bytesOf[T any](values []T) []byte {
	var v T
	// Safe because the values lie one behind the other and hold no Go pointers.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}
