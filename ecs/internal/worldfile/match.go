package worldfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
	"quarry/layout"
)

// What becomes of the types of a file. Each is found in the program by package, name and kind, or
// by the name that a rule gives it, and has one fate:
//
//	same        name, layout and options are those of then: rows map as they are
//	converted   values are copied into the layout of the program
//	dropped     a rule says so: entities lose it
//	kept        a rule says so: nobody registered it, and it stays as it is
//	refused     with both layouts, or by name
//
// A type whose fields have other names, at the same places, is the same.

// imageMatch is what becomes of a type of a file.
type imageMatch struct {
	im      *ImageType
	now     ImageType   // the program's description of it, if t is set
	t       *world.Type // of the world; nil: it is dropped, refused, or nobody needs it
	fate    Fate
	err     error // of a type that is refused
	asIs    bool  // rows that lie in the file may be used
	alike   bool  // values have the same bytes
	moves   []fieldMove
	changes []fieldChange
	by      *Conversion // makes the values, instead of moves
	rules   *renaming   // of its name
}

// matcher finds the types.
type matcher struct {
	w     *world.World
	rules *Rules
	file  []ImageType
	names []renaming           // of the types of the file
	all   []world.Description  // of the world
	taken map[*world.Type]bool // by a type of the file
	used  map[int]bool         // types of the file that something has
}

// matchImage returns what becomes of each type.
func matchImage(w *world.World, im *WorldImage, rules *Rules) []imageMatch {
	if rules == nil {
		rules = &Rules{}
	}
	m := &matcher{
		w: w, rules: rules, file: im.Types, all: w.DescribeTypes(), taken: map[*world.Type]bool{}, used: im.usedTypes(),
	}
	m.renameTypes()
	list := make([]imageMatch, len(im.Types))
	for i := range list {
		list[i].im, list[i].rules = &im.Types[i], &m.names[i]
	}
	for i := range list { // exact ones first: the others choose among what is left
		m.matchExactly(&list[i], i < int(world.BuiltIn))
	}
	for i := range list {
		x := &list[i]
		if x.t == nil && x.fate == Same {
			m.match(x, m.used[i])
		}
	}
	m.refuseUncoded(list, im)
	m.refuseLosses(list)
	for i := range list {
		if x := &list[i]; x.fate == Refused && !m.used[i] {
			x.fate = Unused
		}
	}
	return list
}

// refuseUncoded refuses the types that have values which a codec wrote, in a program that has none.
func (m *matcher) refuseUncoded(list []imageMatch, im *WorldImage) {
	check := func(of int) {
		if of >= len(list) {
			return // which is refused later
		}
		if x := &list[of]; x.t != nil && x.im.Coded && x.t.Codec == nil {
			x.refuse(fmt.Errorf("values of %s are in the file: %w", x.t.Name, world.ErrNoCodec))
		}
	}
	for i := range im.Managed {
		check(im.Managed[i].of)
	}
	for i := range im.Values {
		check(im.Values[i].Of)
	}
}

// matchExactly finds a type that is as it was.
func (m *matcher) matchExactly(x *imageMatch, builtIn bool) {
	d := &x.im.Description
	if !builtIn {
		if err := exchanged(m.names, x.rules, sameName); err != nil {
			x.refuse(fmt.Errorf("the %v type %s: %w", d.Kind, d.Name, err))
			return
		}
		if slices.ContainsFunc(m.rules.Drop, func(name string) bool { return sameName(x.rules.last(), name) }) {
			x.drop()
			return
		}
		if x.rules.renamed() || m.converts(x) {
			return
		}
	}
	t, err := d.Find(m.all)
	if err != nil {
		return
	}
	now := describeImageType(t, *d)
	if err := m.fieldNames(x, &now).check(); err != nil {
		x.refuse(fmt.Errorf("the %v type %s: %w", d.Kind, d.Name, err))
		return
	}
	if x.im.sameOptions(&now) && x.im.check() == nil {
		x.t, x.now, x.fate, x.asIs, x.alike = t, now, Same, true, true
		m.taken[t] = true
	}
}

