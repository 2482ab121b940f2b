package worldfile

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
)

// Entries of sparse types, as they come in a file: of each type the entities, then the values, as
// segments at multiples of 64 bytes.

// entryReader reads the entries, one segment after the other.
type entryReader struct {
	f   *File
	at  int
	gap [imageAlign]byte
}

// begin goes to the next segment, of n bytes.
func (r *entryReader) begin(n int) error {
	if err := r.skip(-r.at & (imageAlign - 1)); err != nil {
		return err
	}
	if left := r.f.Size[ImageEntries] - r.at; n > left {
		return refuseSection(ImageSparse, fmt.Errorf("entries go on for %d bytes, where there are %d", n, left))
	}
	return nil
}

// next reads the next bytes of a segment.
func (r *entryReader) next(dst []byte) error {
	begin := r.at
	r.at += len(dst)
	return r.f.Read(ImageEntries, begin, dst)
}

// read reads the next segment.
func (r *entryReader) read(dst []byte) error {
	if err := r.begin(len(dst)); err != nil {
		return err
	}
	return r.next(dst)
}

// skip reads zeros.
func (r *entryReader) skip(n int) error {
	if left := r.f.Size[ImageEntries] - r.at; n > left || n > imageAlign {
		return refuseSection(ImageSparse, fmt.Errorf("%d bytes are behind the entries", left))
	} else if n == 0 {
		return nil
	}
	return r.next(r.gap[:n])
}

// entryPiece is how many bytes of values that change are read at a time.
const entryPiece = 64 << 10

// eachPiece reads a segment of n values of size bytes and calls visit with some of them at a time.
func (r *entryReader) eachPiece(n, size int, visit func(from unsafe.Pointer, n int)) error {
	if err := r.begin(n * size); err != nil || size == 0 {
		return err
	}
	most := max(1, entryPiece/size)
	words := make([]uint64, (min(n, most)*size+7)/8)
	from := unsafe.Pointer(unsafe.SliceData(words)) // Safe because words are aligned as any value.
	for n > 0 {
		k := min(n, most)
		if err := r.next(rawBytes(from, k*size)); err != nil {
			return err
		}
		visit(from, k)
		n -= k
	}
	return nil
}

// adoptSets gives the sparse types their entries.
func (l *imageLoader) adoptSets() error {
	r := entryReader{f: l.f}
	seen := map[int]bool{}
	for i := range l.im.Sets {
		s := &l.im.Sets[i]
		if s.of >= len(l.types) || l.im.Types[s.of].Kind != world.KindSparse || seen[s.of] {
			return refuseSection(ImageSparse, fmt.Errorf("type %d has a set", s.of))
		}
		seen[s.of] = true
		x := &l.matches[s.of]
		if err := s.Set.Check(x.im.Size, x.im.Enableable); err != nil {
			return refuseSection(ImageSparse, fmt.Errorf("%s: %w", x.im.Name, err))
		}
		if alive := l.im.Created - l.im.Destroyed; uint64(s.Set.Len) > alive || !s.Set.Fits(l.f.Size[ImageEntries]) {
			return refuseSection(ImageSparse, fmt.Errorf("%s has %d entries, of %d entities, in %d bytes",
				x.im.Name, s.Set.Len, alive, l.f.Size[ImageEntries]))
		}
		if err := l.adoptSet(&r, s, x); err != nil {
			return err
		}
	}
	return r.skip(l.f.Size[ImageEntries] - r.at)
}

// adoptSet gives a sparse type its entries, or passes them.
func (l *imageLoader) adoptSet(r *entryReader, s *imageSet, x *imageMatch) error {
	if x.t == nil { // entities lose it, or nobody has registered it
		if s.Set.Len == 0 {
			return nil
		}
		pass := func(unsafe.Pointer, int) {}
		if err := r.eachPiece(s.Set.IDBytes(), 1, pass); err != nil || s.Set.ValueBytes() == 0 {
			return err
		}
		return r.eachPiece(s.Set.ValueBytes(), 1, pass)
	}
	var fill func(to unsafe.Pointer) error
	if !x.alike {
		fill = func(to unsafe.Pointer) error {
			return r.eachPiece(s.Set.Len, x.im.Size, func(from unsafe.Pointer, n int) {
				x.fill(ValueCopy{to, from, x.t.Size, x.im.Size, n})
				to = unsafe.Add(to, n*x.t.Size) // Safe because there is room for as many values as entries.
			})
		}
	}
	err := x.t.Sparse.Adopt(&s.Set, uint32(l.w.IDs.Records()), r.read, fill, l.mayHave)
	if err == nil {
		return nil
	}
	if err = fmt.Errorf("entries of %s: %w", x.t.Name, err); errors.Is(err, sparse.ErrImage) {
		return refuseSection(ImageSparse, err)
	}
	return err
}
