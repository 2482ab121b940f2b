package worldfile

import (
	"cmp"
	"slices"
	"unsafe"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
	"quarry/internal/universe"
)

// Images of snapshots. Where chunks and blocks lie in the file is settled first, from the metadata;
// the rows are read when the file is written, by any goroutine, as other readers of the snapshot
// read them.

// imageWriter makes the image of a snapshot.
type imageWriter struct {
	s             *snapshot.Snapshot
	now           bool // the world is as it was when the snapshot was taken
	im            WorldImage
	rows, records *past.Memory
	placed        []placedChunk // by rising place
	blocks        value.Blocks
	segments      []imageSegment // of the entries
	size          [ImageBulk]int
}

// placedChunk is a chunk of a snapshot with its place in the file.
type placedChunk struct {
	at    store.SmallIndex // in the file
	of    store.Chunk      // in the world
	state *table.State
	pos   int           // in the state
	block int           // number of its first block
	slots []placedSlots // of its managed types
}

// imageSegment is bytes of a set.
type imageSegment struct {
	at, n int
	read  func(at int, dst []byte) error
}

const (
	imageGranule = 2 * universe.MegachunkSize // bytes; rows are whole granules
	imageAlign   = 64                         // of a segment
)

// ImageOf returns the image of a snapshot for a file. An error means that the snapshot is lost, or
// which values cannot be written. now is set if the world has not changed since the snapshot.
func ImageOf(s *snapshot.Snapshot, now bool) (out *Image, err error) {
	const op = "image of a snapshot"
	s.Begin(op)
	defer func() {
		if out == nil {
			s.Reading.Add(-1)
		}
	}()
	w := &imageWriter{s: s, now: now}
	err = s.Err()
	s.CheckOpen(op)
	if err == nil && !littleEndian() {
		err = errBigEndian
	}
	if err == nil {
		out, err = w.describe()
	}
	if err != nil {
		return nil, err
	}
	out.Size, out.Read, out.Close = w.size, w.read, func() { s.Reading.Add(-1) }
	return out, nil
}

// ImageOfWorld is ImageOf of a snapshot that the image closes.
func ImageOfWorld(w *world.World) (im *Image, err error) {
	s := snapshot.Take(w)
	defer func() {
		if im == nil {
			s.Close()
		}
	}()
	if im, err = ImageOf(s, true); err != nil {
		return nil, err
	}
	end := im.Close
	im.Close = func() {
		end()
		s.Close()
	}
	return im, nil
}

// describe settles where all lies, and codes the sections.
func (w *imageWriter) describe() (*Image, error) {
	h := snapshot.HistoryOf(w.s.World)
	w.rows, w.records = h.Rows, h.Records
	for i := range saves {
		if saves[i].do == nil {
			continue
		}
		if err := saves[i].do(w); err != nil {
			return nil, err
		}
	}
	out := new(Image)
	for i, code := range w.im.Sections() {
		c := new(codec.Coder)
		code(c)
		out.Meta[i] = c.Out
	}
	return out, nil
}

// describeTypes describes the types.
func (w *imageWriter) describeTypes() {
	likes := map[world.Description]int{}
	for _, t := range w.s.Types {
		d := world.DescribeType(t)
		d.T = nil
		nth := likes[d]
		likes[d]++
		d.Nth = nth
		w.im.Types = append(w.im.Types, describeImageType(t, d))
	}
}

// describeTables describes the shared values, the archetypes and their chunks.
func (w *imageWriter) describeTables() error {
	numbers := map[*value.Shared]int{}
	var values []*value.Shared
	for i := range w.s.Archetypes {
		values = append(values, w.s.Archetypes[i].Archetype.Values...)
	}
	slices.SortFunc(values, value.CompareSerials)
	again := map[world.ImageAgain]bool{}
	for _, v := range slices.Compact(values) {
		numbers[v] = len(w.im.Values)
		bytes, err := w.s.Types[v.Type].EncodeForImage(v.Any(), again)
		if err != nil {
			return err
		}
		w.im.Values = append(w.im.Values, ImageValue{v.Type, bytes})
	}
	for i := range w.s.Archetypes {
		if err := w.describeTable(i, numbers); err != nil {
			return err
		}
	}
	return nil
}

