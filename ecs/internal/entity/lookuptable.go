package entity

import "unsafe"

// Look-ups of one value.
//
// A look-up follows two tables. Exceptional cases are encoded as data in the tables, so a look-up
// needs neither calls nor branches for them:
//
//	Entity 12v3            record 12                    column address                value
//	  ref ^ tag = 12  -->    version 3 == 3        -->    base, size          -->    base + location*size
//	                         location: row block, row
//
// The rows of a row block are contiguous, so the address of a row's value is linear in the row's
// location. The exceptional cases are:
//
// A dead entity has no record with its version. A type that the entity lacks has a ColumnAddress of
// zeros for the entity's row block, and the address computed from zeros is nil. An index beyond the
// records leads to the last record, which no entity uses: its version is 0, like the version of the
// zero ID, which therefore yields nil in every world. The index of an ID of another world, or of a
// placeholder, is at or above foreign. For these At panics, with a value that makes its message on
// request, since the compiler does not inline a function that calls another. A disabled LookupTable
// has no records, and all indices are foreign.
//
// A call of At through a handle costs 79 of the compiler's budget of 80.
//
// The address of a value is a number until it is returned. Race builds keep their memory in Go
// objects and check that arithmetic on a pointer stays in one object; go:nocheckptr exempts these
// functions, whose addresses come from no pointer.

// A Location is the number of a row block and the row in the row block. A row block is up to 2,048
// rows of one chunk. Row block 0 has no rows.
const (
	RowBits   = 11                  // bits of the row
	RowBlocks = 1 << (32 - RowBits) // row blocks that locations distinguish
)

// ColumnAddress is, for look-ups, where the values of one type are in one row block, and where
// the change version of the type in the row block's chunk is. A row block without the type has the
// column address from NoValues.
type ColumnAddress struct {
	base uintptr     // address of the value at location 0, if there were one, modulo 2^64
	size uintptr     // bytes from one row's value to the next; 0 for a tag
	mark *uint32     // the version, never nil
	bits *EnableBits // of the chunk; nil if the type cannot be disabled
}

const columnAddressSize = unsafe.Sizeof(ColumnAddress{})

// MakeColumnAddress returns the column address of a row block whose values have a size. The row at
// l has its value at p, and the version is at mark.
func MakeColumnAddress(p unsafe.Pointer, l Location, size uintptr, mark *uint32) ColumnAddress {
	return ColumnAddress{base: uintptr(p) - uintptr(l)*size, size: size, mark: mark}
}

// NoValues returns the column address of a row block without the type. Look-ups that write mark
// nowhere instead of a version.
func NoValues(nowhere *uint32) ColumnAddress { return ColumnAddress{mark: nowhere} }

// SetBits sets the enable bits of the type.
func (c *ColumnAddress) SetBits(b *EnableBits) { c.bits = b }

// Bits returns the enable bits of the type in the row block's chunk, or nil if it has none.
func (c *ColumnAddress) Bits() *EnableBits { return c.bits }

// ValueAt returns the address of the value of the row at a location, or nil if the row block has no
// values.
//
//go:nocheckptr
func (c *ColumnAddress) ValueAt(l Location) unsafe.Pointer {
	// Safe because the memory is the universe's, which the collector does not move and which
	// outlives the look-up.
	return unsafe.Add(nil, c.base+uintptr(l)*c.size)
}

// Has reports whether ValueAt is not nil. To compare its result with nil would not do where it is
// inlined: the compiler takes the sum of a pointer and a number for one that is not nil.
func (c *ColumnAddress) Has(l Location) bool { return c.base+uintptr(l)*c.size != 0 }

// Mark returns the address of the version of the type in the row block's chunk.
func (c *ColumnAddress) Mark() *uint32 { return c.mark }

// records has as many elements as a uint32 can number, where addresses have 64 bits. So the
// compiler emits no bounds checks.
type records = [1 << (27 + 5*(^uint(0)>>63))]Record

// LookupTable is the state of the look-ups of one type. The zero LookupTable must not be used
// before SetRecords or Disable.
type LookupTable struct {
	tag     Tag
	last    uint32 // as in scope; a field of a field counts twice for inlining, so the three are copied here
	foreign uint32
	records *records
	columns *[RowBlocks]ColumnAddress // by row block, as many as locations need
	write   scope                     // of look-ups that write
	now     *uint32                   // the version that they store at the mark of a column address
}

