package ecs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"quarry/ecs/internal/value"
	"quarry/internal/seam/under"
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
	im      *imageType
	now     imageType // what the program says of it, if t is set
	t       *typeInfo // of the world; nil: it is dropped, refused, or nobody needs it
	fate    under.ImageFate
	err     error // of a type that is refused
	mapped  bool  // rows that lie in the file may be used
	alike   bool  // values have the same bytes
	moves   []fieldMove
	changes []fieldChange
	by      *under.ImageConversion // makes the values, instead of moves
	rules   *renaming              // of its name
}

// matcher finds the types.
type matcher struct {
	w     *World
	rules *under.ImageRules
	file  []imageType
	names []renaming         // of the types of the file
	all   []deltaType        // of the world
	taken map[*typeInfo]bool // by a type of the file
	used  map[int]bool       // types of the file that something has
}

// matchImage returns what becomes of each type.
func matchImage(w *World, im *worldImage, rules *under.ImageRules) []imageMatch {
	if rules == nil {
		rules = &under.ImageRules{}
	}
	m := &matcher{w: w, rules: rules, file: im.types, all: w.describeTypes(), taken: map[*typeInfo]bool{}, used: im.usedTypes()}
	m.renameTypes()
	list := make([]imageMatch, len(im.types))
	for i := range list {
		list[i].im, list[i].rules = &im.types[i], &m.names[i]
	}
	for i := range list { // exact ones first: the others choose among what is left
		m.matchExactly(&list[i], i < int(builtIn))
	}
	for i := range list {
		x := &list[i]
		if x.t == nil && x.fate == under.ImageSame {
			m.match(x, m.used[i])
		}
	}
	m.refuseUncoded(list, im)
	m.refuseLosses(list)
	for i := range list {
		if x := &list[i]; x.fate == under.ImageRefused && !m.used[i] {
			x.fate = under.ImageUnused
		}
	}
	return list
}

// refuseUncoded refuses the types that have values which a codec wrote, in a program that has none.
func (m *matcher) refuseUncoded(list []imageMatch, im *worldImage) {
	check := func(of int) {
		if of >= len(list) {
			return // which is refused later
		}
		if x := &list[of]; x.t != nil && x.im.coded && x.t.codec == nil {
			x.refuse(fmt.Errorf("values of %s are in the file: %w", x.t.name, errNoCodec))
		}
	}
	for i := range im.managed {
		check(im.managed[i].of)
	}
	for i := range im.values {
		check(im.values[i].of)
	}
}

