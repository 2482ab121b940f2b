package table

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"quarry/bitmask"
	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/internal/store"
	"quarry/internal/universe"
	"quarry/layout"
)

// A table in a file. The bytes of its chunks lie elsewhere in the file; an Image has the rest: the
// layout, where each chunk lies, and the metadata.
//
//	State --Image--> Image --Code--> bytes --Code--> Image --Claim, Adopt--> Table
//
// Locations are numbers of a world, so the records of a file need no change: a chunk takes the
// row blocks that it had. Slots of an Image are those of the world that wrote it. A world that
// registers its types in another order gets a layout that is not its own (layout.go), and the
// metadata change their order.

// Image is a table without its rows.
type Image struct {
	Types  []int // numbers of the types in the file, by slot
	Rows   int
	Chunks []ImageChunk
	plan   imagePlan
	gone   uint32 // as in Metadata
	bits   []imageBits
	values []imageValues
	rows   []imageVersions
}

// ImageChunk is a chunk of an Image.
type ImageChunk struct {
	First    store.SmallIndex // where it lies, counted from the first chunk of the file
	Order    uint32
	rowBlock int      // its first
	was      int      // the same in the file, see Renumber
	marked   uint32   // as in chunkVersions
	ordered  uint32   // as in chunkVersions
	changed  []uint32 // versions of the types, by slot
}

// imagePlan is a layout. Types without bytes have no place.
type imagePlan struct {
	line, limit, rows int // CacheLine, RowLimit, Rows
	skewed            bool
	places            []imagePlace
}

// imagePlace is a column, or a hole where a column was.
type imagePlace struct {
	of           int // slot + 2; 1: the entities; 0: a hole
	size         int // of one element
	offset, room int // in bytes
}

type (
	imageBits struct { // enable bits of one type
		slot  int
		words [][]uint64 // by chunk
	}
	imageValues struct { // values of a chunk type
		slot int
		list []uint64 // as in chunkValues
	}
	imageVersions struct { // versions of the rows of one type
		slot int
		list [][]uint32 // by chunk, of its rows
	}
)

// ImageOf returns the image of a table of some types at a moment. of describes the types; those of
// the file have the same numbers. The image shares nothing that changes.
func ImageOf(st *State, types []TypeID, of func(TypeID) Type) (Image, error) {
	im := Image{Rows: st.store.Len(), gone: st.metadata.gone}
	for _, id := range types {
		im.Types = append(im.Types, int(id))
	}
	plan := st.usedLayout
	if plan == nil {
		own, err := planFor(types, of)
		if err != nil {
			return Image{}, err
		}
		plan = &own
	}
	im.plan = planImage(plan, types, st.places)
	im.plan.skewed = st.store.IsSkewed()
	for pos, c := range st.store.Chunks() {
		s := &st.metadata.chunkVersions[pos]
		im.Chunks = append(im.Chunks, ImageChunk{First: c.First, Order: c.Order, rowBlock: rowBlockOf(s.at),
			marked: s.marked, ordered: s.ordered, changed: st.metadata.Versions(pos)})
	}
	for _, slot := range st.metadata.toggling {
		b := imageBits{slot: int(slot)}
		for _, bits := range st.metadata.enabled[slot][:len(im.Chunks)] {
			b.words = append(b.words, bits.Words())
		}
		im.bits = append(im.bits, b)
	}
	for i := range st.metadata.values {
		v := &st.metadata.values[i]
		im.values = append(im.values, imageValues{int(v.slot), v.list})
	}
	for i := range st.metadata.rows {
		v := &st.metadata.rows[i]
		to := imageVersions{slot: int(v.slot)}
		for pos, list := range v.list[:len(im.Chunks)] {
			to.list = append(to.list, list[:st.store.RowsOf(pos)])
		}
		im.rows = append(im.rows, to)
	}
	return im, nil
}

