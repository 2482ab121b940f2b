package ecs

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Layouts of a type in a file and in the program. A field moves by its name:
//
//	file                      program
//	 0  X      float32    ->   0  X      float64     widens
//	 4  Y      float32    ->   8  Y      float64     widens
//	 8  Hits   int32           -                     is removed
//	12  Owner  Entity     ->  16  Owner  Entity      moves
//	                          24  Mana   uint16      is new: zero
//
// Integers widen with their sign, and float32 to float64. Anything else is refused: what would lose
// part of a value, and kinds that change.

// fieldMove moves a field of values.
type fieldMove struct {
	op       moveOp
	from, to int // offsets, in bytes
	size     int // bytes in the file
	wide     int // bytes in the program
}

// moveOp is what a move does.
type moveOp uint8

const (
	moveBytes moveOp = iota
	moveSigned
	moveUnsigned
	moveFloat // from float32 to float64
)

// fieldChange is what becomes of one field, for people.
type fieldChange struct {
	from, to *imageField // nil: it is new, or removed
}

// signed, unsigned and float report whether a field is a number of the kind.
func (f *imageField) signed() bool {
	return reflect.Kind(f.kind) >= reflect.Int && reflect.Kind(f.kind) <= reflect.Int64
}

func (f *imageField) unsigned() bool {
	return reflect.Kind(f.kind) >= reflect.Uint && reflect.Kind(f.kind) <= reflect.Uintptr
}

func (f *imageField) float() bool {
	return reflect.Kind(f.kind) == reflect.Float32 || reflect.Kind(f.kind) == reflect.Float64
}

// typeName returns the type of a field as Go writes it.
func (f *imageField) typeName() string { return cmp.Or(f.of, reflect.Kind(f.kind).String()) }

// String returns name and type.
func (f *imageField) String() string { return strings.TrimSpace(f.name + " " + f.typeName()) }

// isBlank reports whether nobody can name the field.
func (f *imageField) isBlank() bool { return f.name == "_" || strings.HasSuffix(f.name, "._") }

// moveTo returns the move of a field to one of the program. The error says why there is none.
func (f *imageField) moveTo(g *imageField) (fieldMove, error) {
	m := fieldMove{from: f.offset, to: g.offset, size: f.size, wide: g.size}
	switch {
	case f.signed() && g.signed(), f.unsigned() && g.unsigned(), f.float() && g.float():
		if g.size < f.size {
			return m, fmt.Errorf("%v would lose bits as %v", f, g)
		}
		if g.size == f.size {
			return m, nil
		}
		if f.size&(f.size-1) != 0 || f.size == 0 || f.float() && f.size != 4 {
			return m, fmt.Errorf("%v has %d B", f, f.size)
		}
		switch {
		case f.signed():
			m.op = moveSigned
		case f.unsigned():
			m.op = moveUnsigned
		default:
			m.op = moveFloat
		}
		return m, nil
	case f.kind == g.kind && f.size == g.size && f.of == g.of:
		return m, nil
	}
	return m, fmt.Errorf("%v has become %v", f, g)
}

// moves returns how the fields of a type of a file become those of the program's, and what becomes
// of each field. renamed returns the name of a field in the program, or why there is none. same
// reports that all bytes lie where they did.
func (t *imageType) moves(now *imageType, renamed func(string) (string, error)) (moves []fieldMove, changes []fieldChange, same bool, err error) {
	taken := map[string]bool{}
	here := map[string]*imageField{}
	for i := range now.fields {
		here[now.fields[i].name] = &now.fields[i]
	}
	same = t.whole == now.whole
	for i := range t.fields {
		f := &t.fields[i]
		if f.isBlank() {
			changes = append(changes, fieldChange{from: f}) // a shared value has its bytes
			continue
		}
		name, err := renamed(f.name)
		if err != nil {
			return nil, nil, false, err
		}
		g := here[name]
		if g == nil {
			changes, same = append(changes, fieldChange{from: f}), false
			continue
		}
		if taken[name] {
			return nil, nil, false, fmt.Errorf("two fields become %v", g)
		}
		taken[name] = true
		m, err := f.moveTo(g)
		if err != nil {
			return nil, nil, false, err
		}
		if m.op != moveBytes || m.from != m.to {
			same = false
		}
		if f.offset+f.size > t.whole || f.size < 0 {
			return nil, nil, false, fmt.Errorf("%v ends behind its %d B", f, t.whole)
		}
		moves, changes = append(moves, m), append(changes, fieldChange{f, g})
	}
	for i := range now.fields {
		if g := &now.fields[i]; !taken[g.name] && !g.isBlank() {
			changes, same = append(changes, fieldChange{to: g}), false
		}
	}
	if len(moves) == 0 && len(t.fields) > 0 && len(now.fields) > 0 && !same {
		return nil, nil, false, errors.New("no field is left")
	}
	return moves, changes, same, nil
}

