package ecs

import (
	"cmp"
	"fmt"
	"strings"
)

// The lock. A structural change would move the rows of loops and borrows, so each structural change
// calls the functions here first. Inside a loop, while the world is shared and in a closed world
// the change is refused; active borrows of queries are ended for it (N1).

// checkNew panics unless the world is open, so that something can be created in it.
func (w *World) checkNew(op string) {
	w.checkMade(op)
	if w.closed {
		w.refuse(op)
	}
}

// checkMade panics for no world, as where an error of NewWorld was not looked at, and a zero one.
func (w *World) checkMade(op string) {
	if w == nil || w.u == nil {
		panic("ecs: " + op + ": " + unmade["World"])
	}
}

// checkHandle panics for a nil world, as a zero handle has, and for a closed world.
func (w *World) checkHandle(op string) {
	if w == nil || w.closed {
		w.refuse(op)
	}
}

// checkUnlocked panics while a loop over rows is in progress, because a structural change would
// move the loop's rows. It always panics in a closed world, see Close. It waits for borrows of
// queries.
func (w *World) checkUnlocked(op string) {
	if w == nil || w.loops.open != 0 {
		w.unlock(op)
	}
}

// unlock ends all borrows of queries before a structural change. It panics if the change is not
// allowed: in a loop, while the world is shared, or in a closed world.
//
//go:noinline
func (w *World) unlock(op string) {
	if w == nil || w.locked() {
		panic(w.refusal(op))
	}
	w.endBorrows(op)
}

// endBorrows ends all active borrows of queries by calling the wait of each, as every structural
// change does first. So the data that their goroutines use outside the world may change afterwards
// too. op is for messages. Loops may call endBorrows. It does not end a borrow of everything.
func (w *World) endBorrows(op string) { // N1
	for len(w.loops.borrows) > 0 && !w.Shared() {
		b := w.loops.borrows[0]
		if b.wait(op); b.out {
			panic(fmt.Sprintf("ecs: %s: %s is still out after its wait", op, b.name))
		}
	}
}

// locked reports whether a loop over rows is in progress or the world is shared, so that structural
// changes panic. Borrows of queries do not lock the world, because they are ended first.
func (w *World) locked() bool { return w.loops.open != len(w.loops.borrows) || w.Shared() }

// Shared reports whether everything is borrowed, by World.Share: until Borrow.End all goroutines
// read and none writes.
func (w *World) Shared() bool { return w.loops.shared() != nil }

// checkUnshared panics while the world is shared: the call would change what goroutines read.
func (w *World) checkUnshared(op string) {
	if w.Shared() {
		// errors.md, Borrows: `the world is shared; call Borrow.End first` | A structural change
		// between `Share` and `End`. | Gather, and change after `End`.
		panic("ecs: " + op + ": the world is shared; call Borrow.End first")
	}
}

//go:noinline
func (w *World) refuse(op string) { panic(w.refusal(op)) }

// unmade says, by receiver, that a value was not created properly. Receivers that are missing here
// come from the functions that create a Component.
var unmade = map[string]string{
	"World":         "the world is nil or the zero value; worlds come from NewWorld",
	"Archetype":     "the archetype is the zero value; archetypes come from NewArchetype",
	"Change":        "the change is the zero value; changes come from NewChange",
	"Managed":       "the handle is the zero value; handles come from RegisterManaged",
	"Range":         "the range is the zero value; ranges come from NewRange",
	"Chunk":         "the handle is the zero value; handles come from RegisterChunk",
	"Shared":        "the handle is the zero value; handles come from RegisterShared",
	"SparseLookup":  "the look-up is the zero value; look-ups come from Sparse.Lookup",
	"Sparse":        "the handle is the zero value; handles come from RegisterSparse",
	"Lookup":        "the look-up is the zero value; look-ups come from Component.Lookup",
	"BufferLookup":  "the look-up is the zero value; look-ups come from Buffer.Lookup",
	"ManagedLookup": "the look-up is the zero value; look-ups come from Managed.LookupIn",
	"Component":     "the handle is the zero value; handles come from Register and RegisterBuffer",
}

// refusal returns the reason why a call is refused.
func (w *World) refusal(op string) string {
	if w == nil {
		receiver, _, _ := strings.Cut(op, ".")
		return "ecs: " + op + ": " + cmp.Or(unmade[receiver], unmade["Component"])
	}
	if w.closed {
		// errors.md, Types, terms and handles: `the world is closed` | A call after `World.Close`.
		// | Close last: `defer` right after making.
		return "ecs: " + op + ": the world is closed"
	}
	w.checkUnshared(op)
	if w.loops.change != "" {
		// errors.md, Entities: `structural change inside another one, ..., which is not done yet;
		// make it after that call` | Code that a structural change calls, as a hook of memory, asks
		// for another. | Note what is to be done, and do it when the first call has returned.
		return fmt.Sprintf("ecs: %s: structural change inside another one, %s, which is not done yet; make it after that call", op, w.loops.change)
	}
	// errors.md, Loops and rows: `structural change ...; gather the entities and change them after
	// the loop` | Create, Destroy, Add and the like while a loop over rows runs. | Gather in a
	// slice and change after the loop, or record by `ecs/command`. A loop by `iter.Pull` that was
	// not stopped still runs.
	return fmt.Sprintf("ecs: %s: structural change %s; gather the entities and change them after the loop",
		op, w.loop())
}
