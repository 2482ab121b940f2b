package bake

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/ecs/scene/internal/section"
)

// Object is scene.Object.
type Object struct {
	ID, Place, Section, Parent string
	Value                      any
}

func (o *Object) section() string { return cmp.Or(o.Section, "main") }

// placing is what an object is beside its id and its data.
type placing struct{ place, section, parent string }

func (o *Object) placing() *placing { return &placing{o.Place, o.Section, o.Parent} }

// String is scene.Object.String.
func (o *Object) String() string {
	if o.Place == "" {
		return o.ID
	}
	return o.ID + " (" + o.Place + ")"
}

// mostErrors is the most errors of a bake that are reported.
const mostErrors = 20

// list is the objects of a bake.
type list struct {
	objects []Object
	at      map[string]int   // place of an object, by its id
	parent  []int            // place of the parent; -1: none
	order   []string         // sections, as they come first
	members map[string][]int // places of the objects of a section
	digests []digest         // of the authoring data
	files   *files           // that bakers ask for
}

// listOf checks what can be checked without bakers: ids, sections and parents.
func listOf(objects []Object) (*list, error) {
	l := &list{objects: objects, at: make(map[string]int, len(objects)), parent: make([]int, len(objects)),
		members: map[string][]int{}}
	var errs []error
	refuse := func(o *Object, format string, args ...any) {
		errs = append(errs, &Error{Object: o.ID, Place: o.Place, Err: fmt.Errorf(format, args...)})
	}
	numbers, cases := make(map[uint64]string, len(objects)), map[string]*Object{} // by section, in small letters
	for i := range objects {
		o := &objects[i]
		before, twice := l.at[o.ID]
		clash, taken := numbers[section.Hash(o.ID)]
		switch {
		case o.ID == "":
			refuse(o, "object %d has no id", i)
		case twice:
			refuse(o, "its id is that of %v too", &objects[before])
		case taken:
			refuse(o, "its id has the same hash as %q: give it another", clash)
		case !isFileName(o.section()):
			refuse(o, "section %q: a section is named by letters, digits, _ and - and dots inside", o.Section)
		case isDevice(o.section()):
			refuse(o, "section %q: Windows takes the name for a device", o.Section)
		}
		if like, ok := cases[strings.ToLower(o.section())]; !ok {
			cases[strings.ToLower(o.section())] = o
		} else if like.section() != o.section() {
			refuse(o,
				"section %q: it is named as %q of %v but for the case of letters: on some systems both are one file",
				o.section(), like.section(), like)
		}
		l.at[o.ID], numbers[section.Hash(o.ID)] = i, o.ID
		if l.members[o.section()] == nil {
			l.order = append(l.order, o.section())
		}
		l.members[o.section()] = append(l.members[o.section()], i)
	}
	for i := range objects {
		o := &objects[i]
		l.parent[i] = -1
		if o.Parent == "" {
			continue
		}
		p, ok := l.at[o.Parent]
		switch {
		case !ok:
			refuse(o, "its parent %q is no object", o.Parent)
		case objects[p].section() != o.section():
			refuse(o, "its parent %v is in section %s, it is in %s", &objects[p], objects[p].section(), o.section())
		default:
			l.parent[i] = p
		}
	}
	if len(errs) == 0 {
		errs = l.cycles()
	}
	return l, joined(errs)
}

// cycles returns an error for each cycle of parents.
func (l *list) cycles() (errs []error) {
	const (
		open = iota + 1
		done
	)
	state := make([]uint8, len(l.objects))
	for i := range l.objects {
		at := i
		for at >= 0 && state[at] == 0 {
			state[at] = open
			at = l.parent[at]
		}
		if at >= 0 && state[at] == open {
			o, ids := &l.objects[at], []string{l.objects[at].ID}
			for p := l.parent[at]; p != at; p = l.parent[p] {
				ids = append(ids, l.objects[p].ID)
			}
			errs = append(errs, &Error{Object: o.ID, Place: o.Place, Err: fmt.Errorf("it is its own ancestor: %s",
				strings.Join(append(ids, o.ID), " under "))})
		}
		for at = i; at >= 0 && state[at] == open; at = l.parent[at] {
			state[at] = done
		}
	}
	return errs
}

// isFileName reports whether a name can be that of a file on every system.
func isFileName(name string) bool {
	for i, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		case c == '.' && i > 0 && i < len(name)-1:
		default:
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// isDevice reports whether Windows takes the name of a file for a device, whatever its extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	port, is := strings.CutPrefix(stem, "com")
	if !is {
		port, is = strings.CutPrefix(stem, "lpt")
	}
	return is && len(port) == 1 && port >= "1" && port <= "9" ||
		slices.Contains([]string{"con", "prn", "aux", "nul"}, stem)
}

// Error is scene.Error.
type Error struct {
	Object string // its id
	Place  string // where it stands in the input
	Baker  string // name of the baker; "" if none was asked yet
	Err    error
	Stack  []byte // of a baker that panicked
}

// Error returns a text with the object, its place in the file, the baker and the cause.
func (e *Error) Error() string {
	o := Object{ID: e.Object, Place: e.Place}
	if e.Baker == "" {
		return fmt.Sprintf("object %v: %v", &o, e.Err)
	}
	return fmt.Sprintf("object %v: baker %s: %v", &o, e.Baker, e.Err)
}

// Unwrap returns what the baker returned.
func (e *Error) Unwrap() error { return e.Err }

// joined joins the first errors of a list; some may be nil.
func joined(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - mostErrors; more > 0 {
		errs = append(errs[:mostErrors:mostErrors], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}