// notesOf says what becomes of the fields.
func notesOf(changes []fieldChange) (notes []string) {
	for _, c := range changes {
		switch {
		case c.from == nil:
			notes = append(notes, fmt.Sprintf("%v is new, and zero", c.to))
		case c.to == nil && c.from.isBlank():
		case c.to == nil:
			notes = append(notes, fmt.Sprintf("%v is lost", c.from))
		case c.from.typeName() != c.to.typeName() || c.from.name != c.to.name:
			notes = append(notes, fmt.Sprintf("%v becomes %v", c.from, c.to))
		}
	}
	return notes
}

// optionNotes says which options have changed.
func (t *imageType) optionNotes(now *imageType) (notes []string) {
	for _, o := range [...]struct {
		had, has    bool
		gains, lost string
	}{
		{t.enableable, now.enableable, "is enabled in all rows", "can no longer be disabled: its bits are lost"},
		{t.tracked, now.tracked, "rows have versions from now on", "versions of rows are lost"},
		{t.cleanup, now.cleanup, "entities that have it outlive World.Destroy", "entities that have it no longer outlive World.Destroy"},
	} {
		if o.has && !o.had {
			notes = append(notes, o.gains)
		} else if o.had && !o.has {
			notes = append(notes, o.lost)
		}
	}
	if t.inline != now.inline {
		notes = append(notes, fmt.Sprintf("%d elements lie in a row, not %d", now.inline, t.inline))
	}
	if t.maxRows != now.maxRows {
		notes = append(notes, fmt.Sprintf("chunks have %d rows at most, not %d (0: no limit)", now.maxRows, t.maxRows))
	}
	return notes
}

// layoutLines returns the lines of a layout.
func (t *imageType) layoutLines() []string {
	head := fmt.Sprintf("%d B", t.whole)
	for _, o := range [...]struct {
		has  bool
		text string
	}{
		{t.kind == KindBuffer, fmt.Sprintf("inline %d", t.inline)}, {t.enableable, "enableable"}, {t.cleanup, "cleanup"},
		{t.tracked, "tracks rows"}, {t.maxRows > 0, fmt.Sprintf("max rows %d", t.maxRows)},
	} {
		if o.has {
			head += ", " + o.text
		}
	}
	lines := []string{head}
	for i := range t.fields {
		lines = append(lines, fmt.Sprintf("%3d %v", t.fields[i].offset, &t.fields[i]))
	}
	return lines
}

// sideBySide returns the layouts of a type in a file and in the program, line by line.
func sideBySide(then, now *imageType) string {
	a, b := slices.Insert(then.layoutLines(), 0, "in the file"), slices.Insert(now.layoutLines(), 0, "in the program")
	wide := 0
	for _, line := range a {
		wide = max(wide, len(line))
	}
	var text strings.Builder
	for i := range max(len(a), len(b)) {
		left, right := "", ""
		if i < len(a) {
			left = a[i]
		}
		if i < len(b) {
			right = b[i]
		}
		text.WriteString("\n" + strings.TrimRight(fmt.Sprintf("\t%-*s   %s", wide, left, right), " "))
	}
	return text.String()
}
