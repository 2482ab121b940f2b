package ecs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

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
}

// matcher finds the types.
type matcher struct {
	w     *World
	rules *under.ImageRules
	all   []deltaType        // of the world
	taken map[*typeInfo]bool // by a type of the file
	used  map[int]bool       // types of the file that something has
}

// matchImage returns what becomes of each type.
func matchImage(w *World, im *worldImage, rules *under.ImageRules) []imageMatch {
	if rules == nil {
		rules = &under.ImageRules{}
	}
	m := &matcher{w, rules, w.describeTypes(), map[*typeInfo]bool{}, im.usedTypes()}
	list := make([]imageMatch, len(im.types))
	for i := range list {
		list[i].im = &im.types[i]
	}
	for i := range list { // exact ones first: the others choose among what is left
		m.matchExactly(&list[i], i < int(builtIn))
	}
	for i := range list {
		x := &list[i]
		if x.t == nil && x.fate == under.ImageSame {
			m.match(x, m.used[i])
		}
		if x.fate == under.ImageRefused && !m.used[i] {
			x.fate = under.ImageUnused
		}
	}
	return list
}

// matchExactly finds a type that is as it was.
func (m *matcher) matchExactly(x *imageMatch, builtIn bool) {
	d := &x.im.deltaType
	if !builtIn {
		if slices.ContainsFunc(m.rules.Drop, d.calls) {
			x.drop()
			return
		}
		if _, renamed := d.renamedIn(m.rules); renamed || m.converts(d) {
			return
		}
	}
	t, err := d.find(m.all)
	if err != nil {
		return
	}
	if now := describeImageType(t, *d); x.im.sameOptions(&now) {
		x.t, x.now, x.fate, x.mapped, x.alike = t, now, under.ImageSame, true, true
		m.taken[t] = true
	}
}

// converts reports whether there is a conversion function for a type.
func (m *matcher) converts(d *deltaType) bool {
	return slices.ContainsFunc(m.rules.Conversions, func(c under.ImageConversion) bool { return d.calls(c.Name) })
}

// match finds a type that has changed.
func (m *matcher) match(x *imageMatch, used bool) {
	d := &x.im.deltaType
	name, renamed := d.renamedIn(m.rules)
	var likes []deltaType
	for _, c := range m.all {
		if c.kind == d.kind && !m.taken[c.t] && (c.name == name || renamed && c.calls(name)) {
			likes = append(likes, c)
		}
	}
	switch {
	case len(likes) == 0 && (m.rules.KeepUnknown || slices.ContainsFunc(m.rules.Keep, d.calls)):
		x.fate = under.ImageKept
		if err := m.keep(x); err != nil {
			x.refuse(fmt.Errorf("the %v type %s cannot be kept: %w", d.kind, d.name, err))
		}
	case len(likes) == 0 && m.rules.DropUnknown:
		x.drop()
	case len(likes) == 0 && !used:
		x.fate = under.ImageUnused
	case len(likes) == 0 && renamed:
		x.refuse(fmt.Errorf("the %v type %s is %s in this program, which is not registered", d.kind, d.name, name))
	case len(likes) == 0:
		x.refuse(fmt.Errorf("the %v type %s is not registered", d.kind, d.name))
	case len(likes) > 1:
		x.refuse(fmt.Errorf("the %v type %s may be one of %d in this program: a rename must say which", d.kind, d.name, len(likes)))
	default:
		m.compare(x, &likes[0])
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
	err := x.im.check()
	coded := x.im.coded && x.now.coded // it reads what it wrote, whatever the fields are
	if coded && m.converts(d) {
		err = errors.New("a codec wrote its values: a conversion function gets none of them")
	}
	if x.alike = coded; err == nil && !coded {
		x.by, err = m.conversionFor(x)
	}
	if err == nil && x.by == nil && !coded && d.kind == KindManaged && d.layout != to.layout {
		err = errors.New("values of managed types are not converted")
	}
	if err == nil && x.by == nil && !coded {
		x.moves, x.changes, x.alike, err = x.im.moves(&x.now, fieldRenamer(m.rules, d, to))
	}
	if err == nil && x.by == nil && d.kind == KindShared {
		err = keepsArrays(x.changes)
	}
	if err == nil && to.t.id < builtIn {
		err = errors.New("it is built in")
	}
	if err != nil {
		x.refuse(fmt.Errorf("the %v type %s has changed, and no rule converts it: %w%s", d.kind, d.name, err, sideBySide(x.im, &x.now)))
		return
	}
	x.mapped = x.alike && x.im.sameRows(&x.now)
	if x.fate = under.ImageConverted; x.mapped && d.name == to.name && x.im.cleanup == x.now.cleanup {
		x.fate = under.ImageSame
	}
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

// check returns what is wrong with the sizes of a type.
func (t *imageType) check() error {
	switch {
	case t.kind == KindComponent && t.size != t.whole,
		t.kind == KindBuffer && (t.whole == 0 || t.inline > t.size/t.whole || value.HeaderSize+t.inline*t.whole > t.size),
		t.kind == KindChunk && t.chunk != t.whole, t.kind == KindSparse && t.size != t.whole, t.whole > layout.MaxChunkSize:
		return fmt.Errorf("a row has %d B of it, a chunk %d, for %d", t.size, t.chunk, t.whole)
	}
	return nil
}

// conversionFor returns the conversion function for a type, or nil if there is none.
func (m *matcher) conversionFor(x *imageMatch) (*under.ImageConversion, error) {
	var wrong error
	for i := range m.rules.Conversions {
		c := &m.rules.Conversions[i]
		if !x.im.calls(c.Name) || c.New != x.t.rtype {
			continue
		}
		old := imageType{whole: int(c.Old.Size())}
		old.addFields("", c.Old, 0)
		if old.whole != x.im.whole || !slices.Equal(old.fields, x.im.fields) {
			wrong = fmt.Errorf("the conversion takes a %v, which has another layout", c.Old)
			continue
		}
		if err := layout.PointerFree(c.Old); x.t.shared == nil && err != nil {
			return nil, err
		}
		return c, nil
	}
	return nil, wrong
}

// sameRows reports whether rows have the same of two types, but for the bytes of values.
func (t *imageType) sameRows(now *imageType) bool {
	return t.size == now.size && t.inline == now.inline && t.maxRows == now.maxRows && t.chunk == now.chunk &&
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
