package blob

import (
	"errors"
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs"
)

// Blobs in a world.
//
// A blob is an entity with two types that only this package has: a header, and a buffer of words
// whose elements are the block. So whatever a world does with entities it does with blobs, and
// whatever it does with entities in components it does with Blobs:
//
//	holder    Shape{Mesh Blob[Mesh]}  ---- 8 B, an ecs.Entity
//	                                          |
//	blob      header{hash, bytes, count}   [word word word ...]   on the world's heap
//	                                          type, length, root, arrays, layout as text
//
// A block holds no address and no entity, so its bytes are the same in each world and file. They
// are written once, when the entity is made, and its row holds no element (ecs.Inline(0)): a row
// that moves leaves the block where it is.
//
// The index finds blobs by the hash of their words. It is Go memory, and is made anew if rows with
// a header have come or gone by other hands, as World.OrderVersion shows.
//
// Invariants, checked by Verify:
//
//	B1 The type of each blob is one of the store's, laid out as in this program.
//	B2 Its lengths fit the words, and each field that the root leads to stays in the content,
//	   aligned.
//	B3 Its header has the hash and the number of its bytes.
//	B4 Its count is in [1, 2^62], so it does not wrap.
//	B5 The index has each blob, under its hash, and nothing else.

// ErrBlob is wrapped by the errors of blobs that may not be read.
var ErrBlob = errors.New("a blob may not be read")

// mostCount is the most references that a blob may have.
const mostCount = 1 << 62

// word is an element of the buffer that holds a block.
type word uint64

// header is the component of a blob.
type header struct {
	Hash  uint64 // of the words
	Bytes uint64 // of the words
	Count uint64 // references, see Retain
}

// Blob is a handle of a blob with root T: 8 bytes, for components, elements of buffers and shared
// values. The zero value is no blob. Worlds see the entity in it, so copies of worlds and of
// groups, MoveAll and files keep what it leads to.
type Blob[T any] struct{ entity ecs.Entity }

// TypeOf names a root type; see Type.
type TypeOf struct{ graph *graph }

// Type names a root type for NewStore. It panics if T, or what its arrays and references lead to,
// holds a Go pointer or an ecs.Entity, with the path to it, or has no size.
func Type[T any]() TypeOf { return TypeOf{graphOf("Type", reflect.TypeFor[T]())} }

// known is a root type of a store.
type known struct {
	rtype reflect.Type
	hash  uint64
	graph *graph
}

// Store gives access to the blobs of a world. It belongs to the world's owner: one goroutine at a
// time. See Lookup for jobs.
type Store struct {
	world     *ecs.World
	heads     ecs.Component[header]
	words     ecs.Buffer[word]
	archetype *ecs.Archetype
	types     []known

	index map[uint64][]ecs.Entity // by the hash of the words
	order uint32                  // World.OrderVersion of heads at which the index was made
}

// Register registers the types of blobs with a world. image.Open and its like need it in the
// function that registers types; NewStore does it too. It panics if w is nil, and like
// ecs.Register.
func Register(w *ecs.World) {
	if w == nil {
		panic("blob: Register: the world is nil")
	}
	ecs.Register[header](w)
	ecs.RegisterBuffer[word](w, ecs.Inline(0))
}

// NewStore returns access to the blobs of a world, whose roots have the given types, and checks all
// blobs that it has; see Check. Make one per world. It panics if w is nil, and like Register and
// ecs.NewArchetype.
func NewStore(w *ecs.World, types ...TypeOf) (*Store, error) {
	if w == nil {
		panic("blob: NewStore: the world is nil")
	}
	Register(w)
	s := &Store{world: w, heads: ecs.Register[header](w), words: ecs.RegisterBuffer[word](w, ecs.Inline(0))}
	for _, t := range types {
		if t.graph == nil {
			panic("blob: NewStore: a type is the zero TypeOf; Type makes one")
		}
		k := known{t.graph.root.rtype, t.graph.hash, t.graph}
		for _, other := range s.types {
			if other.hash == k.hash && other.rtype != k.rtype {
				panic("blob: NewStore: two types are called " + k.graph.name + " and laid out alike")
			}
		}
		if !slices.Contains(s.types, k) {
			s.types = append(s.types, k)
		}
	}
	s.archetype = ecs.NewArchetype(w, s.heads, s.words)
	if err := s.Check(); err != nil {
		return nil, err
	}
	s.makeIndex()
	return s, nil
}