// planFor returns the plan of a table of some types.
func planFor(types []TypeID, of func(TypeID) Type) (layout.Plan, error) {
	columns, least := []layout.Column{idColumn}, 0
	for _, id := range types {
		t := of(id)
		columns = append(columns, t.Layout)
		if t.MaxRows > 0 && (least == 0 || t.MaxRows < least) {
			least = t.MaxRows
		}
	}
	return planIn(nil, columns, least)
}

// planImage returns the places of a plan, whose columns are found by their offsets.
func planImage(p *layout.Plan, types []TypeID, places []Place) imagePlan {
	im := imagePlan{line: p.CacheLine, limit: p.RowLimit, rows: p.Rows}
	for _, c := range p.Places {
		if c.Size == 0 {
			continue
		}
		at := imagePlace{size: c.Size, offset: c.Offset, room: c.Bytes}
		switch {
		case c.Hole:
		case c.Offset == 0:
			at.of = 1
		default:
			at.of = 2 + slices.IndexFunc(types, func(id TypeID) bool {
				return int(places[id].Offset)<<store.UnitOrder == c.Offset
			})
		}
		im.places = append(im.places, at)
	}
	return im
}

// Code codes the image.
func (im *Image) Code(c *codec.Coder) {
	codec.List(c, &im.Types, c.Number)
	c.Number(&im.Rows)
	c.Half(&im.gone)
	p := &im.plan
	c.Number(&p.line)
	c.Number(&p.limit)
	c.Number(&p.rows)
	c.Flag(&p.skewed)
	codec.List(c, &p.places, func(at *imagePlace) {
		c.Number(&at.of)
		c.Number(&at.size)
		c.Number(&at.offset)
		c.Number(&at.room)
	})
	codec.List(c, &im.Chunks, func(k *ImageChunk) {
		first := uint32(k.First)
		c.Half(&first)
		k.First = store.SmallIndex(first)
		c.Half(&k.Order)
		c.Number(&k.rowBlock)
		k.was = k.rowBlock
		c.Half(&k.marked)
		c.Half(&k.ordered)
		c.Halves(&k.changed)
	})
	codec.List(c, &im.bits, func(b *imageBits) {
		c.Number(&b.slot)
		codec.List(c, &b.words, c.Words)
	})
	codec.List(c, &im.values, func(v *imageValues) {
		c.Number(&v.slot)
		c.Words(&v.list)
	})
	codec.List(c, &im.rows, func(v *imageVersions) {
		c.Number(&v.slot)
		codec.List(c, &v.list, c.Halves)
	})
}

// ErrImage is wrapped by errors of images that make no sense.
var ErrImage = errors.New("it is damaged")

func refuseImage(format string, values ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrImage}, values...)...)
}

// Claims are the parts of a file, and the row blocks, that images have claimed, so that no two
// claim the same.
type Claims struct {
	Eighths   bitmask.Bits // of the chunks of the file
	rowBlocks bitmask.Bits
}

// NewClaims returns the claims of a file with a number of chunks.
func NewClaims(chunks int) *Claims {
	return &Claims{Eighths: make(bitmask.Bits, (chunks<<store.UnitOrder+bitmask.WordBits-1)/bitmask.WordBits)}
}

// Sparse reports whether row blocks have numbers far above how many there are, as in a world that
// had many more rows once, or in a file that lies. Tables by row block would be as long.
func (c *Claims) Sparse() bool {
	return len(c.rowBlocks)*bitmask.WordBits > 1024+4*c.rowBlocks.Count()
}

// Renumber gives the chunks of an image row blocks from next on, and returns the next. fits returns
// how many rows a chunk has room for. Of an image that is not renumbered, row blocks stay.
func (im *Image) Renumber(next int, fits func(pos int) int) int {
	for pos := range im.Chunks {
		im.Chunks[pos].rowBlock = next
		next += rowBlocksFor(fits(pos))
	}
	return next
}

