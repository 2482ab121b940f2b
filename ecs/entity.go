package ecs

import (
	"fmt"
	"strconv"
)

// Entity names an entity of one world. It is 8 bytes, compares with ==, may be
// stored in components, and its zero value, Null, is never alive.
//
//	bit 0                  27      31  32                        64
//	    +------------------+--------+--+--------------------------+
//	    | index 27         | world 4| P| version 32, odd = alive  |
//	    +------------------+--------+--+--------------------------+
//
// The index is reused after the entity is destroyed, under a new version. The
// version wraps after 2^31 reuses of one index: a handle kept that long could
// name another entity. P marks a placeholder of a command buffer.
type Entity struct {
	ref     uint32 // index, world tag, placeholder flag
	version uint32
}

// Null is the entity that is never alive.
var Null Entity

const (
	indexBits = 27
	indexMask = 1<<indexBits - 1
	tagBits   = 4
	tagMask   = (1<<tagBits - 1) << indexBits

	// MaxEntities is the number of entity indices of a world, Null's included.
	MaxEntities = 1 << indexBits
)

// Index returns the entity's index in 0..2^27-1. Two entities that are alive in
// one world never share it.
func (e Entity) Index() int { return int(e.ref & indexMask) }

// Version returns how often the index changed between dead and alive; odd while
// the entity is alive.
func (e Entity) Version() uint32 { return e.version }

// String prints index and version as 12v3, and null.
func (e Entity) String() string {
	if e == Null {
		return "null"
	}
	return strconv.Itoa(e.Index()) + "v" + strconv.FormatUint(uint64(e.version), 10)
}

// Compare orders entities by index, then version: -1, 0 or +1.
func (e Entity) Compare(f Entity) int {
	switch {
	case e.Index() < f.Index() || e.Index() == f.Index() && e.version < f.version:
		return -1
	case e.Index() == f.Index() && e.version == f.version:
		return 0
	}
	return 1
}

// checkWorld panics when e carries the tag of another world.
//
//go:noinline
func (w *World) checkWorld(op string, e Entity) {
	if w == nil || w.closed {
		w.refuse(op)
	}
	if e != Null && e.ref&tagMask != w.tag {
		panic(fmt.Sprintf("ecs: %s: entity %v belongs to another world", op, e))
	}
}