// Type returns the type whose access reading blobs needs, for the terms of queries and the uses of
// jobs: job.Uses(ecs.Read(s.Type())).
func (s *Store) Type() ecs.Type { return s.words }

// number returns the number of a root type in blocks, 0 for a type that is not the store's.
func (s *Store) number(t reflect.Type) uint64 {
	for i := range s.types {
		if s.types[i].rtype == t {
			return s.types[i].hash
		}
	}
	return 0
}

// Of returns the handle of the blob that an entity is: what Blob.Entity returned. Nothing is looked
// up, so T may be wrong, and Get returns nil then.
func Of[T any](e ecs.Entity) Blob[T] { return Blob[T]{e} }

// HashOf returns the hash of a blob's content and type, which is the same in every world and
// program. ok is false for an entity that is no blob, and in a world without blobs.
func HashOf(w *ecs.World, e ecs.Entity) (hash uint64, ok bool) {
	if w == nil {
		panic("blob: HashOf: the world is nil")
	}
	if h := ecs.Register[header](w).Get(e); h != nil {
		return h.Hash, true
	}
	return 0, false
}

// Entity returns the entity that is the blob, ecs.Null for the zero Blob.
func (b Blob[T]) Entity() ecs.Entity { return b.entity }

// IsNull reports whether b is the zero Blob.
func (b Blob[T]) IsNull() bool { return b.entity == ecs.Null }

// Get returns the root of the blob, for reading, or nil if it is not alive, its root has another
// type, or T is not a type of the store. It panics for a blob of another world. The pointer, and
// all that is reached from it, is good until the blob's last Release, or a Sweep or Destroy that
// ends it; until World.Restore, Clear, Reset, Close, MoveAll from the world, and ApplyDelta. Other
// structural changes, Shrink too, leave the block where it is. Cost: an ecs look-up, and some
// comparisons; 8 to 10 ns where the memory is in cache.
func (b Blob[T]) Get(s *Store) *T {
	if s == nil {
		noStore("Blob.Get")
	}
	// Safe because blocks with the number have a T there.
	return (*T)(root(s.words.Slice(b.entity), s.number(reflect.TypeFor[T]())))
}

// noStore panics for a nil store.
func noStore(op string) {
	panic("blob: " + op + ": the store is nil")
}

// root returns the root of a block with a type's number, or nil for another.
func root(words []word, number uint64) unsafe.Pointer {
	if len(words) <= headerBytes/8 || uint64(words[0]) != number || number == 0 {
		return nil
	}
	return unsafe.Pointer(&words[headerBytes/8]) // Safe because Check saw that the root fits there.
}

// Count returns the number of references to the blob, 0 if it is not alive.
func (b Blob[T]) Count(s *Store) int {
	if s == nil {
		noStore("Blob.Count")
	}
	if h := s.heads.Get(b.entity); h != nil {
		return int(h.Count)
	}
	return 0
}

// Retain adds one to the number of references. It returns false if the blob is not alive.
func (b Blob[T]) Retain(s *Store) bool {
	if s == nil {
		noStore("Blob.Retain")
	}
	h := s.heads.Mut(b.entity)
	if h == nil {
		return false
	}
	h.Count++
	return true
}

