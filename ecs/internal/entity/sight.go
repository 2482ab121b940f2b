package entity

import "unsafe"

// Look-ups of one value.
//
// A look-up follows two tables. What is exceptional is data in them, so a look-up has neither calls
// nor branches for it:
//
//	Entity 12v3            record 12                    cell of the stretch        value
//	  ref ^ tag = 12  -->    version 3 == 3        -->    base, size          -->    base + location*size
//	                         location: stretch, row
//
// The rows of a stretch lie behind one another, so the address of a row's value is linear in the
// row's location. A dead entity has no record with its version. A type that the entity lacks has a
// Cell of zeros for its stretch, and the address that zeros give is nil. An index beyond the
// records leads to the last one, which is no entity's: its version is 0, as that of the zero ID,
// which is nil then in every world. The index of an ID of another world and of a placeholder is at
// or above foreign: At panics, with a value that makes the message when the message is asked for,
// since the compiler inlines no function that calls another. A hidden Sight has no records, and all
// indices are foreign.
//
// A call of At by a handle costs 79 of the compiler's budget of 80.
//
// The address of a value is a number until it is returned. Race builds have their memory in Go
// objects and check that a pointer comes from one to the same object; go:nocheckptr tells them that
// these come from none.

// A Location is the number of a stretch, and the row in the stretch: 2,048 rows of one chunk, or
// fewer. Stretch 0 has no rows.
const (
	RowBits   = 11                  // bits of the row
	Stretches = 1 << (32 - RowBits) // stretches that locations tell apart
)

// Cell says where the values of one type are in one stretch, for look-ups, and where the change
// version of the type is in the chunk of the stretch. Where the stretch has none, it is what
// NoValues returns.
type Cell struct {
	base uintptr     // address that a value would have at location 0, modulo 2^64
	size uintptr     // bytes from a row's value to the next; 0 for a tag
	mark *uint32     // the version, never nil
	bits *EnableBits // of the chunk; nil where the type cannot be disabled
}

const cellSize = unsafe.Sizeof(Cell{})

// MakeCell returns the cell of a stretch with values of a size. The value of the row at l is at p,
// and the version at mark.
func MakeCell(p unsafe.Pointer, l Location, size uintptr, mark *uint32) Cell {
	return Cell{base: uintptr(p) - uintptr(l)*size, size: size, mark: mark}
}

// NoValues returns the cell of a stretch without the type. Look-ups that write mark nowhere there.
func NoValues(nowhere *uint32) Cell { return Cell{mark: nowhere} }

// SetBits sets which bits say where the type is enabled.
func (c *Cell) SetBits(b *EnableBits) { c.bits = b }

// Bits returns the enable bits of the type in the chunk of the stretch, nil where it has none.
func (c *Cell) Bits() *EnableBits { return c.bits }

// ValueAt returns the address of the value of the row at a location, nil where the stretch has
// none.
//
//go:nocheckptr
func (c *Cell) ValueAt(l Location) unsafe.Pointer {
	// Safe because the memory is the universe's, which the collector does not move and which
	// outlives the look-up.
	return unsafe.Add(nil, c.base+uintptr(l)*c.size)
}

// Mark returns the address of the version of the type in the chunk of the stretch.
func (c *Cell) Mark() *uint32 { return c.mark }

// records are as many as an uint32 can number, where addresses have 64 bits: then the compiler
// checks no bounds.
type records = [1 << (27 + 5*(^uint(0)>>63))]Record

// Sight is what look-ups of one type ask. The zero Sight is of no use: call Show or Hide.
type Sight struct {
	tag     Tag
	last    uint32 // as in scope, of which these three are one: the compiler counts a field of a field twice
	foreign uint32
	records *records
	cells   *[Stretches]Cell // by stretch, as many as any location needs
	write   scope            // of look-ups that write
	now     *uint32          // what they write at the mark of a cell
}

// scope says which records look-ups see.
type scope struct {
	last    uint32   // index of the last record, which is no entity's
	foreign uint32   // first index that is no entity's of this world: MaxIDs, 0 while hidden
	records *records // last+1 of them
}

// What look-ups see without records: a record that no ID but the zero one leads to, and one that no
// ID which a store gave leads to.
var (
	nobody = [1]Record{}
	closed = [1]Record{{version: ^uint32(1)}}
	blank  = [1]Cell{NoValues(new(uint32))}
)

