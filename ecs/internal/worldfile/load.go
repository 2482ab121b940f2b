package worldfile

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
	"quarry/internal/universe"
	"quarry/internal/universe/sentinel"
)

// A world from a world file.
//
// Terminology
//
//	section    a part of the file: encoded metadata, or the bytes of rows or records (image.go)
//	rows       the section with all chunks and, after them, the blocks of spilled buffers
//	granule    2 MiB of rows: the unit of mapping and reading
//	claims     one bit per eighth of a chunk (2 KiB) of the section rows: it belongs to a table or
//	           has blocks
//	match      a type of the file and the type of the program that takes its values
//	as is      of a match: its layout has not changed, so the world can use its values as they lie
//	           in the file (imageMatch.asIs), whether the file is mapped or read
//	source     a table of the file that is not used as is: a type of it has changed, or its
//	           entities were destroyed and no Cleanup type keeps them any more (keepsNobody); its
//	           rows are copied into new chunks, and converted on the way
//
// The world and its universe, a range of addresses, exist before anything but the sizes and counts
// of the sections is checked (read). Before memory is taken for rows, the types, the shared values,
// the layouts of tables and the places of chunks are checked (prepare). What lies in rows or leads
// to them is checked after that: managed values, records, enable bits, versions of rows, sparse
// sets and names, and the headers of spilled buffers with their number (admitBuffers). The steps,
// of which fill runs all from match on in the order of loadOrder (parts.go):
//
//	read       decode the sections and check their counts
//	make       make the world; the program registers its types
//	match      find the program's type for each type of the file
//	prepare    make archetypes; check layouts and claim the places of chunks
//	take       map the granules of rows, or allocate them and read them
//	adopt      give archetypes their chunks; then managed values and records
//	convert    convert rows of sources (convert.go); then sparse sets and names
//
// The section rows, of 3 chunks and 20,000 bytes of blocks, takes one granule of the universe:
//
//	byte of rows  0        16,384    32,768    49,152               69,152      2,097,152
//	              | chunk  | 8 small | chunk   | blocks             | not used          |
//	claims        11111111   11010000  11111111  1 for each eighth    0
//	after adopt   table 0    tables    table 1   heap of buffers      chunks 5 to 127: freed
//
// A chunk without a claimed eighth is freed at once. After an error the world is closed, which
// frees all that it has adopted; freeRows frees the granules if it has adopted none.

// OpenImage makes a world from a file. setOptions sets those of the new world; register registers
// its types before it has entities. The error names the defect of the file, or is a *LimitError, or
// comes from NewWorld.
func OpenImage(f *File, register, setOptions func(*world.World)) (*world.World, error) {
	l := &imageLoader{f: f}
	if !littleEndian() {
		return nil, errBigEndian
	}
	if err := l.read(); err != nil {
		return nil, err
	}
	if err := l.make(setOptions); err != nil {
		return nil, err
	}
	done := false
	defer func() {
		if !done { // register has panicked, or what reads the file, or converts
			l.freeRows()
			l.freeSources()
			_ = l.w.Close()
		}
	}()
	register(l.w)
	err := l.fill()
	done = true
	l.freeSources()
	if err != nil {
		l.freeRows()
		return nil, errors.Join(world.WithOp("image.Open", asLimitError(err)), l.w.Close())
	}
	return l.w, nil
}

// asLimitError wraps out-of-memory errors of the universe as *LimitError and returns others
// unchanged.
func asLimitError(err error) error {
	for _, of := range [...]error{sentinel.ErrFull, sentinel.ErrCommit, sentinel.ErrReserve, sentinel.ErrTooBig} {
		if errors.Is(err, of) && !errors.Is(err, world.ErrLimit) {
			return world.LimitErrorOf(err)
		}
	}
	return err
}

