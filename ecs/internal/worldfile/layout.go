package worldfile

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"quarry/ecs/internal/world"
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
	from, to *ImageField // nil: it is new, or removed
}

// signed, unsigned and float report whether a field is a number of the kind.
func (f *ImageField) signed() bool {
	return reflect.Kind(f.Kind) >= reflect.Int && reflect.Kind(f.Kind) <= reflect.Int64
}

func (f *ImageField) unsigned() bool {
	return reflect.Kind(f.Kind) >= reflect.Uint && reflect.Kind(f.Kind) <= reflect.Uintptr
}

func (f *ImageField) float() bool {
	return reflect.Kind(f.Kind) == reflect.Float32 || reflect.Kind(f.Kind) == reflect.Float64
}

// typeName returns the type of a field as Go writes it.
func (f *ImageField) typeName() string { return cmp.Or(f.Of, reflect.Kind(f.Kind).String()) }

// String returns name and type.
func (f *ImageField) String() string { return strings.TrimSpace(f.Name + " " + f.typeName()) }

// isBlank reports whether nobody can name the field.
func (f *ImageField) isBlank() bool { return f.Name == "_" || strings.HasSuffix(f.Name, "._") }

// moveTo returns the move of a field to one of the program. The error is the reason why there is
// none.
func (f *ImageField) moveTo(g *ImageField) (fieldMove, error) {
	m := fieldMove{from: f.Offset, to: g.Offset, size: f.Size, wide: g.Size}
	switch {
	case f.signed() && g.signed(), f.unsigned() && g.unsigned(), f.float() && g.float():
		if g.Size < f.Size {
			return m, fmt.Errorf("%v would lose bits as %v", f, g)
		}
		if g.Size == f.Size {
			return m, nil
		}
		if f.Size&(f.Size-1) != 0 || f.Size == 0 || f.float() && f.Size != 4 {
			return m, fmt.Errorf("%v has %d B", f, f.Size)
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
	case f.Kind == g.Kind && f.Size == g.Size && f.Of == g.Of:
		return m, nil
	}
	return m, fmt.Errorf("%v has become %v", f, g)
}

// Moves returns how the fields of a type of a file become those of the program's, and what becomes
// of each field. renamed returns the name of a field in the program, or why there is none. same
// reports that all bytes lie where they did.
func (t *ImageType) Moves(now *ImageType,
	renamed func(string) (string, error)) (moves []fieldMove, changes []fieldChange, same bool, err error) {
	taken := map[string]bool{}
	here := map[string]*ImageField{}
	for i := range now.Fields {
		here[now.Fields[i].Name] = &now.Fields[i]
	}
	same = t.Whole == now.Whole
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.isBlank() {
			changes = append(changes, fieldChange{from: f}) // a shared value has its bytes
			continue
		}
		name, err := renamed(f.Name)
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
		if f.Offset+f.Size > t.Whole || f.Size < 0 {
			return nil, nil, false, fmt.Errorf("%v ends behind its %d B", f, t.Whole)
		}
		moves, changes = append(moves, m), append(changes, fieldChange{f, g})
	}
	for i := range now.Fields {
		if g := &now.Fields[i]; !taken[g.Name] && !g.isBlank() {
			changes, same = append(changes, fieldChange{to: g}), false
		}
	}
	if len(moves) == 0 && len(t.Fields) > 0 && len(now.Fields) > 0 && !same {
		return nil, nil, false, errors.New("no field is left")
	}
	return moves, changes, same, nil
}

// notesOf describes how the fields map.
func notesOf(changes []fieldChange) (notes []string) {
	for _, c := range changes {
		switch {
		case c.from == nil:
			notes = append(notes, fmt.Sprintf("%v is new, and zero", c.to))
		case c.to == nil && c.from.isBlank():
		case c.to == nil:
			notes = append(notes, fmt.Sprintf("%v is lost", c.from))
		case c.from.typeName() != c.to.typeName() || c.from.Name != c.to.Name:
			notes = append(notes, fmt.Sprintf("%v becomes %v", c.from, c.to))
		}
	}
	return notes
}

// optionNotes describes the options that have changed.
func (t *ImageType) optionNotes(now *ImageType) (notes []string) {
	for _, o := range [...]struct {
		had, has    bool
		gains, lost string
	}{
		{t.Enableable, now.Enableable, "is enabled in all rows", "can no longer be disabled: its bits are lost"},
		{t.Tracked, now.Tracked, "rows have versions from now on", "versions of rows are lost"},
		{t.Cleanup, now.Cleanup, "entities that have it outlive World.Destroy",
			"entities that have it no longer outlive World.Destroy"},
	} {
		if o.has && !o.had {
			notes = append(notes, o.gains)
		} else if o.had && !o.has {
			notes = append(notes, o.lost)
		}
	}
	if t.Inline != now.Inline {
		notes = append(notes, fmt.Sprintf("%d elements lie in a row, not %d", now.Inline, t.Inline))
	}
	if t.MaxRows != now.MaxRows {
		notes = append(notes, fmt.Sprintf("chunks have %d rows at most, not %d (0: no limit)", now.MaxRows, t.MaxRows))
	}
	return notes
}

// layoutLines returns the lines of a layout.
func (t *ImageType) layoutLines() []string {
	head := fmt.Sprintf("%d B", t.Whole)
	for _, o := range [...]struct {
		has  bool
		text string
	}{
		{t.Kind == world.KindBuffer, fmt.Sprintf("inline %d", t.Inline)}, {t.Enableable, "enableable"},
		{t.Cleanup, "cleanup"},
		{t.Tracked, "tracks rows"}, {t.MaxRows > 0, fmt.Sprintf("max rows %d", t.MaxRows)},
	} {
		if o.has {
			head += ", " + o.text
		}
	}
	lines := []string{head}
	for i := range t.Fields {
		lines = append(lines, fmt.Sprintf("%3d %v", t.Fields[i].Offset, &t.Fields[i]))
	}
	return lines
}

// sideBySide returns the layouts of a type in a file and in the program, line by line.
func sideBySide(then, now *ImageType) string {
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
