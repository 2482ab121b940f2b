package command

import (
	"fmt"
	"math"
	"reflect"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// op is what a command does, without its entity and its value. Many commands share one op.
type op struct {
	kind      commandKind
	t         ecs.Type       // of the value, or the type that is removed or toggled; else nil
	archetype *ecs.Archetype // of a Create
	change    *ecs.Change    // of an Apply; in a player, the change that any op makes
	query     *ecs.Query     // whose matches the command is about; else nil
	value     any            // of a shared type; set in ops of a player only
	shared    bool           // t is a shared type
	sparse    bool           // t is a sparse type, or change has some
	valued    bool           // records have a value
	member    bool           // the destruction of a member of a group, along with the entity that the group belongs to
}

// String describes the op, such as "Add Position".
func (o *op) String() string {
	text := kindNames[o.kind]
	switch {
	case o.archetype != nil:
		text += " " + o.archetype.String()
	case o.kind == apply:
		text += " " + o.change.String()
	case o.t != nil:
		text += " " + typeName(o.t)
	}
	return text
}

// ignoresNull reports whether a command about ecs.Null is dropped, since there is nothing to
// destroy or remove.
func (k commandKind) ignoresNull() bool { return k == destroy || k == remove }

func typeName(t ecs.Type) string {
	if s, ok := t.(interface{ String() string }); ok {
		return s.String()
	}
	return "a type"
}

// cleanupEntity is the Go type of the tag that no command may add or remove.
var cleanupEntity = reflect.TypeFor[ecs.CleanupEntity]()

// checkDying panics for the type that only destruction adds and removes.
func checkDying(name string, t ecs.Type) {
	if ecs.InfoOf(t).Go == cleanupEntity {
		panic("command: " + name +
			": CleanupEntity comes with World.Destroy and goes with the last Cleanup type; it cannot be added or removed")
	}
}

// refuseType panics for a type that is not of the buffer's world.
func refuseType(name string, t ecs.Type) {
	if t == nil {
		panic("command: " + name + ": a type is nil")
	}
	panic(fmt.Sprintf(
		"command: %s: %s is not a type of the buffer's world: a zero handle, or registered in another world",
		name, typeName(t)))
}

// ops numbers the ops of a stream.
type ops struct {
	list   []op
	codecs []codec         // of ops with a value; else nil
	byType [kinds][]uint16 // by index of the type: number + 1 of the op with a value and without a query
	bare   [kinds][]uint16 // the same of the op without a value; Destroy is at index 0
	links  [][]world.Link  // of the codecs
	others map[op]uint16   // number + 1

	creates   map[*ecs.Archetype]uint16 // numbers of the ops of Create
	recent    [32]recentCreate          // of creates, by Index of the archetype's table
	created   *ecs.Archetype            // of the last Create; createdAs is the number of its op
	createdAs uint16

	bundles [8]bundled // that spawned last, by their ids
}

// bundled is what a stream knows of a bundle.
type bundled struct {
	id    uint32 // of the bundle, from 1
	steps []bundleStep
}

// bundleStep is a part of a bundle as a stream records it.
type bundleStep struct {
	head             uint64 // of the record
	to, offset, size uint32 // as of the part
	op               uint32 // number of the op that sets it
}

// recentCreate is the number of the op that creates entities of an archetype.
type recentCreate struct {
	at     *ecs.Archetype
	number uint16
}

// findCreate sets createdAs to the number of the op that creates entities of an archetype.
func (o *ops) findCreate(a *ecs.Archetype) {
	last := &o.recent[door.Archetype(a).Table.Index%uint32(len(o.recent))]
	if last.at != a {
		*last = recentCreate{a, o.numberOfCreate(a)}
	}
	o.created, o.createdAs = a, last.number
}

func (o *ops) numberOfCreate(a *ecs.Archetype) uint16 {
	n, ok := o.creates[a]
	if !ok {
		if o.creates == nil {
			o.creates = map[*ecs.Archetype]uint16{}
		}
		n = o.find(op{kind: create, archetype: a}, nil)
		o.creates[a] = n
	}
	return n
}

// find returns the number of an op, and adds the op if it is new.
func (o *ops) find(one op, c codec) uint16 {
	if n := o.others[one]; n != 0 {
		return n - 1
	}
	if len(o.list) == math.MaxUint16 {
		panic("command: a writer has 65,535 different commands: take other buffers for some")
	}
	if o.others == nil {
		o.others = map[op]uint16{}
	}
	var links []world.Link
	if c != nil {
		links = c.links()
	}
	o.list, o.codecs, o.links = append(o.list, one), append(o.codecs, c), append(o.links, links)
	n := uint16(len(o.list))
	o.others[one] = n
	return n - 1
}

// noted returns the number + 1 of the op that writes values of a type, or 0.
func (o *ops) noted(k commandKind, index int) uint16 {
	if list := o.byType[k]; index < len(list) {
		return list[index]
	}
	return 0
}

// notedBare is noted for the op without a value.
func (o *ops) notedBare(k commandKind, index int) uint16 {
	if list := o.bare[k]; index < len(list) {
		return list[index]
	}
	return 0
}

// noteBare makes the op with a number known to notedBare.
func (o *ops) noteBare(k commandKind, index int, number uint16) {
	for len(o.bare[k]) <= index {
		o.bare[k] = append(o.bare[k], 0)
	}
	o.bare[k][index] = number + 1
}

// note is find for an op that writes values of a type. It makes the op known to noted.
func (o *ops) note(k commandKind, t ecs.Type, index int, c codec) uint16 {
	n := o.find(op{kind: k, t: t, shared: isShared(t), sparse: isSparse(t), valued: true}, c)
	for len(o.byType[k]) <= index {
		o.byType[k] = append(o.byType[k], 0)
	}
	o.byType[k][index] = n + 1
	return n
}

func isSparse(t ecs.Type) bool { return t != nil && door.FactsOf(t).Kind == ecs.KindSparse }

func isShared(t ecs.Type) bool { return t != nil && door.FactsOf(t).Kind == ecs.KindShared }