// Release takes one from the number of references, and destroys the blob with the last. It returns
// false if the blob is not alive. The last is a structural change, and panics like World.Destroy.
func (b Blob[T]) Release(s *Store) bool {
	if s == nil {
		noStore("Blob.Release")
	}
	h := s.heads.Get(b.entity)
	if h == nil {
		return false
	}
	if h.Count > 1 {
		s.heads.Mut(b.entity).Count--
		return true
	}
	s.refresh()
	hash := h.Hash
	s.world.Destroy(b.entity)
	s.forget(hash, b.entity)
	s.settle()
	return true
}

// Add makes a blob of what a builder has, with one reference. If the world has a blob of the same
// content and type, Add returns that one and adds a reference. An error is a *ecs.LimitError;
// then no entity has come. Add panics if T is not a type of the store, for a field that was copied
// from elsewhere, while the world is lent and, if the blob is new, inside a loop over rows. Cost:
// two passes over the bytes, and an allocation of as many.
func Add[T any](s *Store, b *Builder[T]) (Blob[T], error) {
	if s == nil {
		noStore("Add")
	}
	x := partsOf("Add", b)
	if s.number(x.graph.root.rtype) == 0 {
		panic("blob: Add: " + shortName(x.graph.root.rtype) + " is not a type of the store")
	}
	if s.world.Lent() {
		panic("blob: Add: the world is lent")
	}
	words, err := x.build("Add")
	if err != nil {
		return Blob[T]{}, err
	}
	e, err := s.add(words)
	return Blob[T]{e}, err
}

// add returns the entity with the words, with one reference more.
func (s *Store) add(words []word) (ecs.Entity, error) {
	s.refresh()
	hash := hashWords(words)
	for _, e := range s.index[hash] {
		if slices.Equal(s.words.Slice(e), words) {
			s.heads.Mut(e).Count++
			return e, nil
		}
	}
	var e ecs.Entity
	err := ecs.Try(func() { e = s.archetype.Create() })
	if err != nil {
		return ecs.Null, err
	}
	buffer, _ := s.words.Mut(e)
	// It takes no more than it needs, so Shrink does not move it.
	if err = ecs.Try(func() { buffer.CopyFrom(words) }); err != nil {
		s.world.Destroy(e)
		s.settle()
		return ecs.Null, err
	}
	s.heads.Set(e, header{Hash: hash, Bytes: uint64(len(words) * 8), Count: 1})
	s.index[hash] = append(s.index[hash], e)
	s.settle()
	return e, nil
}

// isCurrent reports whether no rows have come or gone since the index was made.
func (s *Store) isCurrent() bool { return s.world.OrderVersion(s.heads) == s.order }

// refresh makes the index anew if rows have come or gone since.
func (s *Store) refresh() {
	if !s.isCurrent() {
		s.makeIndex()
	}
}

// makeIndex makes the index of what the world has.
func (s *Store) makeIndex() {
	s.index = map[uint64][]ecs.Entity{}
	s.each(func(e ecs.Entity, h *header) bool {
		s.index[h.Hash] = append(s.index[h.Hash], e)
		return true
	})
	s.settle()
}

// settle notes that the index is as the rows are now. What comes later has a later version.
func (s *Store) settle() {
	if s.order = s.world.OrderVersion(s.heads); s.order == s.world.Version() {
		s.world.Advance()
	}
}

// forget takes a blob out of the index.
func (s *Store) forget(hash uint64, e ecs.Entity) {
	list := s.index[hash]
	if i := slices.Index(list, e); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if s.index[hash] = list; len(list) == 0 {
		delete(s.index, hash)
	}
}

// each calls f for each header, until it returns false, in a loop over rows.
func (s *Store) each(f func(e ecs.Entity, h *header) bool) {
	q := ecs.NewQuery(s.world, ecs.Read(s.heads), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	for rows := range q.Rows() {
		heads := s.heads.Slice(rows)
		for i, e := range rows.Entities() {
			if !f(e, &heads[i]) {
				return
			}
		}
	}
}
