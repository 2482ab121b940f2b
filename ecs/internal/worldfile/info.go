package worldfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Descriptions of images, by the described sections alone: no type need be registered, and no row
// is read. What is described is checked as far as its numbers name something of the file; the rest
// is checked when a world is made of it.

// DescribeImage returns the content of the described sections of a file. Only Meta and Size of the
// file are used. The error wraps ErrImage.
func DescribeImage(f *File) (*Info, error) {
	l := &imageLoader{f: f}
	if err := l.read(); err != nil {
		return nil, err
	}
	im := &l.im
	info := &Info{Alive: int(im.Created - im.Destroyed), Records: im.ids.Records, Free: im.ids.Free(),
		Blocks: im.blocks, BlockBytes: im.blockBytes, Version: im.Version}
	for i := range im.Types {
		info.Types = append(info.Types, im.Types[i].describe())
	}
	for _, describe := range [...]struct {
		section int
		add     func(*Info) error
	}{
		{ImageTables, im.describeArchetypes},
		{ImageSparse, func(info *Info) error { return im.describeSets(info, f.Size[ImageEntries]) }},
		{ImageManaged, im.describeManaged},
	} {
		if err := describe.add(info); err != nil {
			return nil, refuseSection(describe.section, err)
		}
	}
	for i := range im.Names {
		info.Names += len(im.Names[i].ids)
	}
	return info, nil
}

// describe describes a type.
func (t *ImageType) describe() InfoType {
	name := strings.TrimPrefix(t.Name, ".") // as of string, which has no package
	to := InfoType{Name: name, Kind: uint8(t.Kind), Size: max(t.Size, t.Chunk), Inline: t.Inline, MaxRows: t.MaxRows,
		Enableable: t.Enableable, Cleanup: t.Cleanup, TrackRows: t.Tracked, Coded: t.Coded}
	for _, f := range t.Fields {
		to.Fields = append(to.Fields, InfoField{
			Name: f.Name, Kind: reflect.Kind(f.Kind), Offset: f.Offset, Size: f.Size, Type: f.typeName(),
		})
	}
	return to
}

// describeArchetypes describes the archetypes.
func (im *WorldImage) describeArchetypes(info *Info) error {
	claims, rows := table.NewClaims(im.chunks), 0
	texts := make([]string, len(im.Values)) // once each, for archetypes share values
	for i := range im.Archetypes {
		a := &im.Archetypes[i]
		bytes, err := a.TableImage.Claim(im.chunks, claims)
		if err != nil {
			return fmt.Errorf("archetype %d: %w", i, err)
		}
		to := InfoArchetype{Types: a.TableImage.Types, Rows: a.TableImage.Rows, Chunks: len(a.TableImage.Chunks),
			Bytes: bytes}
		for _, of := range a.TableImage.Types {
			if of >= len(im.Types) {
				return fmt.Errorf("archetype %d has type %d of %d", i, of, len(im.Types))
			}
		}
		for _, v := range a.Values {
			if v >= len(im.Values) || im.Values[v].Of >= len(im.Types) {
				return fmt.Errorf("archetype %d has value %d of %d, or that is of no type", i, v, len(im.Values))
			}
			value := &im.Values[v]
			if texts[v] == "" {
				texts[v] = im.Types[value.Of].textOf(value.Bytes)
			}
			to.Shared = append(to.Shared, InfoValue{Type: value.Of, Text: texts[v], Bytes: value.Bytes})
		}
		rows += a.TableImage.Rows
		info.Archetypes = append(info.Archetypes, to)
	}
	if rows != info.Alive || rows > info.Records {
		return fmt.Errorf("%d rows, of %d entities with %d ids", rows, info.Alive, info.Records)
	}
	return nil
}

// describeSets describes the sparse types, whose entries have so many bytes.
func (im *WorldImage) describeSets(info *Info, bytes int) error {
	for i := range im.Sets {
		s := &im.Sets[i]
		if s.of >= len(im.Types) {
			return fmt.Errorf("type %d of %d has a set", s.of, len(im.Types))
		}
		if s.Set.Len > info.Alive || !s.Set.Fits(bytes) {
			return fmt.Errorf("%s has %d entries, of %d entities, in %d bytes",
				im.Types[s.of].Name, s.Set.Len, info.Alive, bytes)
		}
		info.Sets = append(info.Sets, InfoSet{
			Type: s.of, Entries: s.Set.Len, Bytes: s.Set.IDBytes() + s.Set.ValueBytes(),
		})
	}
	return nil
}

// describeManaged describes the managed types that have values.
func (im *WorldImage) describeManaged(info *Info) error {
	for i := range im.Managed {
		m := &im.Managed[i]
		if m.of >= len(im.Types) || m.N > info.Alive || m.N > len(m.coded) {
			return fmt.Errorf("type %d of %d has %d values in %d bytes, of %d entities",
				m.of, len(im.Types), m.N, len(m.coded), info.Alive)
		}
		info.Managed = append(info.Managed, InfoManaged{Type: m.of, Values: m.N, Bytes: len(m.coded)})
	}
	return nil
}

var errNoText = errors.New("it is no number and no text")

// textOf returns a shared value of a type as text: numbers and texts as Go writes them, and what is
// neither as bytes, as are those that a codec wrote.
func (t *ImageType) textOf(from []byte) string {
	if t.Coded {
		return fmt.Sprintf("{% x}", from)
	}
	var parts []string
	for _, f := range t.Fields {
		part, rest, err := f.textOf(from)
		if err != nil {
			parts = append(parts, fmt.Sprintf("% x", from))
			from = nil
			break
		}
		if f.Name != "" {
			part = f.Name + ":" + part
		}
		parts, from = append(parts, part), rest
	}
	if len(from) > 0 {
		parts = append(parts, fmt.Sprintf("% x", from))
	}
	text := strings.Join(parts, " ")
	if len(t.Fields) == 1 && t.Fields[0].Name == "" {
		return text
	}
	return "{" + text + "}"
}

// textOf returns the value of a field as text, and the bytes that follow it. from begins with the
// value, as appendShared of package world wrote it.
func (f *ImageField) textOf(from []byte) (text string, rest []byte, err error) {
	kind := reflect.Kind(f.Kind)
	if kind == reflect.String {
		length, n := binary.Uvarint(from)
		if n <= 0 || length > uint64(len(from)-n) {
			return "", nil, world.ErrCut
		}
		return strconv.Quote(string(from[n : n+int(length)])), from[n+int(length):], nil
	}
	if f.Size > len(from) || f.Size > 8 || f.Size == 0 { // a field takes bytes, so there are no more than those
		return "", nil, errNoText
	}
	var word [8]byte
	copy(word[:], from[:f.Size])
	bits, rest := binary.LittleEndian.Uint64(word[:]), from[f.Size:]
	switch {
	case kind == reflect.Bool:
		return strconv.FormatBool(bits != 0), rest, nil
	case kind >= reflect.Int && kind <= reflect.Int64 && f.Size > 0:
		unused := 64 - 8*f.Size
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
