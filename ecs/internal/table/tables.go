package table

import (
	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/layout"
)

// Tables is what the tables of a world have in common.
type Tables struct {
	Version     uint32 // change version that rows which come, go or move are marked with; the caller counts it, never 0
	u           *alloc.Universe
	smallChunks *alloc.SmallChunks // of small chunks
	growth      alloc.Growth       // of the number of units of a table
	ids         *entity.Store      // whose records say where rows are
	types       []Type             // by TypeID
	plans       map[Signature]layout.Plan
	spares      Spares
	calls       Calls

	owners      []Owner       // by stretch, see reach
	stretches   stretches     // those in use
	directories []directory   // by TypeID
	blank       []entity.Cell // zero cells, as many as owners
	nowhere     uint32        // what look-ups that write mark where there is nothing to mark
}

// Type is what tables know of a component type.
type Type struct {
	Layout  layout.Column  // name for messages, size and alignment of an element, whether it can be disabled
	Buffers *value.Buffers // the heap of spilled elements; nil: the type is no buffer
	Managed value.Managed  // the store of values; nil: the type is not managed
	Sight   *entity.Sight  // that look-ups of the type ask
}

// Owns reports whether rows own a block or a value outside the chunk, which ends with the row.
func (t *Type) Owns() bool { return t.Buffers != nil || t.Managed != nil }

// Calls are the functions of the world that tables call. No call is made for rows that move or end.
type Calls struct {
	Trim      func() int // called when the universe refuses: frees reserves and returns how many chunks
	Replanned func()     // called when a table without rows got another layout
}

// Open makes zero Tables ready, with chunks from u and rows that the records of ids lead to.
func (s *Tables) Open(u *alloc.Universe, growth alloc.Growth, ids *entity.Store, calls Calls) {
	*s = Tables{Version: 1, u: u, smallChunks: alloc.NewSmallChunks(u), growth: growth, ids: ids, calls: calls,
		plans: map[Signature]layout.Plan{}}
}

// Register adds a type. Its TypeID is the number of types registered before it.
func (s *Tables) Register(t Type) {
	s.types = append(s.types, t)
	s.directories = append(s.directories, directory{sight: t.Sight})
	s.reach(1)
	t.Sight.SetCells(s.blank)
}

// Managed returns the store of a type that is managed.
func (s *Tables) Managed(id TypeID) value.Managed { return s.types[id].Managed }

// SmallChunks returns what hands out the small chunks of the world.
func (s *Tables) SmallChunks() *alloc.SmallChunks { return s.smallChunks }

// Growth returns the growth policy of tables.
func (s *Tables) Growth() alloc.Growth { return s.growth }

// Trim drops the spare enable bits.
func (s *Tables) Trim() { s.spares = Spares{} }

// Close drops the owners, the directories and the spare enable bits. All tables are closed, and all
// look-ups hidden.
func (s *Tables) Close() {
	s.owners, s.stretches, s.directories, s.blank = nil, stretches{}, nil, nil
	s.Trim()
}

// Verify checks W3 and L1. all are the tables of the world.
func (s *Tables) Verify(all []*Table) error {
	if err := s.verifyOwners(all); err != nil {
		return err
	}
	return s.verifyDirectories(all)
}
