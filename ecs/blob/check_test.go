package blob

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/internal/guard"
)

type limb struct {
	Name String
	Bend float64
	Ends Array[limb]
	Back Ref[limb]
}

type body struct {
	Root  Ref[limb]
	Limbs Array[limb]
	Pairs [2]struct{ Ids Array[uint16] }
	Last  uint8
}

func buildBody() *Builder[body] {
	b := NewBuilder[body]()
	r := b.Root()
	r.Last = 9
	limbs := Allocate(b, &r.Limbs, 3)
	for i := range limbs {
		SetString(b, &limbs[i].Name, strings.Repeat("x", i))
		Point(b, &limbs[i].Back, &limbs[0])
	}
	ends := Allocate(b, &limbs[1].Ends, 2)
	Point(b, &r.Root, &ends[1])
	copy(Allocate(b, &r.Pairs[1].Ids, 3), []uint16{1, 2, 3})
	return b
}

// readBody reads all that a body leads to, and returns the number of limbs.
func readBody(b *body) (n int) {
	seen := map[*limb]bool{}
	var visit func(l *limb)
	visit = func(l *limb) {
		if l == nil || seen[l] {
			return
		}
		seen[l] = true
		_ = strings.Clone(l.Name.String())
		list := l.Ends.Slice()
		for i := range list {
			visit(&list[i])
		}
		visit(l.Back.Get())
	}
	visit(b.Root.Get())
	list := b.Limbs.Slice()
	for i := range list {
		visit(&list[i])
	}
	sum := uint16(0)
	for i := range b.Pairs {
		for _, id := range b.Pairs[i].Ids.Slice() {
			sum += id
		}
	}
	_ = sum
	return len(seen)
}

// newBodies makes a world with one body.
func newBodies(t *testing.T) (*ecs.World, *Store, Blob[body]) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	s, err := NewStore(w, Type[body]())
	require.NoError(t, err)
	b, err := Add(s, buildBody())
	require.NoError(t, err)
	require.NoError(t, s.Verify())
	require.Equal(t, 5, readBody(b.Get(s)))
	return w, s, b
}

// edit changes the words of a blob, and its header so that it fits.
func edit(t *testing.T, s *Store, e ecs.Entity, change func(words []word) []word) {
	d, ok := s.words.Mut(e)
	require.True(t, ok)
	words := change(append([]word(nil), d.Slice()...))
	d.CopyFrom(words)
	h := s.heads.Mut(e)
	h.Hash, h.Bytes = hashWords(words), uint64(len(words)*8)
}

// spanAt returns the relative field at a byte of a block.
func spanAt(words []word, at uintptr) *byteRange {
	return (*byteRange)(unsafe.Pointer(&bytesOf(words)[at]))
}

// brokenBlock is a change of the words of a body, and the error for it.
type brokenBlock struct {
	want   string
	change func(words []word) []word
}