// describeTable describes an archetype.
func (w *imageWriter) describeTable(i int, numbers map[*value.Shared]int) error {
	st := &w.s.Archetypes[i]
	types := slices.Collect(st.Archetype.Table.Sig.Each())
	im, err := table.ImageOf(&st.Table, types, func(id world.TypeID) table.Type { return w.s.Types[id].Tabled() })
	if err != nil {
		return err
	}
	a := ImageArchetype{pinned: st.Pinned, TableImage: im}
	for _, v := range st.Archetype.Values {
		a.Values = append(a.Values, numbers[v])
	}
	w.im.Archetypes = append(w.im.Archetypes, a)
	for pos, c := range st.Table.Chunks() {
		w.placed = append(w.placed, placedChunk{of: c, state: &st.Table, pos: pos})
	}
	return nil
}

// place gives all chunks their places, the largest first: then each lies at a multiple of its size.
func (w *imageWriter) place() {
	type key struct {
		st  *table.State
		pos int
	}
	at, end := map[key]store.SmallIndex{}, store.SmallIndex(0)
	slices.SortStableFunc(w.placed, func(a, b placedChunk) int { return cmp.Compare(b.of.Order, a.of.Order) })
	for i := range w.placed {
		p := &w.placed[i]
		p.at = end
		at[key{st: p.state, pos: p.pos}] = end
		end += 1 << p.of.Order
	}
	for i := range w.im.Archetypes {
		chunks := w.im.Archetypes[i].TableImage.Chunks
		for pos := range chunks {
			chunks[pos].First = at[key{st: &w.s.Archetypes[i].Table, pos: pos}]
		}
	}
	w.im.chunks = int(end+1<<store.UnitOrder-1) >> store.UnitOrder
}

// describeBlocks finds the blocks of spilled buffers and gives them places after the chunks.
func (w *imageWriter) describeBlocks() error {
	w.blocks.Open(w.s.World.Universe, w.s.Heap)
	var chunk []byte
	for i := range w.placed {
		p := &w.placed[i]
		p.block = w.blocks.Len()
		if w.s.Heap == nil && !w.s.World.Buffers.Filed() || !w.hasBuffers(p.state) {
			continue
		}
		chunk = slices.Grow(chunk[:0], p.of.Bytes())[:p.of.Bytes()]
		if err := w.readChunk(p, chunk); err != nil {
			return err
		}
		w.headers(p, chunk, func(h *value.Header, t *world.Type) {
			if h.Spilled() {
				w.blocks.Add(h, &t.Shape)
			}
		})
	}
	w.im.blocks, w.im.blockBytes = w.blocks.Len(), w.blocks.Bytes()
	bytes := w.im.chunks*universe.ChunkSize + w.im.blockBytes
	w.size[ImageRows] = (bytes + imageGranule - 1) / imageGranule * imageGranule
	return nil
}

// hasBuffers reports whether an archetype has buffers.
func (w *imageWriter) hasBuffers(st *table.State) bool {
	return slices.ContainsFunc(st.Store().Columns(), func(c world.Column) bool {
		return w.s.Types[c.Key].Kind == world.KindBuffer
	})
}

// headers calls visit with the headers of a chunk's bytes.
func (w *imageWriter) headers(p *placedChunk, chunk []byte, visit func(h *value.Header, t *world.Type)) {
	of := p.state.Store()
	// Safe because the bytes are a chunk's, which are aligned as words at least.
	at := store.Row{Base: unsafe.Pointer(unsafe.SliceData(chunk)), Scale: of.Scale(p.of.Order)}
	for _, c := range of.Columns() {
		t := w.s.Types[c.Key]
		if t.Kind != world.KindBuffer {
			continue
		}
		for at.Row = range of.RowsOf(p.pos) {
			visit(value.HeaderOf(at, c), t)
		}
	}
}

