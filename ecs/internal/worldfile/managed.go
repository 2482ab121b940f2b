package worldfile

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Managed values in images. The values of a type are numbered from 1 on, in order of archetypes and
// rows, and lie in the section one after the other. In the file a row has the number of its value
// as slot, or 0, and a new store hands out slots in this order: so rows are used as they lie there.
//
//	world      row 0 | slot 7 |   row 1 | slot 0 |   row 2 | slot 3 |      of a store with gaps
//	file       row 0 | slot 1 |   row 1 | slot 0 |   row 2 | slot 2 |      section: 2 values
//
// So each slot but 0 is one more than the slot before it, and the last is the number of values. A
// file where this does not hold is damaged, and refused.

func (im *WorldImage) codeManaged(c *codec.Coder) {
	codec.List(c, &im.Managed, func(m *imageManaged) {
		c.Number(&m.of)
		c.Number(&m.N)
		c.Bytes(&m.coded)
	})
}

// placedSlots is the slots of a managed type in a chunk on its way to a file.
type placedSlots struct {
	world.Column
	next value.Slot // of the first row with a value
}

// describeManaged codes the managed values. Chunks are in order of archetypes still.
func (w *imageWriter) describeManaged() error {
	if w.now {
		l := &w.s.World.Loops
		l.Enter("image.Save")
		defer l.Leave()
	}
	for of, t := range w.s.Types {
		if t.Kind != world.KindManaged {
			continue
		}
		m := imageManaged{of: of}
		if err := w.codeValues(t, &m); err != nil {
			return err
		}
		if m.N > 0 {
			w.im.Managed = append(w.im.Managed, m)
		}
	}
	return nil
}

// codeValues codes the values of a type.
func (w *imageWriter) codeValues(t *world.Type, m *imageManaged) error {
	var slots []value.Slot
	var one []byte
	from := w.s.Managed.Of(t)
	if from == nil && w.now {
		from = t.Managed
	}
	for i := range w.placed {
		p := &w.placed[i]
		c, ok := managedColumn(p.state, t.ID)
		if !ok {
			continue
		}
		switch {
		case t.Codec == nil:
			return fmt.Errorf("values of %s cannot be written: %w", t.Name, world.ErrNoCodec)
		case from == nil:
			return fmt.Errorf("values of %s cannot be written: a snapshot has none of them: register it with ecs.CopyWith, or save the world",
				t.Name)
		}
		p.slots = append(p.slots, placedSlots{c, value.Slot(m.N + 1)})
		n := p.state.Store().RowsOf(p.pos)
		slots = append(slots[:0], make([]value.Slot, n)...)
		// Safe because a managed type's column holds slots.
		if err := w.readColumn(p, c, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(slots))),
			n*int(c.Size))); err != nil {
			return err
		}
		for row, slot := range slots {
			if slot == 0 {
				continue
			}
			var err error
			if one, err = t.EncodeValue(one, from.At(slot)); err != nil {
				return fmt.Errorf("the value of %s of %v cannot be written: %w", t.Name, w.entityAt(p, row), err)
			}
			c := codec.Coder{Out: m.coded}
			c.Bytes(&one)
			m.N, m.coded = m.N+1, c.Out
		}
	}
	return nil
}

// managedColumn returns the column of a managed type in a table of a snapshot.
func managedColumn(st *table.State, id world.TypeID) (world.Column, bool) {
	for _, c := range st.Store().Columns() {
		if world.TypeID(c.Key) == id {
			return c, true
		}
	}
	return world.Column{}, false
}

// readColumn fills dst with the first bytes of a column of a chunk.
func (w *imageWriter) readColumn(p *placedChunk, c world.Column, dst []byte) error {
	at := int(c.Offset) * int(p.state.Store().Scale(p.of.Order))
	return w.s.Layer.ReadBytes(w.rows, int(p.of.First)*store.SmallSize+at, dst)
}

// entityAt returns the entity of a row, for messages; none if it cannot be read.
func (w *imageWriter) entityAt(p *placedChunk, row int) (e entity.ID) {
	// Safe because a chunk begins with its entities.
	b := unsafe.Slice((*byte)(unsafe.Pointer(&e)), unsafe.Sizeof(e))
	_ = w.s.Layer.ReadBytes(w.rows, int(p.of.First)*store.SmallSize+row*int(unsafe.Sizeof(entity.ID{})), b)
	return e
}

