package ecs

import (
	"fmt"
	"strings"

	"quarry/ecs/internal/entity"
)

// names holds the names of entities, which are for people to read. Names lie in Go memory, outside
// chunks, in two maps that a world creates with its first name. World.Hash does not include names.
//
// Several entities may have the same name. Their entries form a list, with the entity named last in
// front:
//
//	byText "door" -> 7 <-> 12 <-> 3     Named("door") is 7; when 7 ends, 12
type names struct {
	byIndex map[uint32]*name
	byText  map[string]*name // the front of each list
	kept    bool             // a snapshot has them: they are copied before they change
}

type name struct {
	e          Entity
	text       string
	prev, next *name // neighbors with the same text, towards the front and the back
}

// SetName names an entity for people to read, replacing its previous name; "" removes the name.
// Names may be any text of any length and need not be unique. A name ends with its entity. SetName
// returns false and does nothing if e is not alive, and panics for an entity of another world. It
// is not a structural change. Cost: a few hundred bytes of Go memory per name; worlds without names
// pay nothing.
func (w *World) SetName(e Entity, text string) bool {
	if w.recordOf("World.SetName", e) == nil {
		return false
	}
	w.checkUnshared("World.SetName")
	index := e.index()
	if w.names != nil {
		w.ownNames()
		if n := w.names.byIndex[index]; n != nil && n.text == text {
			return true
		}
		w.forgetName(index)
	}
	if text == "" {
		return true
	}
	if w.names == nil {
		w.names = &names{byIndex: map[uint32]*name{}, byText: map[string]*name{}}
		w.watchEnds()
	}
	n := &name{e: e, text: strings.Clone(text)}
	if n.next = w.names.byText[n.text]; n.next != nil {
		n.next.prev = n
	}
	w.names.byIndex[index], w.names.byText[n.text] = n, n
	return true
}

// Name returns the name that SetName gave e, or "" if e has none or is not alive.
func (w *World) Name(e Entity) string {
	if w.recordOf("World.Name", e) == nil || w.names == nil {
		return ""
	}
	if n := w.names.byIndex[e.index()]; n != nil {
		return n.text
	}
	return ""
}

// Named returns the entity with the given name; if several have it, the one that was named last. No
// entity is named "". Cost: one map look-up.
func (w *World) Named(text string) (Entity, bool) {
	if w.closed {
		w.refuse("World.Named")
	}
	if w.names == nil {
		return Null, false
	}
	n := w.names.byText[text]
	if n == nil {
		return Null, false
	}
	return n.e, true
}

// forgetNames removes the names of entities that end.
func (w *World) forgetNames(ids []entity.ID) {
	w.ownNames()
	for _, e := range ids {
		w.forgetName(e.Index())
	}
}

// forgetName removes the name of the entity with the given index.
func (w *World) forgetName(index uint32) {
	n := w.names.byIndex[index]
	if n == nil {
		return
	}
	delete(w.names.byIndex, index)
	if n.next != nil {
		n.next.prev = n.prev
	}
	switch {
	case n.prev != nil:
		n.prev.next = n.next
	case n.next != nil:
		w.names.byText[n.text] = n.next
	default:
		delete(w.names.byText, n.text)
	}
}

// verifyNames checks W8.
func (w *World) verifyNames() error {
	if w.names == nil {
		return nil
	}
	for index, n := range w.names.byIndex {
		if n.e.index() != index || !w.Alive(n.e) {
			return fmt.Errorf("ecs: W8: index %d has the name %q of %v, which is not alive", index, n.text, n.e)
		}
	}
	listed := 0
	for text, n := range w.names.byText {
		for prev := (*name)(nil); n != nil; prev, n = n, n.next {
			if n.prev != prev || n.text != text || w.names.byIndex[n.e.index()] != n {
				return fmt.Errorf("ecs: W8: %v is in the list of %q, but its name is %q", n.e, text, w.Name(n.e))
			}
			listed++
		}
	}
	if listed != len(w.names.byIndex) {
		return fmt.Errorf("ecs: W8: %d entities have names, %d are listed", len(w.names.byIndex), listed)
	}
	return nil
}