// AddRows adds the rows of an image to those of its file. rows returns how many a chunk has.
func (im *Image) AddRows(to *entity.ImageRows, rows func(pos int) int) {
	for pos := range im.Chunks {
		to.Add(im.Chunks[pos].was, im.Chunks[pos].rowBlock, rows(pos))
	}
}

// claim claims n bits, of at most most.
func claim(b *bitmask.Bits, first, n, most int) bool {
	if first < 0 || n > most || first > most-n {
		return false
	}
	for len(*b)*bitmask.WordBits < first+n {
		*b = append(*b, make(bitmask.Bits, max(1, len(*b)))...)
	}
	if b.CountRange(first, n) > 0 {
		return false
	}
	b.SetRange(first, n)
	return true
}

// Claim claims the chunks of an image of any layout, and returns their bytes. The error wraps
// ErrImage.
func (im *Image) Claim(chunks int, claims *Claims) (bytes int, err error) {
	for pos, k := range im.Chunks {
		if k.Order > store.MaxOrder || !claim(&claims.Eighths, int(k.First), 1<<k.Order, chunks<<store.UnitOrder) {
			return 0,
				refuseImage(
					"chunk %d of order %d lies at eighth %d of the file, where another does, or beyond its %d chunks",
					pos, k.Order, k.First, chunks)
		}
		bytes += store.SmallSize << k.Order
	}
	if most := bytes / int(unsafe.Sizeof(entity.ID{})); im.Rows > most || im.Rows == 0 && bytes > 0 {
		return 0, refuseImage("%d rows in %d chunks of %d bytes", im.Rows, len(im.Chunks), bytes)
	}
	return bytes, nil
}

// Prepare gives a table without rows the layout of an image, and checks the image against it.
// slots[i] is the table's slot of the image's slot i. After an error, which wraps ErrImage, the
// table has no rows.
func (t *Table) Prepare(im *Image, slots []uint16, chunks int, claims *Claims) error {
	if err := t.usePlan(&im.plan, slots); err != nil {
		return err
	}
	if err := t.Store.Fit(im.list(0), im.Rows); err != nil {
		return refuseImage("%v: %w", t, err)
	}
	for pos, c := range im.list(0) {
		k := &im.Chunks[pos]
		if len(k.changed) != len(slots) {
			return refuseImage("chunk %d of %v has %d versions", pos, t, len(k.changed))
		}
		n := rowBlocksFor(t.Store.Fits(c))
		if k.rowBlock == 0 || !claim(&claims.rowBlocks, k.rowBlock, n, entity.RowBlocks) {
			return refuseImage("chunk %d of %v has row blocks from %d on, which are another's", pos, t, k.rowBlock)
		}
		if !claim(&claims.Eighths, int(k.First), 1<<k.Order, chunks<<store.UnitOrder) {
			return refuseImage(
				"chunk %d of %v lies at eighth %d of the file, where another does, or beyond its %d chunks",
				pos, t, k.First, chunks)
		}
	}
	return t.fitMetadata(im, slots)
}

// fitMetadata checks the metadata of an image.
func (t *Table) fitMetadata(im *Image, slots []uint16) error {
	n := len(im.Chunks)
	has := func(list []uint16, slot int) bool {
		return slot < len(slots) && slices.Contains(list, slots[slot])
	}
	var bits, values, rows []uint16
	for _, b := range im.bits {
		if len(b.words) != n || !has(t.Metadata.toggling, b.slot) || has(bits, b.slot) {
			return refuseImage("%v has enable bits of slot %d in %d of %d chunks", t, b.slot, len(b.words), n)
		}
		bits = append(bits, slots[b.slot])
	}
	for _, v := range im.values {
		if v.slot >= len(slots) || has(values, v.slot) {
			return refuseImage("%v has values of chunks in slot %d, twice", t, v.slot)
		}
		if own := t.Metadata.valuesIn(slots[v.slot]); own == nil || len(v.list) != n*own.of.words() {
			return refuseImage("%v has %d words of values of chunks in slot %d", t, len(v.list), v.slot)
		}
		values = append(values, slots[v.slot])
	}
	for _, v := range im.rows {
		if len(v.list) != n || v.slot >= len(slots) || !t.tracks(slots[v.slot]) || has(rows, v.slot) {
			return refuseImage("%v has versions of rows of slot %d in %d of %d chunks", t, v.slot, len(v.list), n)
		}
		rows = append(rows, slots[v.slot])
	}
	if len(bits) != len(t.Metadata.toggling) || len(values) != len(t.Metadata.values) ||
		len(rows) != len(t.Metadata.rows) {
		return refuseImage(
			"%v has %d types with bits, %d of chunks and %d with versions of rows; there are %d, %d and %d",
			t, len(bits), len(values), len(rows), len(t.Metadata.toggling), len(t.Metadata.values),
			len(t.Metadata.rows))
	}
	return nil
}

