package worldfile

import (
	"fmt"
	"slices"
	"strings"
)

// Losses. A field that the program does not have is lost, and so is a type that DropUnknown drops.
// The loader cannot know whether the program removed a field on purpose or renamed it and has no
// rule for that. So Strict refuses both losses, except for what Drop and DropFields name.

// refuseLosses refuses the types that would lose something, if the rules are strict.
func (m *matcher) refuseLosses(list []imageMatch) {
	for i := range list {
		x := &list[i]
		d := &x.im.Description
		switch {
		case !m.rules.Strict || !m.used[i]:
		case x.fate == Dropped && !x.rules.isCalled(m.rules.Drop...):
			x.refuse(fmt.Errorf("the %v type %s would be lost: it is not registered, and no rule drops it by name",
				d.Kind, d.Name))
		case x.fate == Converted && x.by == nil:
			if lost := m.losses(x); len(lost) > 0 {
				x.refuse(fmt.Errorf("the %v type %s would lose %s, which no rule renames or drops%s",
					d.Kind, d.Name, strings.Join(lost, " and "), sideBySide(x.im, &x.now)))
			}
		}
	}
}

// losses returns the fields that a type would lose, without those that rules drop.
func (m *matcher) losses(x *imageMatch) (lost []string) {
	names := m.fieldNames(x, &x.now)
	for _, c := range x.changes {
		if c.to != nil || c.from.isBlank() {
			continue
		}
		now, _ := names.inProgram(c.from.Name) // which was settled
		if !slices.ContainsFunc(m.rules.DropFields, func(r LostField) bool {
			_, then := cutField(c.from.Name, r.Name)
			_, later := cutField(now, r.Name)
			return (then || later) && (x.rules.isCalled(r.Type) || sameName(x.now.Name, r.Type))
		}) {
			lost = append(lost, c.from.String())
		}
	}
	return lost
}