// matchExactly finds a type that is as it was.
func (m *matcher) matchExactly(x *imageMatch, builtIn bool) {
	d := &x.im.deltaType
	if !builtIn {
		if err := exchanged(m.names, x.rules, sameName); err != nil {
			x.refuse(fmt.Errorf("the %v type %s: %w", d.kind, d.name, err))
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
	t, err := d.find(m.all)
	if err != nil {
		return
	}
	now := describeImageType(t, *d)
	if err := m.fieldNames(x, &now).check(); err != nil {
		x.refuse(fmt.Errorf("the %v type %s: %w", d.kind, d.name, err))
		return
	}
	if x.im.sameOptions(&now) && x.im.check() == nil {
		x.t, x.now, x.fate, x.mapped, x.alike = t, now, under.ImageSame, true, true
		m.taken[t] = true
	}
}

// match finds a type that has changed.
func (m *matcher) match(x *imageMatch, used bool) {
	d := &x.im.deltaType
	name := x.rules.last()
	var likes []deltaType
	var other *deltaType // of another kind, or which another type of the file is
	for i, c := range m.all {
		switch {
		case c.name != name && !(x.rules.renamed() && c.calls(name)):
		case c.kind == d.kind && !m.taken[c.t]:
			likes = append(likes, c)
		default:
			other = &m.all[i]
		}
	}
	switch {
	case len(likes) == 1:
		m.compare(x, &likes[0])
	case len(likes) > 1:
		x.refuse(fmt.Errorf("the %v type %s may be one of %d in this program: a rename must say which", d.kind, d.name, len(likes)))
	case m.rules.KeepUnknown && !x.rules.renamed(), x.rules.isCalled(m.rules.Keep...):
		x.fate = under.ImageKept
		if err := m.keep(x); err != nil {
			x.refuse(fmt.Errorf("the %v type %s cannot be kept: %w", d.kind, d.name, err))
		}
	case m.rules.DropUnknown && !x.rules.renamed():
		x.drop()
	case !used:
		x.fate = under.ImageUnused
	case other != nil && other.kind != d.kind:
		now := describeImageType(other.t, *other)
		x.refuse(fmt.Errorf("the %v type %s is a %v type in this program, and rules convert none of another kind%s", d.kind, d.name, other.kind, sideBySide(x.im, &now)))
	case other != nil:
		x.refuse(fmt.Errorf("the %v type %s is %s in this program, and so is another type of the file", d.kind, d.name, name))
	case x.rules.renamed():
		x.refuse(fmt.Errorf("the %v type %s is %s in this program, by a rule, which is not registered; rules apply in their order, and Drop and Keep take that name", d.kind, d.name, name))
	default:
		x.refuse(fmt.Errorf("the %v type %s is not registered", d.kind, d.name))
	}
}

// drop gives a match the fate of one that entities lose.
func (x *imageMatch) drop() {
	if x.fate = under.ImageDropped; x.im.check() != nil { // its headers are looked at
		x.refuse(x.im.check())
	}
}

// refuse gives a match the fate of one that is refused.
func (x *imageMatch) refuse(err error) {
	x.t, x.fate, x.err = nil, under.ImageRefused, fmt.Errorf("%w: %w", under.ErrImageTypes, err)
}

// compare settles how values of the file become those of a type of the world.
func (m *matcher) compare(x *imageMatch, to *deltaType) {
	d := &x.im.deltaType
	x.t, x.now = to.t, describeImageType(to.t, *to)
	m.taken[to.t] = true
	if err := m.settle(x, to); err != nil {
		x.refuse(fmt.Errorf("the %v type %s has changed, and no rule converts it: %w%s", d.kind, d.name, err, sideBySide(x.im, &x.now)))
		return
	}
	x.mapped = x.alike && x.im.sameRows(&x.now)
	if x.fate = under.ImageConverted; x.mapped && d.name == to.name && x.im.cleanup == x.now.cleanup {
		x.fate = under.ImageSame
	}
}

// settle is compare without what it says. The error says why there is no way.
func (m *matcher) settle(x *imageMatch, to *deltaType) error {
	d := &x.im.deltaType
	if to.t.id < builtIn {
		return errors.New("it is built in")
	}
	if err := x.im.check(); err != nil {
		return err
	}
	if x.im.coded && x.now.coded { // it reads what it wrote, whatever the fields are
		if slices.ContainsFunc(m.rules.Conversions, func(c under.ImageConversion) bool { return x.rules.isCalled(c.Name) }) {
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
	if err == nil && d.kind == KindManaged && d.layout != to.layout {
		err = errors.New("values of managed types are not converted")
	}
	if err == nil {
		x.moves, x.changes, x.alike, err = x.im.moves(&x.now, m.fieldNames(x, &x.now).inProgram)
	}
	if err == nil && d.kind == KindShared {
		err = keepsArrays(x.changes)
	}
	if err != nil && wrong != nil && !errors.Is(err, wrong) {
		err = fmt.Errorf("%w; %w", err, wrong)
	}
	return err
}

// keepsArrays returns an error if an array of a shared value is lost: a file does not say how many
// bytes it has there.
func keepsArrays(changes []fieldChange) error {
	for _, c := range changes {
		if c.to == nil && reflect.Kind(c.from.kind) == reflect.Array {
			return fmt.Errorf("%v is lost: only a conversion function can pass an array of a shared value", c.from)
		}
	}
	return nil
}

// check returns what is wrong with the sizes and options of a type.
func (t *imageType) check() error {
	rows := t.tracked || t.maxRows > 0 // which its kind must allow, as for Register
	switch {
	case t.kind == KindShared && (t.enableable || rows), t.kind == KindSparse && (t.cleanup || rows),
		t.kind == KindChunk && (t.enableable || t.cleanup || rows):
		return fmt.Errorf("a %v type has options of others", t.kind)
	case t.kind == KindManaged && t.size != int(unsafe.Sizeof(value.Slot(0))), t.size > layout.MaxChunkSize, t.kind == KindComponent && t.size != t.whole,
		t.kind == KindBuffer && (t.whole == 0 || t.inline > t.size/t.whole || value.HeaderSize+t.inline*t.whole > t.size),
		t.kind == KindChunk && t.chunk != t.whole, t.kind == KindSparse && t.size != t.whole,
		t.whole > layout.MaxChunkSize && t.kind != KindShared && t.kind != KindManaged:
		return fmt.Errorf("a row has %d B of it, a chunk %d, for %d", t.size, t.chunk, t.whole)
	}
	return nil
}

// otherOldError says that a conversion function takes a type of another layout than the file's: it
// is for another version.
type otherOldError struct{ old reflect.Type }

func (e *otherOldError) Error() string {
	return fmt.Sprintf("the conversion takes a %v, which has another layout", e.old)
}

// isOf reports whether values of a type of the file have the layout of the old type.
func (t *imageType) isOf(old reflect.Type) bool {
	o := imageType{whole: int(old.Size())}
	o.addFields("", old, 0)
	return o.whole == t.whole && slices.Equal(o.fields, t.fields)
}

// converts reports whether there is a conversion function for a type and its layout.
func (m *matcher) converts(x *imageMatch) bool {
	return slices.ContainsFunc(m.rules.Conversions, func(c under.ImageConversion) bool { return x.rules.isCalled(c.Name) && x.im.isOf(c.Old) })
}

// conversionFor returns the conversion function for a type, or nil if there is none. The error says
// why one that names the type is not it.
func (m *matcher) conversionFor(x *imageMatch) (by *under.ImageConversion, wrong error) {
	for i := range m.rules.Conversions {
		c := &m.rules.Conversions[i]
		switch {
		case !x.rules.isCalled(c.Name):
		case !x.im.isOf(c.Old):
			if wrong == nil {
				wrong = &otherOldError{c.Old}
			}
		case c.New != x.t.rtype:
			wrong = fmt.Errorf("the conversion makes a %v, and the program has a %v", c.New, x.t.rtype)
		default:
			if err := layout.PointerFree(c.Old); x.t.kind != KindShared && err != nil {
				return nil, err
			}
			return c, nil
		}
	}
	return nil, wrong
}

// sameRows reports whether rows have the same of two types, but for the bytes of values.
func (t *imageType) sameRows(now *imageType) bool {
	return t.size == now.size && (t.kind != KindBuffer || t.whole == now.whole) && t.inline == now.inline && t.maxRows == now.maxRows && t.chunk == now.chunk &&
		t.enableable == now.enableable && t.tracked == now.tracked
}

// sameOptions reports whether two types have the same options.
func (t *imageType) sameOptions(now *imageType) bool {
	return t.sameRows(now) && t.cleanup == now.cleanup
}

// usedTypes returns the numbers of the types that archetypes or entries have.
func (im *worldImage) usedTypes() map[int]bool {
	used := map[int]bool{}
	for i := range im.archetypes {
		for _, of := range im.archetypes[i].table.Types {
			used[of] = true
		}
	}
	for i := range im.values {
		used[im.values[i].of] = true
	}
	for i := range im.sets {
		if s := &im.sets[i]; s.set.Len > 0 {
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
		if x.fate == under.ImageRefused {
			return x.err
		}
		if x.t != nil && (i < int(builtIn) != (x.t.id < builtIn) || slices.Contains(l.types, x.t)) {
			return refuseSection(under.ImageTypes, fmt.Errorf("%s is type %d of the file and another", x.im.name, i))
		}
		l.types = append(l.types, x.t)
	}
	return nil
}

// compareTypes reports whether an image of the world would not describe the types of the file as it
// does, and whether it would have more of them.
func (l *imageLoader) compareTypes() (changed, added bool) {
	known := map[*typeInfo]bool{}
	for i := range l.matches {
		x := &l.matches[i]
		known[x.t] = true
		changed = changed || x.fate == under.ImageConverted || x.fate == under.ImageDropped || x.fate == under.ImageUnused ||
			x.fate == under.ImageSame && (!slices.Equal(x.im.fields, x.now.fields) || x.im.coded != x.now.coded)
	}
	return changed, slices.ContainsFunc(l.w.types.list, func(t *typeInfo) bool { return !known[t] })
}