// tracks reports whether the type in a slot has versions of rows.
func (t *Table) tracks(slot uint16) bool { return t.all.types[t.Types[slot]].Tracked }

// usePlan gives a table without rows a layout.
func (t *Table) usePlan(im *imagePlan, slots []uint16) error {
	plan, err := t.planFrom(im, slots)
	if err != nil {
		return err
	}
	own := t.mustPlan()
	if own.Rows == plan.Rows && im.line == own.CacheLine && im.skewed == t.Store.IsSkewed() && t.hasOffsets(im, slots) {
		return nil
	}
	if !t.mayAdopt(plan) {
		return refuseImage("%v has %d rows in a unit of 16 KiB, where %d fit", t, plan.Rows, t.ownRows)
	}
	for _, at := range im.places {
		if at.of > 1 {
			t.Places[t.Types[slots[at.of-2]]].Offset = uint32(at.offset) >> store.UnitOrder
		}
	}
	t.usedLayout = plan
	t.replan(plan.Rows, nil)
	t.Store.Skew(im.skewed, im.line)
	return nil
}

// hasOffsets reports whether each type lies where a layout has it. That a column of its size lies
// there is not enough: types of equal sizes lie in the order of registration.
func (t *Table) hasOffsets(im *imagePlan, slots []uint16) bool {
	for _, at := range im.places {
		if at.of == 0 || at.of > 1 && int(t.Places[t.Types[slots[at.of-2]]].Offset)<<store.UnitOrder != at.offset {
			return false
		}
	}
	return true
}

// planFrom returns the plan of an image of the table's types.
func (t *Table) planFrom(im *imagePlan, slots []uint16) (*layout.Plan, error) {
	columns := make([]layout.Column, len(slots))
	for i, slot := range slots {
		columns[i] = t.all.types[t.Types[slot]].Layout
	}
	p, err := im.planOf(columns)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", t, err)
	}
	return p, nil
}

// planOf returns the plan that places columns, one for each slot: those with bytes, and holes, one
// after the other.
func (im *imagePlan) planOf(columns []layout.Column) (*layout.Plan, error) {
	p := &layout.Plan{ChunkSize: layout.ChunkSize, CacheLine: im.line, RowLimit: im.limit, Rows: im.rows}
	if im.line < 64 || im.line > 256 || im.line&(im.line-1) != 0 || im.rows < 1 || im.rows > layout.MaxRows ||
		im.limit > layout.MaxRows {
		return nil, refuseImage("%d rows in a unit, of lines of %d B", im.rows, im.line)
	}
	end, seen := 0, map[int]bool{}
	for i, at := range im.places {
		c := layout.Column{Name: "hole", Size: at.size, Align: 1}
		switch {
		case at.of == 1:
			c = idColumn
		case at.of > 1 && at.of-2 < len(columns):
			c = columns[at.of-2]
		case at.of > 1:
			return nil, refuseImage("a column of slot %d", at.of-2)
		}
		if at.size < 1 || at.size > layout.ChunkSize || c.Size != at.size || at.offset != end || at.room%im.line != 0 ||
			at.room < im.rows*at.size ||
			at.room > layout.ChunkSize-end || at.of > 0 && seen[at.of] || (i == 0) != (at.of == 1) {
			return nil, refuseImage("a column of %d B at byte %d of %d, behind %d", at.size, at.offset, at.room, end)
		}
		seen[at.of] = true
		end += at.room
		p.Places = append(p.Places, layout.Placement{Column: c, Offset: at.offset, Bytes: at.room, Hole: at.of == 0})
		if at.of > 0 {
			p.RowSize += at.size
		}
	}
	sized := 1
	for _, c := range columns {
		if c.Size > 0 {
			sized++
		} else {
			p.Places = append(p.Places, layout.Placement{Column: c, Offset: end})
		}
	}
	if delete(seen, 0); len(seen) != sized {
		return nil, refuseImage("%d columns of %d", len(seen), sized)
	}
	if err := p.Verify(); err != nil {
		return nil, refuseImage("%v", err)
	}
	return p, nil
}

