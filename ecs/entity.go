package ecs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"quarry/ecs/internal/entity"
)

// Entity identifies an entity of one world. It is 8 bytes, compares with ==, and may be stored in
// components. Its zero value, Null, is never alive.
//
//	bit 0                  27      31  32                        64
//	    +------------------+--------+--+--------------------------+
//	    | index 27         | world 4| P| version 32, odd = alive  |
//	    +------------------+--------+--+--------------------------+
//
// After an entity is destroyed, its index is reused under a new version. The version wraps after
// 2^31 reuses of one index: an Entity kept that long could refer to another entity. P marks the
// placeholders of command buffers, see IsPlaceholder.
//
// The text form, 12v3@5, is the result of String followed by the world's tag; it lets JSON and maps
// use entities as keys. The binary form is the 8 bytes of the drawing, little endian. Both forms
// identify the entity in the world that created it, and in every world that goes on from that one
// with its ids and its tag: one that is opened from its world file or its journal, after a restart
// too, and a fork of its snapshot. In any other world they mean nothing: entities that are made
// anew, moved, or loaded as a scene have other ids, so what refers to them must use a key of the
// program's own.
type Entity entity.ID

// Null is the zero Entity, which is never alive.
var Null Entity

// index returns the entity's index.
func (e Entity) index() uint32 { return entity.ID(e).Index() }

// Index returns the entity's index in 0..2^27-1. No two entities alive in one world have the same
// index.
func (e Entity) Index() int { return int(e.index()) }

// Version returns how often the index has changed between dead and alive. It is odd for every
// entity that a world has created.
func (e Entity) Version() uint32 { return entity.ID(e).Version() }

// String returns index and version as 12v3, null for Null, and placeholder 5 for a placeholder.
func (e Entity) String() string { return entity.ID(e).String() }

// Compare orders entities by index, then by version. It returns -1, 0 or +1.
func (e Entity) Compare(f Entity) int {
	switch {
	case e.Index() < f.Index() || e.Index() == f.Index() && e.Version() < f.Version():
		return -1
	case e.Index() == f.Index() && e.Version() == f.Version():
		return 0
	}
	return 1
}

// MarshalText returns the text form, 12v3@5 or null. It returns an error if e is a placeholder,
// which means nothing outside its command buffer.
func (e Entity) MarshalText() ([]byte, error) {
	if e == Null {
		return []byte("null"), nil
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("ecs: Entity.MarshalText: %w", err)
	}
	b := strconv.AppendUint(nil, uint64(e.index()), 10)
	b = strconv.AppendUint(append(b, 'v'), uint64(e.Version()), 10)
	return strconv.AppendUint(append(b, '@'), uint64(entity.ID(e).Tag().Number()), 10), nil
}

// UnmarshalText sets e to the entity that text identifies. It accepts exactly what MarshalText
// writes; each entity has only one spelling. On error e is unchanged. The entity need not be alive,
// see World.Alive.
func (e *Entity) UnmarshalText(text []byte) error {
	f, err := parseEntity(string(text))
	if err != nil {
		return fmt.Errorf("ecs: Entity.UnmarshalText: %.40q: %w", text, err)
	}
	*e = f
	return nil
}

// MarshalBinary returns the 8 bytes of the binary form. It returns an error if e is a placeholder,
// as MarshalText does.
func (e Entity) MarshalBinary() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("ecs: Entity.MarshalBinary: %w", err)
	}
	return binary.LittleEndian.AppendUint64(nil, entity.ID(e).Bits()), nil
}

// UnmarshalBinary sets e to the entity that 8 bytes identify. On error e is unchanged.
func (e *Entity) UnmarshalBinary(data []byte) error {
	if len(data) != 8 {
		return fmt.Errorf("ecs: Entity.UnmarshalBinary: %d bytes, want 8", len(data))
	}
	v := binary.LittleEndian.Uint64(data)
	f := Entity(entity.FromBits(v))
	if err := f.check(); err != nil {
		return fmt.Errorf("ecs: Entity.UnmarshalBinary: %#016x: %w", v, err)
	}
	*e = f
	return nil
}

// check returns an error unless e is Null or an entity that a world can have created.
func (e Entity) check() error {
	switch {
	case e == Null:
		return nil
	case e.IsPlaceholder():
		return errors.New("a placeholder of a command buffer, which is good in that buffer only")
	case e.index() == 0:
		return errors.New("index 0 is that of null; entities have 1..134217727")
	case e.Version()&1 == 0:
		return fmt.Errorf("version %d is even; an entity has an odd one", e.Version())
	}
	return nil
}

