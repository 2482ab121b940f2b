package ecs

import (
	"slices"
	"unsafe"

	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Query finds the entities that match its terms. Archetypes are matched when a query or an
// archetype is created, never while iterating. A query belongs to the world's owner: one goroutine
// at a time. Loops over a query may be nested. For loops in several goroutines, see World.Share.
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
	w.inner().CheckUnshared("NewQuery") // it enters the index of archetypes and the list of queries
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
		q.core.Sets = t.core.AppendTests(q.core.Sets)
	}
	q.core.Matching = w.core.Index.Matching(q.inner().Read())
	return q
}

// Close removes the query from its world, which then no longer tests new archetypes against it.
// Close panics inside a loop over the query and while the world is shared. A second call does
// nothing. Loops over a closed query panic.
func (q *Query) Close() { q.inner().Close() }

// Since returns the version that the Changed and Ordered terms compare with: the world's version
// when a loop last ran to its end, or the version given to SetSince.
func (q *Query) Since() uint32 { return q.core.Since }

// SetSince sets the version that the Changed and Ordered terms compare with, as World.Version and
// World.Advance return it. Version 0 passes every chunk. SetSince panics while the world is shared.
func (q *Query) SetSince(version uint32) { q.inner().SetSince("Query.SetSince", version, false) }

// World returns the query's world, or nil if the query is closed.
func (q *Query) World() *World {
	if q == nil || q.core.Matching == nil {
		return nil
	}
	return worldFrom(q.core.World)
}

// String returns the terms, as in query(Write Position, Read Velocity).
func (q *Query) String() string { return q.inner().String() }
