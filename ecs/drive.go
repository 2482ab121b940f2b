package ecs

import "quarry/ecs/internal/query"

// DriveBy sets what the query's loops, and the parts of jobs over it, go through. It changes what
// they cost, not what they yield. By chunks a loop looks at each row of each matching archetype, 1
// ns; by the set at each entry, 18 ns with sorting. Query.RowsOf, Chunks and changes by query go
// through the chunks. DriveBy does nothing for a query without a required sparse type, and panics
// while the world is shared.
func (q *Query) DriveBy(d Driver) { q.inner().DriveBy(d) }

// Driver says what the loops of a query with a sparse type go through; see Query.DriveBy.
type Driver = query.Driver

const (
	DriveBySize   = query.DriveBySize   // the set if it is small beside the rows, else the chunks; the default
	DriveBySet    = query.DriveBySet    // the set of the sparse type that has the fewest entries
	DriveByChunks = query.DriveByChunks // the chunks of matching archetypes
)