// brokenBlocks returns changes that break B1 and B2.
func brokenBlocks() []brokenBlock {
	const root = headerBytes
	limbs, pairs := root+unsafe.Offsetof(body{}.Limbs), root+unsafe.Offsetof(body{}.Pairs)
	name := "B2: quarry/ecs/blob.body: "
	cut := func(n int) func(words []word) []word { return func(words []word) []word { return words[:n] } }
	with := func(change func(words []word)) func(words []word) []word {
		return func(words []word) []word { change(words); return words }
	}
	return []brokenBlock{
		{"B2: 0 bytes, whose head names other lengths", cut(0)},
		{"B2: 8 bytes, whose head names other lengths", cut(1)},
		{"B2: 80 bytes, whose head names other lengths", cut(10)},
		{"whose head names other lengths", with(func(w []word) { w[1] |= 1 << 31 })},
		{"whose head names other lengths", with(func(w []word) { w[1] |= 1 << 63 })},
		{"whose head names other lengths", with(func(w []word) { w[1] &^= 0xffff_ffff })},
		{"whose head names other lengths", func(w []word) []word { return append(w, 0) }},
		{`B1: the type is none of the store's: "Quarry/ecs`, with(func(w []word) {
			w[0]++
			_, text, _ := head(w)
			text[0] = 'Q'
		})},
		{`B1: quarry/ecs/blob.body is laid out as "quarry/ecs/blob.body: 36 B {`, with(func(w []word) { w[0]++ })},
		{"B2: quarry/ecs/blob.body: the layout is ", with(func(w []word) {
			_, text, _ := head(w)
			text[0] = 'Q'
		})},
		{"the content ends at byte 51, within the root, which has 36 bytes from byte 16 on", func(w []word) []word {
			_, text, _ := head(w)
			made := make([]word, (51+len(text)+7)/8)
			copy(made, w)
			made[1] = 51 | word(len(text))<<32
			copy(bytesOf(made)[51:], text)
			return made
		}},
		{name + "body at byte 16: .Limbs leads to bytes [8, 104), and the content is [16, ",
			with(func(w []word) { spanAt(w, limbs).offset = 8 - int32(limbs) })},
		{".Limbs leads to bytes [-", with(func(w []word) { spanAt(w, limbs).offset = -1 << 31 })},
		{".Limbs leads to bytes [2147483671, ", with(func(w []word) { spanAt(w, limbs).offset = 1<<31 - 1 })},
		{".Limbs leads to bytes ", with(func(w []word) { spanAt(w, limbs).n = 9 })},
		{".Limbs leads to bytes ", with(func(w []word) { spanAt(w, limbs).n = 1<<31 - 1 })},
		{".Name leads to bytes [223, 226), and the content is [16, 225)", with(func(w []word) { spanAt(w, 120+2*unsafe.Sizeof(limb{})).n = 3 })},
		{".Limbs has length -1 and offset ", with(func(w []word) { spanAt(w, limbs).n = -1 })},
		{".Limbs has length 0 and offset ", with(func(w []word) { spanAt(w, limbs).n = 0 })},
		{".Root has length 2 and offset ", with(func(w []word) { spanAt(w, root).n = 2 })},
		{", which is no multiple of 8", with(func(w []word) { spanAt(w, limbs).offset -= 4 })},
		{".Pairs[1].Ids leads to byte ", with(func(w []word) { spanAt(w, pairs+8).offset++ })},
		{"limb at byte 120: .Back leads to bytes [", with(func(w []word) {
			back := 120 + unsafe.Offsetof(limb{}.Back)
			end, _, _ := head(w)
			spanAt(w, back).offset = int32(end-8) - int32(back)
		})},
	}
}

// TestVerify breaks each invariant.
func TestVerify(t *testing.T) {
	for _, c := range brokenBlocks() {
		t.Run("block", func(t *testing.T) {
			_, s, b := newBodies(t)
			edit(t, s, b.entity, c.change)
			for _, err := range []error{s.Check(), s.Verify()} {
				require.ErrorIs(t, err, ErrBlob)
				require.ErrorContains(t, err, c.want)
				require.ErrorContains(t, err, b.entity.String())
			}
		})
	}
	for _, c := range []struct {
		want   string
		change func(h *header)
	}{
		{"B3: ", func(h *header) { h.Hash++ }},
		{"B3: ", func(h *header) { h.Bytes-- }},
		{"B4: ", func(h *header) { h.Count = 0 }},
		{"B4: ", func(h *header) { h.Count = 1<<62 + 1 }},
	} {
		t.Run("header", func(t *testing.T) {
			_, s, b := newBodies(t)
			c.change(s.heads.Mut(b.entity))
			require.ErrorContains(t, s.Check(), c.want)
		})
	}
	w, s, b := newBodies(t)
	ecs.NewArchetype(w, s.words).Create()
	require.ErrorContains(t, s.Check(), "B3: it has no header")
	_, s, b = newBodies(t)
	s.index = map[uint64][]ecs.Entity{}
	require.NoError(t, s.Check())
	require.ErrorContains(t, s.Verify(), "B5: it is not in the index")
	_, s, b = newBodies(t)
	s.index[1] = []ecs.Entity{b.entity}
	require.ErrorContains(t, s.Verify(), "B5: the index has 1 blobs more than the world")
}