// match finds a type that has changed.
func (m *matcher) match(x *imageMatch, used bool) {
	d := &x.im.Description
	name := x.rules.last()
	var likes []world.Description
	var other *world.Description // of another kind, or which another type of the file is
	for i, c := range m.all {
		switch {
		case c.Name != name && !(x.rules.renamed() && calls(&c, name)):
		case c.Kind == d.Kind && !m.taken[c.T]:
			likes = append(likes, c)
		default:
			other = &m.all[i]
		}
	}
	switch {
	case len(likes) == 1:
		m.compare(x, &likes[0])
	case len(likes) > 1:
		x.refuse(fmt.Errorf("the %v type %s may be one of %d in this program: a rename must say which",
			d.Kind, d.Name, len(likes)))
	case m.rules.KeepUnknown && !x.rules.renamed(), x.rules.isCalled(m.rules.Keep...):
		x.fate = Kept
		if err := m.keep(x); err != nil {
			x.refuse(fmt.Errorf("the %v type %s cannot be kept: %w", d.Kind, d.Name, err))
		}
	case m.rules.DropUnknown && !x.rules.renamed():
		x.drop()
	case !used:
		x.fate = Unused
	case other != nil && other.Kind != d.Kind:
		now := describeImageType(other.T, *other)
		x.refuse(fmt.Errorf("the %v type %s is a %v type in this program, and rules convert none of another kind%s",
			d.Kind, d.Name, other.Kind, sideBySide(x.im, &now)))
	case other != nil:
		x.refuse(fmt.Errorf("the %v type %s is %s in this program, and so is another type of the file",
			d.Kind, d.Name, name))
	case x.rules.renamed():
		x.refuse(
			fmt.Errorf("the %v type %s is %s in this program, by a rule, which is not registered; rules apply in their order, and Drop and Keep take that name",
				d.Kind, d.Name, name))
	default:
		x.refuse(fmt.Errorf("the %v type %s is not registered", d.Kind, d.Name))
	}
}

// drop gives a match the fate of one that entities lose.
func (x *imageMatch) drop() {
	if x.fate = Dropped; x.im.check() != nil { // its headers are looked at
		x.refuse(x.im.check())
	}
}

// refuse gives a match the fate of one that is refused.
func (x *imageMatch) refuse(err error) {
	x.t, x.fate, x.err = nil, Refused, fmt.Errorf("%w: %w", ErrImageTypes, err)
}

// compare settles how values of the file become those of a type of the world.
func (m *matcher) compare(x *imageMatch, to *world.Description) {
	d := &x.im.Description
	x.t, x.now = to.T, describeImageType(to.T, *to)
	m.taken[to.T] = true
	if err := m.settle(x, to); err != nil {
		x.refuse(fmt.Errorf("the %v type %s has changed, and no rule converts it: %w%s",
			d.Kind, d.Name, err, sideBySide(x.im, &x.now)))
		return
	}
	x.asIs = x.alike && x.im.sameRows(&x.now)
	if x.fate = Converted; x.asIs && d.Name == to.Name && x.im.Cleanup == x.now.Cleanup {
		x.fate = Same
	}
}

// settle is compare without its notes. The error is the reason why values cannot be converted.
func (m *matcher) settle(x *imageMatch, to *world.Description) error {
	d := &x.im.Description
	if to.T.ID < world.BuiltIn {
		return errors.New("it is built in")
	}
	if err := x.im.check(); err != nil {
		return err
	}
	if x.im.Coded && x.now.Coded { // it reads what it wrote, whatever the fields are
		if slices.ContainsFunc(m.rules.Conversions, func(c Conversion) bool { return x.rules.isCalled(c.Name) }) {
			return errors.New("a codec wrote its values: a conversion function gets none of them")
		}
		x.alike = true
		return nil
	}
	by, wrong := m.conversionFor(x)
	if x.by = by; by != nil {
		return wrong
	}
	err := wrong
	if errors.As(wrong, new(*otherOldError)) { // which fields do without
		err = nil
	}
	if err == nil && d.Kind == world.KindManaged && d.Layout != to.Layout {
		err = errors.New("values of managed types are not converted")
	}
	if err == nil {
		x.moves, x.changes, x.alike, err = x.im.Moves(&x.now, m.fieldNames(x, &x.now).inProgram)
	}
	if err == nil && d.Kind == world.KindShared {
		err = keepsArrays(x.changes)
	}
	if err != nil && wrong != nil && !errors.Is(err, wrong) {
		err = fmt.Errorf("%w; %w", err, wrong)
	}
	return err
}

// keepsArrays returns an error if an array of a shared value is lost: a file does not record how
// many bytes it has there.
func keepsArrays(changes []fieldChange) error {
	for _, c := range changes {
		if c.to == nil && reflect.Kind(c.from.Kind) == reflect.Array {
			return fmt.Errorf("%v is lost: only a conversion function can pass an array of a shared value", c.from)
		}
	}
	return nil
}