// none is the Sight of a type that nobody registered.
var none = new(Sight)

func init() { none.Hide() }

// why returns the message of a Refusal; see OnRefusal.
var why = func(s *Sight, e ID) string {
	return "entity: Sight.At: " + e.String() + " is of another world, or the Sight is hidden"
}

// OnRefusal has f make the messages of refusals. It is called with nil for a nil Sight. Call it
// before the first look-up.
func OnRefusal(f func(s *Sight, e ID) string) { why = f }

// Show lets look-ups find the entities of a view, but for those that write.
func (s *Sight) Show(v View) {
	s.open()
	s.tag = v.tag
	s.see(scopeOf(v))
}

// ShowWrites lets look-ups that write find what others find. They write now at the mark.
func (s *Sight) ShowWrites(now *uint32) { s.write, s.now = s.scope(), now }

// HideWrites makes all look-ups that write go to the function of OnWrite.
func (s *Sight) HideWrites() { s.write = hidden }

// Hide makes all look-ups panic.
func (s *Sight) Hide() {
	s.open()
	s.see(hidden)
	s.write = hidden
}

// open gives a zero Sight cells.
func (s *Sight) open() {
	if s.cells == nil {
		s.SetCells(blank[:])
		s.write = hidden
	}
}

func (s *Sight) scope() scope { return scope{s.last, s.foreign, s.records} }

func (s *Sight) see(w scope) { s.last, s.foreign, s.records = w.last, w.foreign, w.records }

// scopeOf returns the scope that sees the records of a view.
func scopeOf(v View) scope {
	if v.n == 0 {
		return makeScope(unsafe.Pointer(&nobody), 0, MaxIDs) // Safe because it has one record.
	}
	return makeScope(v.base, v.n-1, MaxIDs)
}

// hidden is the scope that sees nothing.
var hidden = makeScope(unsafe.Pointer(&closed), 0, 0) // Safe because it has one record.

// makeScope returns a scope with the address of record 0.
//
//go:nocheckptr
func makeScope(p unsafe.Pointer, last, foreign uint32) scope {
	w := scope{last: last, foreign: foreign}
	// The pointer's type has more records than there are: it is written without a conversion, which
	// would be checked. Safe because no record behind the last is looked at.
	*(*unsafe.Pointer)(unsafe.Pointer(&w.records)) = p
	return w
}

// SetCells sets the cells, as many as any location needs.
func (s *Sight) SetCells(cells []Cell) {
	// As setRecords. Safe because the location of a row has a stretch below the number of cells.
	*(*unsafe.Pointer)(unsafe.Pointer(&s.cells)) = unsafe.Pointer(unsafe.SliceData(cells))
}

// ShareCells makes the cells those of another Sight.
func (s *Sight) ShareCells(of *Sight) { s.cells = of.cells }

// Shows reports whether look-ups find the entities of a view.
func (s *Sight) Shows(v View) bool {
	want := scopeOf(v)
	return s.tag == v.tag && s.scope() == want && (s.write == want || s.write == hidden)
}

// Len returns the number of records that look-ups see.
func (s *Sight) Len() int { return int(s.last) }

// At returns the address of the value of an entity, nil when e is not alive or lacks the type. It
// panics with a *Refusal for an ID of another world, for a placeholder, for a nil Sight and while s
// is hidden.
//
//go:nocheckptr
func (s *Sight) At(e ID) unsafe.Pointer {
	if s == nil {
		s = none
	}
	i := e.ref ^ uint32(s.tag)
	if r := s.records[min(i, s.last)]; r.version == e.version {
		c := s.cells[r.Location>>RowBits]
		return unsafe.Add(nil, c.base+uintptr(r.Location)*c.size) // Safe because ValueAt is.
	}
	if i >= s.foreign {
		panic(&Refusal{s: s, e: e})
	}
	return nil
}

