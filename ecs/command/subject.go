package command

import (
	"slices"

	"quarry/ecs"
)

// subjects holds the subjects by number, from 1. There is one for each entity and run, with what
// the run does to the entity. They are kept column by column, because playing goes through one
// column after the other.
type subjects struct {
	e      []ecs.Entity    // that the subject is about; a placeholder until the entity is made
	node   []int32         // program, as a node of the tree
	first  []int32         // link of the first command of the program; -1 if none; see packed
	last   []int32         // link of the last command
	before map[int32]int32 // the entity's subject in an earlier run, if any
	links  []link          // of all subjects
}

// link is a command of a subject.
type link struct {
	at   uint32 // position of the record, in units of 8 bytes from the universe's base
	next int32  // -1 if none
}

func (t *subjects) len() int32 { return int32(len(t.e)) }

// clear forgets all but the subject 0.
func (t *subjects) clear() {
	t.e, t.node = append(t.e[:0], ecs.Null), append(t.node[:0], -1)
	t.first, t.last = append(t.first[:0], -1), append(t.last[:0], -1)
	t.links = t.links[:0]
	clear(t.before)
}

// grow makes room for n more subjects.
func (t *subjects) grow(n int) {
	t.e, t.node = slices.Grow(t.e, n), slices.Grow(t.node, n)
	t.first, t.last = slices.Grow(t.first, n), slices.Grow(t.last, n)
}

// add adds a subject and returns its number.
func (t *subjects) add(e ecs.Entity, node, link int32) int32 {
	t.e, t.node = append(t.e, e), append(t.node, node)
	t.first, t.last = append(t.first, link), append(t.last, link)
	return t.len() - 1
}

// follow notes that before is the previous subject of the entity of s.
func (t *subjects) follow(s, before int32) {
	if before == 0 {
		return
	}
	if t.before == nil {
		t.before = map[int32]int32{}
	}
	t.before[s] = before
}

// packed is the value of last for a subject without links: its records are contiguous, and first is
// ^position of the first record; see pattern.go.
const packed = -2

// link adds the command whose record is at a position to a subject that is not packed.
func (t *subjects) link(s int32, at uint32) {
	l := int32(len(t.links))
	t.links = append(t.links, link{at, -1})
	if t.last[s] < 0 {
		t.first[s] = l
	} else {
		t.links[t.last[s]].next = l
	}
	t.last[s] = l
}