// parseEntity parses the text form.
func parseEntity(text string) (Entity, error) {
	if text == "null" {
		return Null, nil
	}
	left, tag, ok := strings.Cut(text, "@")
	index, version, ok2 := strings.Cut(left, "v")
	if !ok || !ok2 {
		return Null, errors.New("want null, or index, version and world as 12v3@5")
	}
	i, err := parseNumber("index", index, entity.MaxIDs-1)
	if err != nil {
		return Null, err
	}
	v, err := parseNumber("version", version, 1<<32-1)
	if err != nil {
		return Null, err
	}
	t, err := parseNumber("world", tag, entity.Worlds-1)
	if err != nil {
		return Null, err
	}
	e := Entity(entity.Make(i, entity.TagOf(t), v))
	if e == Null {
		return Null, errors.New("null is written null")
	}
	return e, e.check()
}

// parseNumber parses a decimal number that has only digits and no leading zeros.
func parseNumber(what, text string, most uint64) (uint32, error) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, fmt.Errorf("%s %.20q is not a number: byte %d is %q", what, text, i, text[i])
		}
	}
	if text == "" || text[0] == '0' && len(text) > 1 {
		return 0, fmt.Errorf("%s %.20q is not a number: it needs digits, and no zeros in front", what, text)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("%s %.20s is out of range: at most %d", what, text, most)
	}
	return uint32(n), nil
}

// Placeholders stand for entities that do not exist yet: a command buffer returns one for each
// entity that it will create. A placeholder has the flag P of Entity, a number in place of index
// and tag, and the buffer's number in place of the version:
//
//	bit 0                             31  32                        64
//	    +-----------------------------+--+--------------------------+
//	    | number 31                   | 1| buffer 32                |
//	    +-----------------------------+--+--------------------------+

// IsPlaceholder reports whether e is a placeholder, which a command buffer returns for an entity
// that it will create.
func (e Entity) IsPlaceholder() bool { return entity.ID(e).IsPlaceholder() }

// Location is where an entity's values are: in a row of a chunk of an archetype. A structural
// change of the world may move them, because a row that leaves is replaced by the archetype's last
// row.
type Location struct {
	Archetype *Archetype // has exactly the entity's types
	Chunk     int        // as Archetype.Chunk takes it
	Row       int        // index in the chunk
}

// Alive reports whether e is an entity of this world that was created and not destroyed.
func (w *World) Alive(e Entity) bool { return w.inner().Alive(entity.ID(e)) }

// Entity returns the living entity with the given index and version, as String prints them in a
// log. It returns false if there is none.
func (w *World) Entity(index int, version uint32) (Entity, bool) {
	made, err := w.inner().Entity(index, version)
	return Entity(made), err
}

// Owns reports whether e carries the world's tag. If so, e was created by this world, alive or not,
// or by a world with the same tag that was closed before. Any goroutine may call Owns.
func (w *World) Owns(e Entity) bool { return entity.ID(e).Is(w.core.IDs.Tag()) && e.index() != 0 }

// Locate returns the location of e's values, or false if e is not alive. It panics for an entity of
// another world. Cost: as Component.Get.
func (w *World) Locate(e Entity) (Location, bool) {
	return w.locate("World.Locate", e)
}

func (w *World) locate(op string, e Entity) (Location, bool) {
	r := w.inner().RecordOf(op, entity.ID(e))
	if r == nil {
		return Location{}, false
	}
	a, chunk, at := w.inner().RowOf(r)
	return Location{archetypeFrom(a), chunk, at.Row}, true
}

// Names of entities are for people to read. They lie in Go memory, outside chunks, in
// ecs/internal/name; a snapshot has the names of its moment. World.Hash does not include names.

// SetName names an entity for people to read, replacing its previous name; "" removes the name.
// Names may be any text of any length and need not be unique. A name ends with its entity. SetName
// returns false and does nothing if e is not alive, and panics for an entity of another world. It
// is not a structural change. Cost: 130 B of Go memory per name of 24 B; the first changes after a
// snapshot copy a few KB each. Worlds without names pay nothing.
func (w *World) SetName(e Entity, text string) bool { return w.inner().SetName(entity.ID(e), text) }

// Name returns the name that SetName gave e, or "" if e has none or is not alive.
func (w *World) Name(e Entity) string { return w.inner().Name(entity.ID(e)) }

// Named returns the entity with the given name; if several have it, the one that was named last. No
// entity is named "". Cost: one map look-up.
func (w *World) Named(text string) (Entity, bool) {
	if w.core.Closed {
		w.inner().Refuse("World.Named")
	}
	e, ok := w.core.Names.Named(text)
	return Entity(e), ok
}