// Mut is At for look-ups that write: it marks the stretch. Where At panics, and while writes are
// hidden, it returns what the function of OnWrite returns, to which it hands op. It is one call
// without branches for what is rare, in its own words of unsafe, for a nil check of a table is a
// load.
//
//go:nocheckptr
func (s *Sight) Mut(op uint8, e ID) unsafe.Pointer {
	if s != nil {
		if i := e.ref ^ uint32(s.tag); i <= s.write.last {
			// Safe because there are records up to the last, see makeScope.
			r := (*Record)(unsafe.Add(unsafe.Pointer(s.write.records), uintptr(i)*recordSize))
			if r.version != e.version {
				if s.write.foreign != 0 {
					return nil
				}
				return mutElse(s, op, e)
			}
			l := r.Location
			c := s.CellOf(l)
			*c.mark = *s.now
			return c.ValueAt(l)
		}
	}
	return mutElse(s, op, e)
}

var mutElse func(s *Sight, op uint8, e ID) unsafe.Pointer

// OnWrite has f do what look-ups that write do else. Call it before the first.
func OnWrite(f func(s *Sight, op uint8, e ID) unsafe.Pointer) { mutElse = f }

// Switch enables or disables the type of an entity, marks the stretch, and returns true. Where Mut
// asks the function of OnWrite, for an entity that is dead, and where the stretch has no bits, it
// returns what the function of OnSwitch returns.
//
//go:nocheckptr
func (s *Sight) Switch(e ID, on bool) bool {
	if s != nil {
		if i := e.ref ^ uint32(s.tag); i <= s.write.last {
			// Safe because there are records up to the last, see makeScope.
			r := (*Record)(unsafe.Add(unsafe.Pointer(s.write.records), uintptr(i)*recordSize))
			if c := s.CellOf(r.Location); r.version == e.version && c.bits != nil {
				c.bits.Set(int(r.Location-c.bits.first), on)
				*c.mark = *s.now
				return true
			}
		}
	}
	return switchElse(s, e, on)
}

var switchElse func(s *Sight, e ID, on bool) bool

// OnSwitch has f do what Switch does not. Call it before the first.
func OnSwitch(f func(s *Sight, e ID, on bool) bool) { switchElse = f }

// Find returns the record of an entity that is alive, for look-ups that do more than At. Without
// one, ok says that At would return nil: not that it would panic.
func (s *Sight) Find(e ID) (r *Record, ok bool) {
	if s == nil {
		return nil, false
	}
	i := e.ref ^ uint32(s.tag)
	r = &s.records[min(i, s.last)]
	if r.version != e.version {
		return nil, i < s.foreign
	}
	if e.version&1 == 0 {
		return nil, true
	}
	return r, true
}

// Values writes what At returns for entities, up to the first that is not alive or that At panics
// for, and returns how many it wrote. The addresses are numbers: the universe keeps their memory
// alive, and to store one needs no word with the collector. With write it marks their stretches.
// into is no longer than list.
func (s *Sight) Values(into []uintptr, list []ID, write bool) int {
	// In registers: the compiler cannot know that what is written is not the Sight.
	tag, last, records, cells := uint32(s.tag), s.last, s.records, s.cells
	for i, e := range list[:len(into)] {
		r := &records[min(e.ref^tag, last)]
		if r.version != e.version {
			return i
		}
		c := &cells[r.Location>>RowBits]
		into[i] = c.base + uintptr(r.Location)*c.size
		if write {
			*c.mark = *s.now
		}
	}
	return len(into)
}

// AddressOf returns the address of the record that a look-up of an ID reads, to prefetch it.
func (s *Sight) AddressOf(e ID) uintptr {
	// Safe because the address is only a number.
	return uintptr(unsafe.Pointer(&s.records[min(e.ref^uint32(s.tag), s.last)]))
}

// CellOf returns the cell of the stretch of a row.
func (s *Sight) CellOf(l Location) *Cell {
	// Safe because a location of a row has a stretch below the number of cells.
	return (*Cell)(unsafe.Add(unsafe.Pointer(s.cells), uintptr(l>>RowBits)*cellSize))
}

// Refusal is what At panics with: an error whose message is made when it is first asked for.
type Refusal struct {
	s    *Sight
	e    ID
	text string
}

// Error says what is wrong with the look-up. The first call says what is wrong then.
func (r *Refusal) Error() string {
	s := r.s
	if s == none {
		s = nil
	}
	if r.text == "" {
		r.text = why(s, r.e)
	}
	return r.text
}
