package ecs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"quarry/ecs/internal/table"
	"quarry/internal/seam/under"
)

// Descriptions of images, by the described sections alone: no type need be registered, and no row
// is read. What is described is checked as far as its numbers name something of the file; the rest
// is checked when a world is made of it.

// describeImage describes what the described sections of a file say. Only Meta and Size of the file
// are used. The error wraps ErrImage.
func describeImage(f *under.ImageFile) (*under.ImageInfo, error) {
	l := &imageLoader{f: f}
	if err := l.read(); err != nil {
		return nil, err
	}
	im := &l.im
	info := &under.ImageInfo{Alive: int(im.created - im.destroyed), Records: im.ids.Records, Free: im.ids.Free(),
		Blocks: im.blocks, BlockBytes: im.blockBytes, Version: im.version}
	for i := range im.types {
		info.Types = append(info.Types, im.types[i].describe())
	}
	for _, describe := range [...]struct {
		section int
		add     func(*under.ImageInfo) error
	}{
		{under.ImageTables, im.describeArchetypes},
		{under.ImageSparse, func(info *under.ImageInfo) error { return im.describeSets(info, f.Size[under.ImageEntries]) }},
		{under.ImageManaged, im.describeManaged},
	} {
		if err := describe.add(info); err != nil {
			return nil, refuseSection(describe.section, err)
		}
	}
	for i := range im.names {
		info.Names += len(im.names[i].ids)
	}
	return info, nil
}

// describe describes a type.
func (t *imageType) describe() under.ImageType {
	name := strings.TrimPrefix(t.name, ".") // as of string, which has no package
	to := under.ImageType{Name: name, Kind: uint8(t.kind), Size: max(t.size, t.chunk), Inline: t.inline, MaxRows: t.maxRows,
		Enableable: t.enableable, Cleanup: t.cleanup, TrackRows: t.tracked, Coded: t.coded}
	for _, f := range t.fields {
		to.Fields = append(to.Fields, under.ImageField{Name: f.name, Kind: reflect.Kind(f.kind), Offset: f.offset, Size: f.size, Type: f.typeName()})
	}
	return to
}

// describeArchetypes describes the archetypes.
func (im *worldImage) describeArchetypes(info *under.ImageInfo) error {
	claims, rows := table.NewClaims(im.chunks), 0
	texts := make([]string, len(im.values)) // once each, for archetypes share values
	for i := range im.archetypes {
		a := &im.archetypes[i]
		bytes, err := a.table.Claim(im.chunks, claims)
		if err != nil {
			return fmt.Errorf("archetype %d: %w", i, err)
		}
		to := under.ImageArchetype{Types: a.table.Types, Rows: a.table.Rows, Chunks: len(a.table.Chunks), Bytes: bytes}
		for _, of := range a.table.Types {
			if of >= len(im.types) {
				return fmt.Errorf("archetype %d has type %d of %d", i, of, len(im.types))
			}
		}
		for _, v := range a.values {
			if v >= len(im.values) || im.values[v].of >= len(im.types) {
				return fmt.Errorf("archetype %d has value %d of %d, or that is of no type", i, v, len(im.values))
			}
			value := &im.values[v]
			if texts[v] == "" {
				texts[v] = im.types[value.of].textOf(value.bytes)
			}
			to.Shared = append(to.Shared, under.ImageValue{Type: value.of, Text: texts[v], Bytes: value.bytes})
		}
		rows += a.table.Rows
		info.Archetypes = append(info.Archetypes, to)
	}
	if rows != info.Alive || rows > info.Records {
		return fmt.Errorf("%d rows, of %d entities with %d ids", rows, info.Alive, info.Records)
	}
	return nil
}

// describeSets describes the sparse types, whose entries have so many bytes.
func (im *worldImage) describeSets(info *under.ImageInfo, bytes int) error {
	for i := range im.sets {
		s := &im.sets[i]
		if s.of >= len(im.types) {
			return fmt.Errorf("type %d of %d has a set", s.of, len(im.types))
		}
		if s.set.Len > info.Alive || !s.set.Fits(bytes) {
			return fmt.Errorf("%s has %d entries, of %d entities, in %d bytes", im.types[s.of].name, s.set.Len, info.Alive, bytes)
		}
		info.Sets = append(info.Sets, under.ImageSet{Type: s.of, Entries: s.set.Len, Bytes: s.set.IDBytes() + s.set.ValueBytes()})
	}
	return nil
}

// describeManaged describes the managed types that have values.
func (im *worldImage) describeManaged(info *under.ImageInfo) error {
	for i := range im.managed {
		m := &im.managed[i]
		if m.of >= len(im.types) || m.n > info.Alive || m.n > len(m.coded) {
			return fmt.Errorf("type %d of %d has %d values in %d bytes, of %d entities", m.of, len(im.types), m.n, len(m.coded), info.Alive)
		}
		info.Managed = append(info.Managed, under.ImageManagedType{Type: m.of, Values: m.n, Bytes: len(m.coded)})
	}
	return nil
}

var errNoText = errors.New("it is no number and no text")

// textOf returns a shared value of a type as text: numbers and texts as Go writes them, and what is
// neither as bytes, as are those that a codec wrote.
func (t *imageType) textOf(from []byte) string {
	if t.coded {
		return fmt.Sprintf("{% x}", from)
	}
	var parts []string
	for _, f := range t.fields {
		part, rest, err := f.textOf(from)
		if err != nil {
			parts = append(parts, fmt.Sprintf("% x", from))
			from = nil
			break
		}
		if f.name != "" {
			part = f.name + ":" + part
		}
		parts, from = append(parts, part), rest
	}
	if len(from) > 0 {
		parts = append(parts, fmt.Sprintf("% x", from))
	}
	text := strings.Join(parts, " ")
	if len(t.fields) == 1 && t.fields[0].name == "" {
		return text
	}
	return "{" + text + "}"
}

// textOf returns the value of a field, of which from has the bytes as appendShared has written
// them, and what follows.
func (f *imageField) textOf(from []byte) (text string, rest []byte, err error) {
	kind := reflect.Kind(f.kind)
	if kind == reflect.String {
		length, n := binary.Uvarint(from)
		if n <= 0 || length > uint64(len(from)-n) {
			return "", nil, errDeltaCut
		}
		return strconv.Quote(string(from[n : n+int(length)])), from[n+int(length):], nil
	}
	if f.size > len(from) || f.size > 8 || f.size == 0 { // a field takes bytes, so there are no more than those
		return "", nil, errNoText
	}
	var word [8]byte
	copy(word[:], from[:f.size])
	bits, rest := binary.LittleEndian.Uint64(word[:]), from[f.size:]
	switch {
	case kind == reflect.Bool:
		return strconv.FormatBool(bits != 0), rest, nil
	case kind >= reflect.Int && kind <= reflect.Int64 && f.size > 0:
		unused := 64 - 8*f.size
		return strconv.FormatInt(int64(bits<<unused)>>unused, 10), rest, nil
	case kind >= reflect.Uint && kind <= reflect.Uintptr:
		return strconv.FormatUint(bits, 10), rest, nil
	case kind == reflect.Float32:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', -1, 32), rest, nil
	case kind == reflect.Float64:
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64), rest, nil
	}
	return "", nil, errNoText
}