// read decodes the sections and checks their counts.
func (l *imageLoader) read() error {
	for i, code := range l.im.Sections() {
		c := &codec.Coder{In: l.f.Meta[i], Reading: true}
		if code(c); !c.Ended() {
			return refuseSection(i, errors.New("its content ends early, or goes on"))
		}
	}
	if err := l.im.ids.Check(l.f.Size[ImageRecords]); err != nil {
		return refuseSection(ImageIDs, err)
	}
	if len(l.im.Types) > world.MaxTypes ||
		slices.ContainsFunc(l.im.Types, func(t ImageType) bool { return t.Kind > world.KindChunk }) {
		return refuseSection(ImageTypes, fmt.Errorf("%d types, or one of no kind", len(l.im.Types)))
	}
	rows := l.f.Size[ImageRows]
	if im := &l.im; rows > universe.MaxSize || rows%imageGranule != 0 || im.blockBytes > rows ||
		im.chunks > rows/universe.ChunkSize || im.chunks*universe.ChunkSize+im.blockBytes > rows ||
		im.blocks > im.blockBytes/16 || im.Version == 0 || im.Destroyed > im.Created {
		return refuseSection(ImageTables,
			fmt.Errorf("%d chunks and %d blocks of %d bytes, in %d; version %d, %d entities created, %d destroyed",
				im.chunks, im.blocks, im.blockBytes, rows, im.Version, im.Created, im.Destroyed))
	}
	return nil
}

// make makes the world, in a universe of its own if the options name none.
func (l *imageLoader) make(setOptions func(*world.World)) error {
	var w world.World
	setOptions(&w)
	set := setOptions
	if w.Universe == nil {
		u, err := universeFor(2 * l.f.Size[ImageRows])
		if err != nil {
			return fmt.Errorf("a universe for %d bytes of rows: %w", l.f.Size[ImageRows], err)
		}
		set = func(w *world.World) {
			setOptions(w)
			w.Universe, w.Own = u, true
		}
	}
	made, err := world.NewWorld(set)
	l.w = made
	return err
}

// universeFor returns a universe of at least so many bytes.
func universeFor(size int) (*universe.Universe, error) {
	u, err := universe.New()
	if err != nil || u.Size() >= size {
		return u, err
	}
	if err := u.Close(); err != nil {
		return nil, err
	}
	return universe.New(universe.Size(min(size, universe.MaxSize)))
}

// fill loads all parts of the world.
func (l *imageLoader) fill() error {
	w := l.w
	if w.Closed || w.Writer.Created != 0 || w.IDs.Records() > 0 || w.IDs.Reserved() > 0 || w.History != nil {
		panic("ecs: image.Open: the function that registers the types has made entities, reserved ids, taken a snapshot or closed the world")
	}
	for _, part := range loadOrder {
		if err := loads[part].do(l); err != nil {
			return err
		}
	}
	l.endDestroyed()
	w.Writer.Epoch++
	w.Advance()
	return nil
}

// takeNewer continues with the newer file if types differ and there is one.
func (l *imageLoader) takeNewer() error {
	l.f.Changed, l.f.Added = l.compareTypes()
	if !l.f.Changed || l.f.Newer == nil {
		return nil
	}
	f, err := l.f.Newer()
	if err != nil {
		return err
	}
	f.Rules = l.f.Rules
	*l = imageLoader{f: f, w: l.w}
	if err := l.read(); err != nil {
		return err
	}
	return l.matchTypes()
}

// makeValues makes the shared values, in the order of the file.
func (l *imageLoader) makeValues() error {
	for _, v := range l.im.Values {
		if v.Of >= len(l.types) || l.im.Types[v.Of].Kind != world.KindShared {
			return refuseSection(ImageTables, fmt.Errorf("a value of type %d, which is not shared", v.Of))
		}
		if l.types[v.Of] == nil {
			l.values = append(l.values, nil)
			continue
		}
		x, err := l.matches[v.Of].decodeShared(v.Bytes)
		if err != nil {
			return refuseSection(ImageTables, err)
		}
		l.values = append(l.values, l.types[v.Of].Shared.OfAny(x))
	}
	return nil
}

// prepareTables makes the archetypes, without rows.
func (l *imageLoader) prepareTables() error {
	l.claims = table.NewClaims(l.f.Size[ImageRows] / universe.ChunkSize)
	var order []*world.Archetype
	rows, asIs := uint64(0), map[*world.Archetype]bool{} // false: a type of its rows has changed
	for i := range l.im.Archetypes {
		im := &l.im.Archetypes[i]
		t, err := l.prepareTable(im)
		if err == nil && t.source == nil && asIs[t.a] {
			err = fmt.Errorf("%v comes twice", t.a)
		}
		if errors.Is(err, ErrImageTypes) || errors.Is(err, world.ErrLimit) {
			return err
		}
		if err != nil {
			return refuseSection(ImageTables, err)
		}
		t.a.Pinned = t.a.Pinned || im.pinned
		rows += uint64(im.TableImage.Rows)
		if _, seen := asIs[t.a]; !seen {
			order = append(order, t.a)
		}
		asIs[t.a] = asIs[t.a] || t.source == nil
		l.tables = append(l.tables, t)
	}
	if rows != l.im.Created-l.im.Destroyed {
		return refuseSection(ImageTables, fmt.Errorf("%d rows, of %d entities", rows, l.im.Created-l.im.Destroyed))
	}
	snapshot.Arrange(l.w, order)
	l.renumber()
	return nil
}