// readChunk fills dst with the bytes of a chunk.
func (w *imageWriter) readChunk(p *placedChunk, dst []byte) error {
	return w.s.Layer.ReadBytes(w.rows, int(p.of.First)*store.SmallSize, dst)
}

// describeSets describes the sparse types.
func (w *imageWriter) describeSets() {
	end := 0
	add := func(n int, read func(at int, dst []byte) error) {
		w.segments = append(w.segments, imageSegment{end, n, read})
		end += (n + imageAlign - 1) &^ (imageAlign - 1)
	}
	sets := w.s.Sets
	for of, t := range w.s.Types {
		if t.Place() != world.PerEntity {
			continue
		}
		set, l := &t.Sparse.Set, w.s.Layer
		im := set.ImageOf(&sets[0], t.Enableable)
		sets = sets[1:]
		w.im.Sets = append(w.im.Sets, imageSet{of, im})
		if im.Len > 0 {
			add(im.IDBytes(), func(at int, dst []byte) error { return set.ReadIDs(l, at, dst) })
			add(im.ValueBytes(), func(at int, dst []byte) error { return set.ReadValues(l, at, dst) })
		}
	}
	w.size[ImageEntries] = end
}

// read is Image.Read.
func (w *imageWriter) read(part, at int, dst []byte) error {
	switch part {
	case ImageRows:
		return w.readRows(at, dst)
	case ImageRecords:
		n := min(len(dst), max(0, w.size[part]-at))
		clear(dst[n:])
		return w.s.Layer.ReadBytes(w.records, at, dst[:n])
	}
	clear(dst)
	for _, s := range w.segments {
		lo, hi := max(at, s.at), min(at+len(dst), s.at+s.n)
		if lo < hi {
			if err := s.read(lo-s.at, dst[lo-at:hi-at]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readRows fills dst with rows and blocks. at and len(dst) are multiples of a megachunk, so no
// chunk lies on the border.
func (w *imageWriter) readRows(at int, dst []byte) error {
	first, _ := slices.BinarySearchFunc(w.placed, at, func(p placedChunk, at int) int {
		return cmp.Compare(int(p.at)*store.SmallSize, at)
	})
	end := 0 // of dst, up to which it is filled
	for i := first; i < len(w.placed); i++ {
		p := &w.placed[i]
		begin := int(p.at)*store.SmallSize - at
		if begin >= len(dst) {
			break
		}
		end = begin + p.of.Bytes()
		chunk := dst[begin:end]
		if err := w.readChunk(p, chunk); err != nil {
			return err
		}
		w.tidy(p, chunk)
		p.renumber(chunk)
		block := p.block
		if block < w.blocks.Len() && w.hasBuffers(p.state) {
			w.headers(p, chunk, func(h *value.Header, _ *world.Type) {
				if h.Spilled() {
					w.blocks.Place(h, block, w.im.chunks*universe.ChunkSize)
					block++
				}
			})
		}
	}
	blocks := w.im.chunks*universe.ChunkSize - at // of dst, at which blocks begin
	if blocks < len(dst) {
		clear(dst[end:max(end, blocks)])
		w.blocks.Read(max(0, -blocks), dst[max(blocks, 0):])
		return nil
	}
	clear(dst[end:])
	return nil
}

// tidy clears the bytes of a chunk that belong to no row, so that a world is always written as the
// same bytes.
func (w *imageWriter) tidy(p *placedChunk, chunk []byte) {
	of := p.state.Store()
	n, scale := of.RowsOf(p.pos), int(of.Scale(p.of.Order))
	end := n * int(unsafe.Sizeof(entity.ID{}))
	columns := slices.SortedFunc(slices.Values(of.Columns()),
		func(a, b world.Column) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, c := range columns {
		begin := int(c.Offset) * scale
		clear(chunk[end:begin])
		end = begin + n*int(c.Size)
	}
	clear(chunk[end:])
}