// Fits returns how many rows a chunk of an image has room for, for which the table was prepared.
func (t *Table) Fits(im *Image, pos int) int {
	k := &im.Chunks[pos]
	return t.Store.Fits(store.Chunk{First: k.First, Order: k.Order})
}

// list returns the chunks, which begin at a chunk of a universe.
func (im *Image) list(first universe.ChunkIndex) []store.Chunk {
	list := make([]store.Chunk, len(im.Chunks))
	for pos, k := range im.Chunks {
		list[pos] = store.Chunk{First: k.First + store.SmallIndex(first)<<store.UnitOrder, Order: k.Order}
	}
	return list
}

// Adopt gives a table that was prepared for an image its chunks, which begin at a chunk
// of the universe, and its metadata. After an error, which wraps ErrImage, the table has the
// chunks.
func (t *Table) Adopt(im *Image, slots []uint16, first universe.ChunkIndex) error {
	if len(im.Chunks) == 0 {
		return nil
	}
	list := im.list(first)
	t.Store.Compose(list, im.Rows)
	most := 0
	for pos, k := range im.Chunks {
		n := rowBlocksFor(t.Store.Fits(list[pos]))
		t.all.rowBlocks.claim(k.rowBlock, n)
		most = max(most, k.rowBlock+n)
	}
	t.all.reach(most) // once, not chunk by chunk
	err := t.Metadata.adopt(im, slots, t.Store.RowsOf, func(pos int) int { return t.Store.Fits(list[pos]) })
	for pos := range list {
		t.place(pos)
	}
	t.remark()
	return err
}

// adopt fills metadata without chunks with those of an image.
func (b *Metadata) adopt(im *Image, slots []uint16, rows, room func(pos int) int) error {
	b.gone = im.gone
	for pos, k := range im.Chunks {
		b.Add(room(pos), locationOf(k.rowBlock))
		b.chunkVersions[pos].marked, b.chunkVersions[pos].ordered = k.marked, k.ordered
		to := b.Versions(pos)
		for i, v := range k.changed {
			to[slots[i]] = v
		}
	}
	for _, from := range im.bits {
		for pos, words := range from.words {
			if !b.Bits(slots[from.slot], pos).Fill(words, rows(pos)) {
				return refuseImage("enable bits of chunk %d are %d words for %d rows, or behind the last",
					pos, len(words), rows(pos))
			}
		}
	}
	for _, from := range im.values {
		copy(b.valuesIn(slots[from.slot]).list, from.list)
	}
	for _, from := range im.rows {
		for pos, list := range from.list {
			if len(list) != rows(pos) || slices.Contains(list, 0) {
				return refuseImage("%d rows of chunk %d have versions, of %d, or one has none",
					len(list), pos, rows(pos))
			}
			copy(b.RowVersions(slots[from.slot], pos), list)
		}
	}
	return nil
}
