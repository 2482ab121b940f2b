package scene

import (
	"errors"
	"fmt"
	"strings"
)

// Object is a piece of authoring data: what a person or a tool wrote, of which a baker makes
// entities.
type Object struct {
	ID      string // unique among the objects of a bake, and the same in the next one
	Place   string // where it stands in the input, for messages: town.json:12
	Section string // which it belongs to, named as a file can be on every system; "" is main
	Parent  string // ID of the object under which it is in the hierarchy, in the same section; "" for none
	Value   any    // authoring data; its Go type chooses the baker
}

func (o *Object) section() string {
	if o.Section == "" {
		return "main"
	}
	return o.Section
}

// placing is what an object is beside its id and its data.
type placing struct{ place, section, parent string }

func (o *Object) placing() *placing { return &placing{o.Place, o.Section, o.Parent} }

// String names the object for messages.
func (o *Object) String() string {
	if o.Place == "" {
		return o.ID
	}
	return o.ID + " (" + o.Place + ")"
}

// mostErrors is the most errors of a bake that are told.
const mostErrors = 20

// list is the objects of a bake.
type list struct {
	objects []Object
	at      map[string]int // place of an object, by its id
	parent  []int          // place of the parent; -1: none
	digests []digest       // of the authoring data
	files   *files         // that bakers ask for
}

// listOf checks what can be told without bakers: ids, sections and parents.
func listOf(objects []Object) (*list, error) {
	l := &list{objects: objects, at: make(map[string]int, len(objects)), parent: make([]int, len(objects))}
	var errs []error
	refuse := func(o *Object, format string, args ...any) {
		errs = append(errs, &Error{Object: o.ID, Place: o.Place, Err: fmt.Errorf(format, args...)})
	}
	numbers, cases := make(map[uint64]string, len(objects)), map[string]*Object{} // by section, in small letters
	for i := range objects {
		o := &objects[i]
		before, twice := l.at[o.ID]
		clash, taken := numbers[ObjectID(o.ID)]
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
			refuse(o, "section %q: it is named as %q of %v but for the case of letters: on some systems both are one file", o.section(), like.section(), like)
		}
		l.at[o.ID], numbers[ObjectID(o.ID)] = i, o.ID
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
			errs = append(errs, &Error{Object: o.ID, Place: o.Place, Err: fmt.Errorf("it is its own ancestor: %s", strings.Join(append(ids, o.ID), " under "))})
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
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	port, is := strings.CutPrefix(stem, "com")
	if !is {
		port, is = strings.CutPrefix(stem, "lpt")
	}
	return is && len(port) == 1 && port >= "1" && port <= "9"
}

// errors.md: `*Error` | A bake failed for an object: `Object`, `Place` and `Baker` say which, `Err`
// why, `Stack` where a baker panicked. | What `Err` says, at that place of the input.

// Error is an error of a bake about one object.
type Error struct {
	Object string // its id
	Place  string // where it stands in the input
	Baker  string // name of the baker; "" if none was asked yet
	Err    error
	Stack  []byte // of a baker that panicked
}

// Error says which object, where it stands, which baker, and what.
func (e *Error) Error() string {
	o := Object{ID: e.Object, Place: e.Place}
	if e.Baker == "" {
		return fmt.Sprintf("object %v: %v", &o, e.Err)
	}
	return fmt.Sprintf("object %v: baker %s: %v", &o, e.Baker, e.Err)
}

// Unwrap returns what the baker returned.
func (e *Error) Unwrap() error { return e.Err }

// joined joins the first errors of a list.
func joined(errs []error) error {
	if more := len(errs) - mostErrors; more > 0 {
		errs = append(errs[:mostErrors:mostErrors], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}