// prepareTable makes the archetype for an image.
func (l *imageLoader) prepareTable(im *ImageArchetype) (t loadedTable, err error) {
	t.im = &im.TableImage
	var changed bool
	if t.a, changed, err = l.archetypeFor(im); err != nil {
		return t, err
	}
	if changed {
		t.source, err = l.w.Tables.NewSource(t.im, l.sourceColumns(t.im), l.im.chunks, l.claims)
		return t, err
	}
	for _, of := range im.TableImage.Types {
		t.slots = append(t.slots, t.a.Table.Places[l.types[of].ID].Slot())
	}
	return t, t.a.Table.Prepare(t.im, t.slots, l.im.chunks, l.claims)
}

// archetypeFor returns the archetype for an image, and whether its rows are a source: a type of
// theirs has changed, or they end.
func (l *imageLoader) archetypeFor(im *ImageArchetype) (a *world.Archetype, changed bool, err error) {
	var sig world.Signature
	for i, of := range im.TableImage.Types {
		if of >= len(l.types) || i > 0 && of <= im.TableImage.Types[i-1] || l.im.Types[of].Kind == world.KindSparse {
			return nil, false, fmt.Errorf("an archetype with type %d", of)
		}
		changed = changed || !l.matches[of].asIs
		if t := l.types[of]; t != nil {
			sig.Add(t.ID)
		}
	}
	var shared []*value.Shared
	for _, v := range im.Values {
		if v >= len(l.values) {
			return nil, false, fmt.Errorf("an archetype with value %d of %d", v, len(l.values))
		}
		if l.values[v] != nil {
			shared = append(shared, l.values[v])
		}
	}
	if a, err = l.w.ArchetypeOf(sig, l.w.ValuesFor(nil, &sig, shared, nil, nil)); err != nil {
		return nil, false, err
	}
	return a, changed || im.TableImage.Rows > 0 && keepsNobody(a), nil // rows that end are loaded as a source
}

// keepsNobody reports whether the archetype's entities were destroyed and have no Cleanup type
// left.
func keepsNobody(a *world.Archetype) bool {
	return a.CleanupOnly && !a.Table.Sig.Meets(&a.World.Types.Cleanup)
}

// endDestroyed ends destroyed entities that only Cleanup types kept, if these types were dropped or
// are no longer Cleanup types.
func (l *imageLoader) endDestroyed() {
	tx := l.w.Writer.Begin()
	for _, a := range l.w.Archetypes.List {
		if keepsNobody(a) && a.Table.Len() > 0 {
			tx.AddWhole(&a.Table.Table)
		}
	}
	if len(tx.Parts) > 0 {
		edit.EndRows(l.w, "image.Open", tx)
	}
}

