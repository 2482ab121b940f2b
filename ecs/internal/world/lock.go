package world

import (
	"cmp"
	"fmt"
	"strings"
)

// The lock. A structural change would move the rows of loops and borrows, so each structural change
// calls the functions here first. Inside a loop, while the world is lent and in a closed world
// the change is refused; active borrows of queries are ended for it (N1).

// CheckNew panics unless the world is open, so that something can be created in it.
func (w *World) CheckNew(op string) {
	w.CheckMade(op)
	if w.Closed {
		w.Refuse(op)
	}
}

// CheckMade panics for no world, as where an error of NewWorld was not looked at, and a zero one.
func (w *World) CheckMade(op string) {
	if w == nil || w.Universe == nil {
		panic("ecs: " + op + ": " + Unmade["World"])
	}
}

// CheckHandle panics for a nil world, as a zero handle has, and for a closed world.
func (w *World) CheckHandle(op string) {
	if w == nil || w.Closed {
		w.Refuse(op)
	}
}

// CheckUnlocked panics while a loop over rows is in progress, because a structural change would
// move the loop's rows. It always panics in a closed world, see Close. It waits for borrows of
// queries.
func (w *World) CheckUnlocked(op string) {
	if w == nil || w.Loops.Open != 0 {
		w.unlock(op)
	}
}

// CheckIdle is CheckUnlocked for calls that change no rows, but not inside a loop either: the panic
// there does not speak of a structural change.
func (w *World) CheckIdle(op string) {
	if w != nil && !w.Closed && w.Locked() && !w.Lent() && w.Loops.change == "" {
		panic(fmt.Sprintf("ecs: %s: called %s; call it afterwards", op, w.Loop()))
	}
	w.CheckUnlocked(op)
}

// unlock ends all borrows of queries before a structural change. It panics if the change is not
// allowed: in a loop, while the world is lent, or in a closed world.
//
//go:noinline
func (w *World) unlock(op string) {
	if w == nil || w.Locked() {
		panic(w.refusal(op))
	}
	w.EndBorrows(op)
}

// EndBorrows ends all active borrows of queries by calling the wait of each, as every structural
// change does first. So the data that their goroutines use outside the world may change afterwards
// too. op is for messages. Loops may call EndBorrows. It does not end a borrow of everything.
func (w *World) EndBorrows(op string) { // N1
	for len(w.Loops.Borrows) > 0 && !w.Lent() {
		b := w.Loops.Borrows[0]
		if b.Wait(op); b.Out {
			panic(fmt.Sprintf("ecs: %s: %s is still out after its wait", op, b.Name))
		}
	}
}

// Locked reports whether a loop over rows is in progress or the world is lent, so that structural
// changes panic. Borrows of queries do not lock the world, because they are ended first.
func (w *World) Locked() bool { return w.Loops.Open != len(w.Loops.Borrows) || w.Lent() }

// Shared is ecs.World.Lent.
func (w *World) Lent() bool { return w.Loops.Lent() != nil }

// CheckNotLent panics while the world is lent: the call would change what goroutines read.
func (w *World) CheckNotLent(op string) {
	if w.Lent() {
		panic("ecs: " + op + ": the world is lent; call Borrow.End first")
	}
}

// Refuse panics with the reason why a call is refused.
//
//go:noinline
func (w *World) Refuse(op string) { panic(w.refusal(op)) }

// Unmade has the panic texts, by receiver, of values that were not created properly. Receivers that
// are missing here come from the functions that create a Component.
var Unmade = map[string]string{
	"World":        "the world is nil or the zero value; worlds come from NewWorld",
	"Archetype":    "the archetype is the zero value; archetypes come from NewArchetype",
	"Change":       "the change is the zero value; changes come from NewChange",
	"Managed":      "the handle is the zero value; handles come from RegisterManaged",
	"Range":        "the range is the zero value; ranges come from NewRange",
	"Chunk":        "the handle is the zero value; handles come from RegisterChunk",
	"Shared":       "the handle is the zero value; handles come from RegisterShared",
	"Sparse":       "the handle is the zero value; handles come from RegisterSparse",
	"Lookup":       "the look-up is the zero value; look-ups come from Lookup of a handle",
	"BufferLookup": "the look-up is the zero value; look-ups come from Buffer.Lookup",
	"Component":    "the handle is the zero value; handles come from Register and RegisterBuffer",
}

// refusal returns the reason why a call is refused.
func (w *World) refusal(op string) string {
	if w == nil {
		receiver, _, _ := strings.Cut(op, ".")
		return "ecs: " + op + ": " + cmp.Or(Unmade[receiver], Unmade["Component"])
	}
	if w.Closed {
		return "ecs: " + op + ": the world is closed"
	}
	w.CheckNotLent(op)
	if w.Loops.change != "" {
		return fmt.Sprintf(
			"ecs: %s: structural change inside another one, %s, which is not done yet; make it after that call",
			op, w.Loops.change)
	}
	return fmt.Sprintf("ecs: %s: structural change %s; gather the entities and change them after the loop",
		op, w.Loop())
}