// TestDamagedFiles: a file whose blobs are wrong makes no store, whatever its checksums are.
func TestDamagedFiles(t *testing.T) {
	w, s, b := newBodies(t)
	path := filepath.Join(t.TempDir(), "a.world")
	open := func() error {
		o, err := image.Open(path, Register)
		require.NoError(t, err)
		defer o.Close()
		_, err = NewStore(o, Type[body]())
		return err
	}
	require.NoError(t, image.SaveFile(w, path))
	require.NoError(t, open())
	edit(t, s, b.entity, func(words []word) []word {
		spanAt(words, headerBytes+8).n = 1000
		return words
	})
	require.NoError(t, image.SaveFile(w, path))
	err := open()
	require.ErrorIs(t, err, ErrBlob)
	require.ErrorContains(t, err, "quarry/ecs/blob.body at byte 16: .Limbs leads to bytes ["[len("quarry/ecs/blob."):])
	d, _ := s.words.Mut(b.entity)
	d.Slice()[5] ^= 1 << 40
	require.NoError(t, image.SaveFile(w, path))
	require.ErrorIs(t, open(), ErrBlob)

	o, err := image.Load(bytes.NewReader(fileOf(t)), Register)
	require.NoError(t, err)
	defer o.Close()
	_, err = NewStore(o)
	require.ErrorIs(t, err, ErrBlob)
	require.ErrorContains(t, err, "B1: the type is none of the store's: \"quarry/ecs/blob.body: 36 B {")
}

// TestCollision: content is compared, not hashes alone.
func TestCollision(t *testing.T) {
	_, s, b := newBodies(t)
	other := buildBody()
	other.Root().Last++
	words, err := other.parts.build("Add")
	require.NoError(t, err)
	s.index[hashWords(words)] = []ecs.Entity{b.entity}
	c, err := Add(s, other)
	require.NoError(t, err)
	require.NotEqual(t, b, c)
	require.EqualValues(t, 10, c.Get(s).Last)
}

// fileOf returns a file with a body.
func fileOf(t *testing.T) []byte {
	w, _, _ := newBodies(t)
	var file bytes.Buffer
	require.NoError(t, image.Save(w, &file))
	return file.Bytes()
}

// TestTypesThatChange: the error shows the layout of the file and that of the program.
func TestTypesThatChange(t *testing.T) {
	_, s, b := newBodies(t)
	edit(t, s, b.entity, func(words []word) []word {
		end, text, _ := head(words)
		old := strings.Replace(string(text), "Bend float64", "Bend int64", 1)
		require.NotEqual(t, old, string(text))
		made := make([]word, (end+len(old)+7)/8)
		copy(bytesOf(made), bytesOf(words)[:end])
		copy(bytesOf(made)[end:], old)
		made[0], made[1] = word(hashText(old)), word(end)|word(len(old))<<32
		return made
	})
	err := s.Check()
	require.ErrorIs(t, err, ErrBlob)
	const layout = "quarry/ecs/blob.body: 36 B {0 Root Ref[limb], 8 Limbs Array[limb], " +
		"16 Pairs [2]{0 Ids Array[uint16]}, 32 Last uint8}; limb: 32 B {0 Name String, 8 Bend %s, 16 Ends Array[limb], 24 Back Ref[limb]}; uint16: 2 B uint16"
	require.ErrorContains(t, err, strings.Replace(layout, "%s", "int64", 1))
	require.ErrorContains(t, err, strings.Replace(layout, "%s", "float64", 1))
	require.Nil(t, b.Get(s))
}