// takeRows maps the granules of rows from the file, or allocates them and reads the bytes.
func (l *imageLoader) takeRows() (err error) {
	size := l.f.Size[ImageRows]
	if size == 0 {
		l.handedOver = true
		return nil
	}
	if l.f.Map != nil {
		l.first, err = l.w.Universe.MapFile(size/imageGranule, l.f.Map, l.f.At[ImageRows])
		if l.taken = err == nil; err == nil || !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if l.first, err = l.w.Universe.AllocGranules(size / imageGranule); err != nil {
		return err
	}
	l.taken = true
	// Safe because the granules are the loader's.
	all := unsafe.Slice((*byte)(l.w.Universe.Pointer(l.first)), size)
	if l.f.Fill != nil {
		return l.f.Fill(ImageRows, all)
	}
	for at := 0; at < size; at += imageGranule {
		if err := l.f.Read(ImageRows, at, all[at:at+imageGranule]); err != nil {
			return err
		}
	}
	return nil
}

// freeRows frees rows that were allocated and not yet adopted.
func (l *imageLoader) freeRows() {
	if !l.taken || l.handedOver {
		return
	}
	for at := range l.f.Size[ImageRows] / universe.MegachunkSize {
		l.w.Universe.Free(l.first+universe.ChunkIndex(at)*universe.ChunksPerMegachunk, universe.ChunksPerMegachunk)
	}
}

// adoptTables gives the archetypes their chunks and the buffers their blocks, and frees unclaimed
// chunks.
func (l *imageLoader) adoptTables() error {
	w, claims := l.w, l.claims
	l.handedOver = true
	blockChunks := (l.im.blockBytes + universe.ChunkSize - 1) / universe.ChunkSize
	claims.Eighths.SetRange(l.im.chunks<<store.UnitOrder, blockChunks<<store.UnitOrder)
	for chunk := range l.f.Size[ImageRows] / universe.ChunkSize {
		// The bits of a chunk's eighths are a byte of a word.
		if used := uint8(claims.Eighths[chunk/8] >> (chunk % 8 * 8)); used == 0 {
			w.Universe.Free(l.first+universe.ChunkIndex(chunk), 1)
		}
	}
	w.Buffers.AdoptBlocks(l.first+universe.ChunkIndex(l.im.chunks), blockChunks, l.im.blocks)
	small := map[universe.ChunkIndex]uint8{}
	for i := range l.tables {
		for _, k := range l.tables[i].im.Chunks {
			if k.Order == 0 {
				small[l.first+k.First.Chunk()] |= 1 << (k.First % (1 << store.UnitOrder))
			}
		}
	}
	for chunk, used := range small {
		w.Tables.SmallChunks().Adopt(chunk, used)
	}
	var wrong error
	for i := range l.tables {
		t := &l.tables[i]
		if t.source != nil {
			t.source.Adopt(l.first)
		} else if err := t.a.Table.Adopt(t.im, t.slots, l.first); err != nil && wrong == nil {
			wrong = refuseSection(ImageTables, err)
		}
	}
	return l.admitBuffers(wrong)
}

// admitBuffers checks that the headers of all buffers lead to blocks of the file. It continues
// after an error and mends bad headers, because closing the world follows them.
func (l *imageLoader) admitBuffers(wrong error) error {
	spilled := 0
	admit := func(a *world.Archetype, h *value.Header, k *value.Shape) {
		if err := l.w.Buffers.Admit(h, k, l.first); err != nil && wrong == nil {
			wrong = fmt.Errorf("%w: rows of %v: %w", ErrImage, a, err)
		}
		if h.Spilled() {
			spilled++
		}
	}
	seen := map[*world.Archetype]bool{}
	for i := range l.tables {
		t := &l.tables[i]
		switch {
		case t.source != nil:
			l.eachShape(t, func(slot int, k value.Shape) {
				t.source.Headers(slot, func(h *value.Header) { admit(t.a, h, &k) })
			})
		case !seen[t.a]:
			seen[t.a] = true
			for _, c := range t.a.Table.Buffers() {
				t.a.Table.HeadersOf(c, func(h *value.Header) { admit(t.a, h, &l.w.Types.List[c.Key].Shape) })
			}
		}
	}
	if l.w.Buffers.Admitted(); spilled != l.im.blocks {
		l.w.Buffers.Recount(spilled)
		if wrong == nil {
			wrong = fmt.Errorf("%w: %d buffers have spilled, there are %d blocks", ErrImage, spilled, l.im.blocks)
		}
	}
	return wrong
}

// mayHave reports whether an entity may have a name or a value of a sparse type.
func (l *imageLoader) mayHave(e entity.ID) bool {
	r := l.w.IDs.Find(e)
	if r == nil {
		return false
	}
	o, ok := l.w.Tables.FindOwner(r.Location)
	return ok && !l.w.ArchetypeAt(o).CleanupOnly
}

// adoptNames names the entities.
func (l *imageLoader) adoptNames() error {
	for _, n := range l.im.Names {
		for _, e := range slices.Backward(n.ids) { // Named finds the entity named last first
			if l.w.IDs.Find(e) == nil || l.w.Names.Of(e.Index()) != "" || n.text == "" {
				return refuseSection(ImageNames,
					fmt.Errorf("%v is named %q, and is not alive or has another name", e, n.text))
			}
			l.w.Names.Set(e, n.text)
		}
	}
	if l.w.Names.Len() > 0 {
		l.w.WatchEnds()
	}
	return nil
}
