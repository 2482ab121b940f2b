package table

import (
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// Tables is what the tables of a world have in common.
type Tables struct {
	Version uint32 // change version that rows which come, go or move are marked with; the caller counts it, never 0
	u       *alloc.Universe
	base    unsafe.Pointer // address of the universe's chunk 0
	shelf   *alloc.Shelf   // of small chunks
	growth  alloc.Growth   // of the number of chunks of a table
	ids     *entity.Store  // whose records say where rows are
	types   []Type         // by TypeID
	plans   map[Signature]layout.Plan
	spares  Spares
	calls   Calls
	owners
}

// Type is what tables know of a component type.
type Type struct {
	Layout  layout.Column  // name for messages, size and alignment of an element, whether it can be disabled
	Buffers *value.Buffers // whose block an element owns when it has spilled; nil: it is no buffer
	Managed value.Managed  // whose value an element owns; nil: it is not of a managed type
}

// Owns reports whether rows own something outside the chunk, which ends with them.
func (t *Type) Owns() bool { return t.Buffers != nil || t.Managed != nil }

// Calls are what tables ask of whom they belong to. None is made for rows that move or end.
type Calls struct {
	Trim      func() int // gives back what is kept in reserve, where the universe refuses; returns how much
	Replanned func()     // a table without rows got another layout
}

// Open makes ready for tables on a universe, with rows that the records of ids lead to.
func (s *Tables) Open(u *alloc.Universe, growth alloc.Growth, ids *entity.Store, calls Calls) {
	// Safe because chunk 0 is the universe's base whether or not it is in use.
	*s = Tables{Version: 1, u: u, base: u.Base(), shelf: alloc.NewShelf(u), growth: growth, ids: ids, calls: calls,
		plans: map[Signature]layout.Plan{}}
}

// Register adds a type, whose TypeID is the number of those before it.
func (s *Tables) Register(t Type) { s.types = append(s.types, t) }

// Shelf returns where small chunks come from.
func (s *Tables) Shelf() *alloc.Shelf { return s.shelf }

// Growth returns how tables take chunks.
func (s *Tables) Growth() alloc.Growth { return s.growth }

// Trim drops what is kept for chunks that come.
func (s *Tables) Trim() { s.spares = Spares{} }

// Close forgets all chunks. All tables are closed.
func (s *Tables) Close() {
	s.owners = owners{}
	s.Trim()
}

// Verify checks W3 and L1 for all tables there are.
func (s *Tables) Verify(all []*Table) error {
	if err := s.verifyOwners(all); err != nil {
		return err
	}
	for _, d := range s.directories {
		if err := d.verify(s, all); err != nil {
			return err
		}
	}
	return nil
}