// TestSharedArrays: a builder may make any number of fields lead to one array; the check looks at
// it once. Arrays that overlap otherwise are refused before they cost much.
func TestSharedArrays(t *testing.T) {
	type row struct{ Cells Array[Array[uint8]] }
	type grid struct{ Rows Array[row] }
	b := NewBuilder[grid]()
	rows := Allocate(b, &b.Root().Rows, 3000)
	cells := Allocate(b, &rows[0].Cells, 3000)
	Allocate(b, &cells[7], 3)
	for i := range rows {
		rows[i].Cells.span = rows[0].Cells.span // go vet reports this where programs do it
	}
	words, err := b.parts.build("Add")
	require.NoError(t, err)
	g := b.parts.graph
	require.NoError(t, g.check(words))
	for i := range 3000 {
		at := uintptr(24 + i*8)
		require.EqualValues(t, 3000, spanAt(words, at).n)
		spanAt(words, at).offset += int32(i * 8)
		spanAt(words, at).n -= int32(i)
	}
	require.ErrorIs(t, g.check(words), errOverlap)
}

// TestHash: files have hashes, so they stay as they are.
func TestHash(t *testing.T) {
	require.Equal(t, uint64(0x8b7096b242167fc0), hashWords(nil))
	require.Equal(t, uint64(0xc5c1e6761b6b63b5), hashText("Mesh"))
	seen := map[uint64]bool{}
	for n := range 20 {
		words := make([]word, n)
		seen[hashWords(words)] = true
		for i := range words {
			for bit := range 64 {
				words[i] = 1 << bit
				seen[hashWords(words)] = true
			}
			words[i] = 0
		}
	}
	require.Len(t, seen, 20+64*190)
	texts := map[uint64]bool{}
	for n := range 30 {
		texts[hashText(strings.Repeat("\x00", n))] = true
	}
	require.Len(t, texts, 30)
}

// FuzzCheck gives check any bytes, which end before a page without access; what it accepts is read.
func FuzzCheck(f *testing.F) {
	words, err := buildBody().parts.build("Add")
	require.NoError(f, err)
	f.Add(bytesOf(words)[headerBytes:])
	g := graphOf("Type", Type[body]().graph.root.rtype)
	f.Fuzz(func(t *testing.T, content []byte) {
		content = content[:min(len(content), 1<<12)]
		end := headerBytes + len(content)
		n := (end + len(g.text) + 7) / 8
		block := guard.Tail(t, n*8)
		copy(block[headerBytes:], content)
		copy(block[end:], g.text)
		binary.NativeEndian.PutUint64(block, g.hash)
		binary.NativeEndian.PutUint64(block[8:], uint64(end)|uint64(len(g.text))<<32)
		words := unsafe.Slice((*word)(unsafe.Pointer(&block[0])), n)
		if err := g.check(words); err == nil {
			readBody((*body)(root(words, g.hash)))
		}
	})
}

// FuzzBlock gives a store any words.
func FuzzBlock(f *testing.F) {
	words, err := buildBody().parts.build("Add")
	require.NoError(f, err)
	f.Add(bytesOf(words), uint64(3))
	s := &Store{types: []known{{hash: graphOf("Type", Type[body]().graph.root.rtype).hash, graph: Type[body]().graph}}}
	f.Fuzz(func(t *testing.T, block []byte, count uint64) {
		n := min(len(block), 1<<12) / 8
		to := guard.Tail(t, n*8+8)[8:]
		copy(to, block)
		words := unsafe.Slice((*word)(unsafe.Pointer(unsafe.SliceData(to))), n)
		h := &header{Hash: hashWords(words), Bytes: uint64(n * 8), Count: count}
		if err := s.checkBlob(h, words); err == nil {
			readBody((*body)(root(words, s.types[0].hash)))
		}
	})
}