// scope is the set of records that look-ups see.
type scope struct {
	last    uint32   // index of the last record, which no entity uses
	foreign uint32   // first index that is not of this world: MaxIDs, or 0 while disabled
	records *records // last+1 of them
}

// Records for look-ups without a store's records. Only the zero ID finds nobody; no ID that a store
// hands out finds closed.
var (
	nobody = [1]Record{}
	closed = [1]Record{{version: ^uint32(1)}}
	blank  = [1]ColumnAddress{NoValues(new(uint32))}
)

// none is the LookupTable of an unregistered type.
var none = new(LookupTable)

func init() { none.Disable() }

// why returns the message of a Refusal; see OnRefusal.
var why = func(s *LookupTable, e ID) string {
	return "entity: LookupTable.At: " + e.String() + " is of another world, or the LookupTable is disabled"
}

// OnRefusal sets the function that makes the message of a Refusal. It gets nil for a nil
// LookupTable. Call OnRefusal before the first look-up.
func OnRefusal(f func(s *LookupTable, e ID) string) { why = f }

// SetRecords lets look-ups that read find the entities of a view.
func (s *LookupTable) SetRecords(v RecordsView) {
	s.open()
	s.tag = v.tag
	s.see(scopeOf(v))
}

// EnableWrites lets look-ups that write find the same entities. They store *now at the mark.
func (s *LookupTable) EnableWrites(now *uint32) { s.write, s.now = s.scope(), now }

// DisableWrites makes look-ups that write call the function set by OnWrite.
func (s *LookupTable) DisableWrites() { s.write = disabled }

// Disable makes all look-ups panic.
func (s *LookupTable) Disable() {
	s.open()
	s.see(disabled)
	s.write = disabled
}

// open gives blank column addresses to a zero LookupTable.
func (s *LookupTable) open() {
	if s.columns == nil {
		s.SetColumns(blank[:])
		s.write = disabled
	}
}

func (s *LookupTable) scope() scope { return scope{s.last, s.foreign, s.records} }

func (s *LookupTable) see(w scope) { s.last, s.foreign, s.records = w.last, w.foreign, w.records }

// scopeOf returns the scope of the records of a view.
func scopeOf(v RecordsView) scope {
	if v.n == 0 {
		return makeScope(unsafe.Pointer(&nobody), 0, MaxIDs) // Safe because it has one record.
	}
	return makeScope(v.base, v.n-1, MaxIDs)
}

// disabled is the scope without any entity.
var disabled = makeScope(unsafe.Pointer(&closed), 0, 0) // Safe because it has one record.

// makeScope returns a scope with the address of record 0.
//
//go:nocheckptr
func makeScope(p unsafe.Pointer, last, foreign uint32) scope {
	w := scope{last: last, foreign: foreign}
	// The pointer's type has more records than there are: it is written without a conversion, which
	// would be checked. Safe because no record after the last is looked at.
	*(*unsafe.Pointer)(unsafe.Pointer(&w.records)) = p
	return w
}

// SetColumns sets the column addresses. There must be as many as locations need.
func (s *LookupTable) SetColumns(columns []ColumnAddress) {
	// As in makeScope, without a conversion. Safe because the location of a row has a row block
	// below the number of column addresses.
	*(*unsafe.Pointer)(unsafe.Pointer(&s.columns)) = unsafe.Pointer(unsafe.SliceData(columns))
}

// ShareColumns makes s use the column addresses of another LookupTable.
func (s *LookupTable) ShareColumns(of *LookupTable) { s.columns = of.columns }

// HasRecords reports whether look-ups find the entities of a view.
func (s *LookupTable) HasRecords(v RecordsView) bool {
	want := scopeOf(v)
	return s.tag == v.tag && s.scope() == want && (s.write == want || s.write == disabled)
}

// Len returns the number of records that look-ups see.
func (s *LookupTable) Len() int { return int(s.last) }