// check returns what is wrong with the sizes and options of a type.
func (t *ImageType) check() error {
	rows := t.Tracked || t.MaxRows > 0 // which its kind must allow, as for Register
	switch {
	case t.Kind == world.KindShared && (t.Enableable || rows), t.Kind == world.KindSparse && (t.Cleanup || rows),
		t.Kind == world.KindChunk && (t.Enableable || t.Cleanup || rows):
		return fmt.Errorf("a %v type has options of others", t.Kind)
	case t.Kind == world.KindManaged && t.Size != int(unsafe.Sizeof(value.Slot(0))), t.Size > layout.MaxChunkSize,
		t.Kind == world.KindComponent && t.Size != t.Whole,
		t.Kind == world.KindBuffer &&
			(t.Whole == 0 || t.Inline > t.Size/t.Whole || value.HeaderSize+t.Inline*t.Whole > t.Size),
		t.Kind == world.KindChunk && t.Chunk != t.Whole, t.Kind == world.KindSparse && t.Size != t.Whole,
		t.Whole > layout.MaxChunkSize && t.Kind != world.KindShared && t.Kind != world.KindManaged:
		return fmt.Errorf("a row has %d B of it, a chunk %d, for %d", t.Size, t.Chunk, t.Whole)
	}
	return nil
}

// otherOldError is the error of a conversion function that takes a type of another layout than the
// file's: it is for another version.
type otherOldError struct{ old reflect.Type }

func (e *otherOldError) Error() string {
	return fmt.Sprintf("the conversion takes a %v, which has another layout", e.old)
}

// isOf reports whether values of a type of the file have the layout of the old type.
func (t *ImageType) isOf(old reflect.Type) bool {
	o := ImageType{Whole: int(old.Size())}
	o.AddFields("", old, 0)
	return o.Whole == t.Whole && slices.Equal(o.Fields, t.Fields)
}

// converts reports whether there is a conversion function for a type and its layout.
func (m *matcher) converts(x *imageMatch) bool {
	return slices.ContainsFunc(m.rules.Conversions, func(c Conversion) bool {
		return x.rules.isCalled(c.Name) && x.im.isOf(c.Old)
	})
}

// conversionFor returns the conversion function for a type, or nil if there is none. The error is
// the reason why a function that names the type does not fit.
func (m *matcher) conversionFor(x *imageMatch) (by *Conversion, wrong error) {
	for i := range m.rules.Conversions {
		c := &m.rules.Conversions[i]
		switch {
		case !x.rules.isCalled(c.Name):
		case !x.im.isOf(c.Old):
			if wrong == nil {
				wrong = &otherOldError{c.Old}
			}
		case c.New != x.t.Go:
			wrong = fmt.Errorf("the conversion makes a %v, and the program has a %v", c.New, x.t.Go)
		default:
			if err := layout.PointerFree(c.Old); x.t.Kind != world.KindShared && err != nil {
				return nil, err
			}
			return c, nil
		}
	}
	return nil, wrong
}

// sameRows reports whether rows have the same of two types, but for the bytes of values.
func (t *ImageType) sameRows(now *ImageType) bool {
	return t.Size == now.Size && (t.Kind != world.KindBuffer || t.Whole == now.Whole) && t.Inline == now.Inline &&
		t.MaxRows == now.MaxRows && t.Chunk == now.Chunk &&
		t.Enableable == now.Enableable && t.Tracked == now.Tracked
}

// sameOptions reports whether two types have the same options.
func (t *ImageType) sameOptions(now *ImageType) bool {
	return t.sameRows(now) && t.Cleanup == now.Cleanup
}

// usedTypes returns the numbers of the types that archetypes or entries have.
func (im *WorldImage) usedTypes() map[int]bool {
	used := map[int]bool{}
	for i := range im.Archetypes {
		for _, of := range im.Archetypes[i].TableImage.Types {
			used[of] = true
		}
	}
	for i := range im.Values {
		used[im.Values[i].Of] = true
	}
	for i := range im.Sets {
		if s := &im.Sets[i]; s.Set.Len > 0 {
			used[s.of] = true
		}
	}
	return used
}

// matchTypes finds the types of the file in the world. Types that no archetype and no entry has may
// be missing.
func (l *imageLoader) matchTypes() error {
	l.matches = matchImage(l.w, &l.im, l.f.Rules)
	for i := range l.matches {
		x := &l.matches[i]
		if x.fate == Refused {
			return x.err
		}
		if x.t != nil && (i < int(world.BuiltIn) != (x.t.ID < world.BuiltIn) || slices.Contains(l.types, x.t)) {
			return refuseSection(ImageTypes, fmt.Errorf("%s is type %d of the file and another", x.im.Name, i))
		}
		l.types = append(l.types, x.t)
	}
	return nil
}

// compareTypes reports whether an image of the world would not describe the types of the file as it
// does, and whether it would have more of them.
func (l *imageLoader) compareTypes() (changed, added bool) {
	known := map[*world.Type]bool{}
	for i := range l.matches {
		x := &l.matches[i]
		known[x.t] = true
		changed = changed || x.fate == Converted || x.fate == Dropped || x.fate == Unused ||
			x.fate == Same && (!slices.Equal(x.im.Fields, x.now.Fields) || x.im.Coded != x.now.Coded)
	}
	return changed, slices.ContainsFunc(l.w.Types.List, func(t *world.Type) bool { return !known[t] })
}
