package image

import (
	"fmt"
	"strings"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/fileformat"
	"quarry/ecs/internal/worldfile"
)

// Fate is how a type of a file maps when the file is opened.
type Fate uint8

// Fates of types.
const (
	Same      Fate = iota // it is as it was: rows map
	Converted             // its values are copied into the layout of the program
	Dropped               // entities lose it
	Kept                  // nobody has registered it, and it stays as it is
	Refused               // Open fails
	Unused                // nothing in the file has it, and it is not registered, or another type
)

// String returns same, converted, dropped, kept, refused or unused.
func (f Fate) String() string {
	if names := [...]string{"same", "converted", "dropped", "kept", "refused", "unused"}; int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("Fate(%d)", uint8(f))
}

// TypePlan is how a type of a file maps.
type TypePlan struct {
	Name  string // with its package, in the file
	Kind  ecs.Kind
	Fate  Fate
	To    string   // its name in the program; empty if it does not get there
	Notes []string // of a type that is converted: what becomes of fields and options
	Err   error    // of one that is refused; wraps ErrTypes
}

// String returns the plan as text: a line, and one for each note.
func (p TypePlan) String() string {
	text := fmt.Sprintf("%v %s: %v", p.Kind, p.Name, p.Fate)
	if p.To != "" && p.To != p.Name {
		text += ", is " + p.To
	}
	if p.Err != nil {
		text += ": " + p.Err.Error()
	}
	return strings.Join(append([]string{text}, p.Notes...), "\n\t")
}

// Plan reports what [Open] of the file at a path, with the same function and options, would do with
// each type of the file, in their order. It is for files of strangers. It makes no world that
// stays, and reads no row; options of the new world have no effect. An error wraps ErrFile, or is
// the system's or from ecs.NewWorld. A type that Open would refuse is no error of Plan. The
// function gets a world that ends with the call, so it must not set handles that a running world
// uses. Any goroutine may call it. Cost: reading the described sections, and a world without rows.
func Plan(path string, register func(*ecs.World), options ...Option) ([]TypePlan, error) {
	s := settingsOf("Plan", register, options)
	plans, err := s.plan(path, register)
	if err != nil {
		return nil, fmt.Errorf("image: Plan: %w", err)
	}
	return plans, nil
}

func (s *settings) plan(path string, register func(*ecs.World)) ([]TypePlan, error) {
	of, err := s.described(path)
	if err != nil {
		return nil, err
	}
	from, err := door.PlanImage(of, register)
	return typePlans(path, from, err)
}

// PlanBetween is [Plan] without the program: it reports what opening the file at a path would do in
// a program whose types are those of a newer file, which such a program has saved. Types of no
// entity are in files too. It is for files of strangers. [Convert] has no effect, for the types are
// known by their names alone.
func PlanBetween(path, newer string, options ...Option) ([]TypePlan, error) {
	var s settings
	s.apply("PlanBetween", options)
	s.Rules.Conversions = nil // functions cannot be distinguished by the names of types
	plans, err := s.planBetween(path, newer)
	if err != nil {
		return nil, fmt.Errorf("image: PlanBetween: %w", err)
	}
	return plans, nil
}

func (s *settings) planBetween(path, newer string) ([]TypePlan, error) {
	of, err := s.described(path)
	if err != nil {
		return nil, err
	}
	to, err := s.described(newer)
	if err != nil {
		return nil, err
	}
	from, err := worldfile.PlanBetween(of, to)
	return typePlans(path+", "+newer, from, err)
}

// described returns the described sections of the file at a path, with the rules.
func (s *settings) described(path string) (*worldfile.File, error) {
	f, err := fileformat.Described(path)
	if err == nil {
		f.Rules = &s.Rules
	}
	return f, err
}

// typePlans returns the plans of a file, or its error.
func typePlans(path string, from []worldfile.Plan, err error) (plans []TypePlan, _ error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range from {
		plans = append(plans, TypePlan{p.Name, ecs.Kind(p.Kind), Fate(p.Fate), p.To, p.Notes, p.Err})
	}
	return plans, nil
}
