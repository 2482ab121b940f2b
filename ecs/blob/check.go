package blob

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// A block is words with this head, the content, and the text of the type's layout, padded with
// zeros:
//
//	word 0   the type's number: a hash of the text
//	word 1   low half: the byte at which the content ends; high half: bytes of the text
//	word 2   the root begins

// headerBytes is where the root begins.
const headerBytes = 16

// longestText is the most of an unknown layout that an error repeats, in bytes.
const longestText = 400

// head returns where the content of a block ends and the text, which must not be kept. ok is false
// if they do not fit the block.
func head(words []word) (end int, text []byte, ok bool) {
	if len(words) < headerBytes/8 {
		return 0, nil, false
	}
	end, n := int(words[1]&0xffff_ffff), int(words[1]>>32)
	if end < headerBytes || end > maxBytes || n > maxBytes || (end+n+7)/8 != len(words) {
		return 0, nil, false
	}
	return end, bytesOf(words)[end : end+n], true
}

// A checker follows all that the root of a block leads to.
type checker struct {
	block  []byte
	end    int         // of the content
	single [][]uint64  // by shape: where values were looked at, a bit for each 4 bytes
	arrays map[ask]int // the most elements asked for
	todo   []want
	left   int // bytes of values that may still be looked at
}

// An ask is values of one type from a byte of the block on.
type ask struct {
	at int
	of *shape
}

// A want is n values that are to be looked at.
type want struct {
	ask
	n int
}

// errOverlap is the error of overlapping arrays, which no builder makes.
var errOverlap = errors.New("arrays overlap more than those of a builder")

// check returns the defect of a block of the graph's root type, or nil. The bytes are untrusted.
// After nil, following fields from the root never leaves the content. Cost: values of a type are
// visited once, as builders place them; overlapping arrays, which no builder makes, are refused
// after a few times the bytes.
func (g *graph) check(words []word) error {
	end, text, ok := head(words)
	switch {
	case !ok:
		return fmt.Errorf("%d bytes, whose head names other lengths", len(words)*8)
	case uint64(words[0]) != g.hash || string(text) != g.text:
		return fmt.Errorf("the layout is %q and not %q", text[:min(len(text), longestText)], g.text)
	case end < headerBytes+g.root.size:
		return fmt.Errorf("the content ends at byte %d, within the root, which has %d bytes from byte %d on",
			end, g.root.size, headerBytes)
	}
	c := checker{block: bytesOf(words)[:end], end: end, single: make([][]uint64, len(g.list)), arrays: map[ask]int{},
		left: 2*end*(len(g.list)+1) + 64}
	c.want(headerBytes, 1, g.root)
	for len(c.todo) > 0 {
		last := len(c.todo) - 1
		x := c.todo[last]
		c.todo = c.todo[:last]
		for i := range x.n {
			if err := c.value(x.at+i*x.of.size, x.of); err != nil {
				return err
			}
		}
	}
	return nil
}

// want asks for n values that lie in the content, unless they have been asked for.
func (c *checker) want(at, n int, of *shape) {
	if len(of.relatives) == 0 {
		return
	}
	x := ask{at, of}
	if n > 1 {
		if c.arrays[x] >= n {
			return
		}
		c.arrays[x] = n
	} else if c.has(x) {
		return
	}
	c.todo = append(c.todo, want{x, n})
}

// has reports whether a value has been looked at.
func (c *checker) has(x ask) bool {
	seen := c.single[x.of.index]
	return seen != nil && seen[x.at/256]&(1<<(x.at/4%64)) != 0
}

// value looks at a value, unless that has been done.
func (c *checker) value(at int, of *shape) error {
	if c.left--; c.left < 0 {
		return errOverlap
	}
	if c.has(ask{at, of}) {
		return nil
	}
	if c.single[of.index] == nil {
		c.single[of.index] = make([]uint64, c.end/256+1)
	}
	c.single[of.index][at/256] |= 1 << (at / 4 % 64)
	if c.left -= of.size; c.left < 0 {
		return errOverlap
	}
	if err := c.fields(of.relatives, at); err != nil {
		return fmt.Errorf("%s at byte %d: %w", shortName(of.rtype), at, err)
	}
	return nil
}

// fields checks the relative fields of a value at a byte of the block.
func (c *checker) fields(list []relative, at int) error {
	for k := range list {
		r := &list[k]
		if r.kind == kindGroup {
			for i := range r.count {
				if err := c.fields(r.each, at+r.offset+i*r.stride); err != nil {
					return fmt.Errorf("%s[%d]%w", r.path, i, err)
				}
			}
			continue
		}
		place := at + r.offset
		s := *(*byteRange)(unsafe.Pointer(&c.block[place])) // Safe because the field lies in the content, aligned.
		to, n := place+int(s.offset), int(s.n)
		switch {
		case s == byteRange{}:
			continue
		case n <= 0 || r.kind == kindRef && n != 1:
			return fmt.Errorf("%s has length %d and offset %d", r.path, n, s.offset)
		case to < headerBytes || to > c.end || n > (c.end-to)/r.to.size:
			return fmt.Errorf("%s leads to bytes [%d, %d), and the content is [%d, %d)",
				r.path, to, to+n*r.to.size, headerBytes, c.end)
		case to%r.to.align != 0:
			return fmt.Errorf("%s leads to byte %d, which is no multiple of %d", r.path, to, r.to.align)
		}
		c.want(to, n, r.to)
	}
	return nil
}

// checkBlob returns the defect of the blob of a header and words.
func (s *Store) checkBlob(h *header, words []word) error {
	_, text, ok := head(words)
	if !ok {
		return fmt.Errorf("B2: %d bytes, whose head names other lengths", len(words)*8)
	}
	i := slices.IndexFunc(s.types, func(k known) bool { return k.hash == uint64(words[0]) })
	if i < 0 {
		shown := string(text[:min(len(text), longestText)])
		for _, k := range s.types {
			if k.graph.name == nameIn(shown) {
				return fmt.Errorf("B1: %s is laid out as %q, and in this program as %q",
					k.graph.name, shown, k.graph.text)
			}
		}
		return fmt.Errorf("B1: the type is none of the store's: %q", shown)
	}
	g := s.types[i].graph
	if err := g.check(words); err != nil {
		return fmt.Errorf("B2: %s: %w", g.name, err)
	}
	switch hash := hashWords(words); {
	case h.Bytes != uint64(len(words)*8) || h.Hash != hash:
		return fmt.Errorf("B3: %s has %d bytes with hash %#x, and the header names %d and %#x",
			g.name, len(words)*8, hash, h.Bytes, h.Hash)
	case h.Count < 1 || h.Count > mostCount:
		return fmt.Errorf("B4: %s has %d references", g.name, h.Count)
	}
	return nil
}