// renumber gives the rows of a chunk's bytes the slots that they have in the file.
func (p *placedChunk) renumber(chunk []byte) {
	of := p.state.Store()
	// Safe because the bytes are a chunk's, which are aligned as words at least.
	at := store.Row{Base: unsafe.Pointer(unsafe.SliceData(chunk)), Scale: of.Scale(p.of.Order)}
	for _, s := range p.slots {
		next := s.next
		slots := value.SlotsAt(at, s.Column, of.RowsOf(p.pos))
		for i, slot := range slots {
			if slot != 0 {
				slots[i] = next
				next++
			}
		}
	}
}

// adoptManaged makes the managed values, for which the rows have slots.
func (l *imageLoader) adoptManaged() error {
	l.w.Loops.Enter("image.Open")
	defer l.w.Loops.Leave()
	of := map[int]*imageManaged{}
	for i := range l.im.Managed {
		m := &l.im.Managed[i]
		if m.of >= len(l.im.Types) || l.im.Types[m.of].Kind != world.KindManaged || of[m.of] != nil {
			return refuseSection(ImageManaged, fmt.Errorf("values of type %d, which is not managed, or comes twice",
				m.of))
		}
		of[m.of] = m
	}
	for i, t := range l.types {
		if t == nil || t.Kind != world.KindManaged {
			continue // entities lose their values
		}
		m := of[i]
		if m == nil {
			m = &imageManaged{of: i}
		}
		if err := l.decodeValues(t, m); err != nil {
			return err
		}
	}
	return nil
}

// decodeValues makes the values of a type.
func (l *imageLoader) decodeValues(t *world.Type, m *imageManaged) error {
	d := managedDecoder{t: t, m: m, c: codec.Coder{In: m.coded, Reading: true}, next: 1}
	for i := range l.tables {
		t := &l.tables[i]
		slot := slices.Index(t.im.Types, m.of)
		if slot < 0 {
			continue
		}
		for pos := range t.im.Chunks {
			ids, slots := l.slotsOf(t, slot, pos)
			if err := d.decode(t.a, pos, ids, slots); err != nil {
				return err
			}
		}
	}
	if int(d.next) != m.N+1 {
		return fmt.Errorf("%w: rows have %d values of %s, there are %d", ErrImage, d.next-1, t.Name, m.N)
	}
	if !d.c.Ended() {
		return refuseSection(ImageManaged, errors.New("values of "+t.Name+" go on behind the last"))
	}
	return nil
}

// slotsOf returns the entities and the slots of a managed type of a chunk of the file.
func (l *imageLoader) slotsOf(t *loadedTable, slot, pos int) ([]entity.ID, []value.Slot) {
	if t.source != nil {
		n := t.source.RowsOf(pos)
		// Safe because the column has n slots, which a source checks.
		return world.Entities(t.source.Row(pos, 0).Base, n),
			unsafe.Slice((*value.Slot)(l.elementOf(t, slot, pos, 0)), n)
	}
	rows := &t.a.Table.Store
	at, n := rows.Row(pos, 0), rows.RowsOf(pos)
	return world.Entities(at.Base, n), value.SlotsAt(at, t.a.Table.Column(l.types[t.im.Types[slot]].ID), n)
}

// managedDecoder makes the values of one type.
type managedDecoder struct {
	t    *world.Type
	m    *imageManaged
	c    codec.Coder
	next value.Slot
}

// decode makes the values of the rows of a chunk.
func (d *managedDecoder) decode(a *world.Archetype, pos int, ids []entity.ID, slots []value.Slot) error {
	for row, slot := range slots {
		if slot == 0 {
			continue
		}
		if slot != d.next || int(slot) > d.m.N {
			return fmt.Errorf("%w: rows of %v: row %d of chunk %d has value %d of %d of %s, where %d is next",
				ErrImage, a, row, pos, slot, d.m.N, d.t.Name, d.next)
		}
		var one []byte
		if d.c.Bytes(&one); d.c.Bad {
			return refuseSection(ImageManaged, fmt.Errorf("values of %s end with the one before %d of %d",
				d.t.Name, slot, d.m.N))
		}
		if err := d.t.DecodeValue(one, d.t.Managed.At(d.t.Managed.Take()), true); err != nil {
			return refuseSection(ImageManaged, fmt.Errorf("the value of %s of %v: %w", d.t.Name, ids[row], err))
		}
		d.next++
	}
	return nil
}