// At returns the address of the value of an entity, or nil if e is not alive or lacks the type. It
// panics with a *Refusal for an ID of another world, for a placeholder, for a nil LookupTable and
// while s is disabled.
//
//go:nocheckptr
func (s *LookupTable) At(e ID) unsafe.Pointer {
	if s == nil {
		s = none
	}
	i := e.ref ^ uint32(s.tag)
	if r := s.records[min(i, s.last)]; r.version == e.version {
		c := s.columns[r.Location>>RowBits]
		return unsafe.Add(nil, c.base+uintptr(r.Location)*c.size) // Safe because ValueAt is.
	}
	if i >= s.foreign {
		panic(&Refusal{s: s, e: e})
	}
	return nil
}

// Mut is At for look-ups that write: it also marks the row block. Where At panics, and while
// writes// are disabled, Mut returns the result of the function set by OnWrite, which gets op. Rare
// cases are one call without branches. The code uses unsafe directly, since the nil check of a
// table would cost a load.
//
//go:nocheckptr
func (s *LookupTable) Mut(op uint8, e ID) unsafe.Pointer {
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
			c := s.ColumnAt(l)
			*c.mark = *s.now
			return c.ValueAt(l)
		}
	}
	return mutElse(s, op, e)
}

var mutElse func(s *LookupTable, op uint8, e ID) unsafe.Pointer

// OnWrite sets the function that handles what Mut does not. Call it before the first look-up that
// writes.
func OnWrite(f func(s *LookupTable, op uint8, e ID) unsafe.Pointer) { mutElse = f }

// Switch enables or disables the type of an entity, marks the row block, and returns true. For a
// dead entity, for a row block without enable bits, and where Mut calls the function set by
// OnWrite, it returns the result of the function set by OnSwitch.
//
//go:nocheckptr
func (s *LookupTable) Switch(e ID, on bool) bool {
	if s != nil {
		if i := e.ref ^ uint32(s.tag); i <= s.write.last {
			// Safe because there are records up to the last, see makeScope.
			r := (*Record)(unsafe.Add(unsafe.Pointer(s.write.records), uintptr(i)*recordSize))
			if c := s.ColumnAt(r.Location); r.version == e.version && c.bits != nil {
				c.bits.Set(int(r.Location-c.bits.first), on)
				*c.mark = *s.now
				return true
			}
		}
	}
	return switchElse(s, e, on)
}

var switchElse func(s *LookupTable, e ID, on bool) bool

// OnSwitch sets the function that handles what Switch does not. Call it before the first Switch.
func OnSwitch(f func(s *LookupTable, e ID, on bool) bool) { switchElse = f }

// Find returns the record of a live entity, for look-ups that do more than At. If there is no
// record, ok reports whether At would return nil rather than panic.
func (s *LookupTable) Find(e ID) (r *Record, ok bool) {
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

// Values writes the addresses that At would return for the entities of list to into. It stops at
// the first entity that is not alive or for which At panics, and returns the number written. With
// write it marks the row blocks. The addresses are numbers: the universe keeps their memory alive,
// so storing them needs no write barrier. into is no longer than list.
func (s *LookupTable) Values(into []uintptr, list []ID, write bool) int {
	// Kept in registers: the compiler cannot know that the writes do not change the LookupTable.
	tag, last, records, columns := uint32(s.tag), s.last, s.records, s.columns
	for i, e := range list[:len(into)] {
		r := &records[min(e.ref^tag, last)]
		if r.version != e.version {
			return i
		}
		c := &columns[r.Location>>RowBits]
		into[i] = c.base + uintptr(r.Location)*c.size
		if write {
			*c.mark = *s.now
		}
	}
	return len(into)
}

// AddressOf returns the address of the record that a look-up of an ID would read, for prefetching.
func (s *LookupTable) AddressOf(e ID) uintptr {
	// Safe because the address is only a number.
	return uintptr(unsafe.Pointer(&s.records[min(e.ref^uint32(s.tag), s.last)]))
}

// ColumnAt returns the column address of the row block that contains a row's location.
func (s *LookupTable) ColumnAt(l Location) *ColumnAddress {
	// Safe because a location of a row has a row block below the number of column addresses.
	return (*ColumnAddress)(unsafe.Add(unsafe.Pointer(s.columns), uintptr(l>>RowBits)*columnAddressSize))
}

// Refusal is the panic value of At: an error that makes its message when it is first asked for.
type Refusal struct {
	s    *LookupTable
	e    ID
	text string
}

// Error returns why the look-up is refused. The message describes the state at the first call.
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
