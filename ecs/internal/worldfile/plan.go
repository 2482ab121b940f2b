package worldfile

import (
	"errors"

	"quarry/ecs/internal/world"
)

// PlanImage reports, for each type in the file, how it maps to the types that register adds. No row
// is read. The error wraps ErrImage, or is from NewWorld.
func PlanImage(f *File, register func(*world.World)) (plans []Plan, err error) {
	l := &imageLoader{f: f}
	if err := l.read(); err != nil {
		return nil, err
	}
	w, err := world.NewWorld(func(*world.World) {})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	register(w)
	for _, x := range matchImage(w, &l.im, f.Rules) {
		plans = append(plans, x.plan())
	}
	return plans, nil
}

// PlanBetween is PlanImage for a program whose types are those of a newer file.
func PlanBetween(f, newer *File) (plans []Plan, err error) {
	l := &imageLoader{f: newer}
	if err := l.read(); err != nil {
		return nil, err
	}
	var failed error
	plans, err = PlanImage(f, func(w *world.World) {
		for i := int(world.BuiltIn); i < len(l.im.Types) && failed == nil; i++ {
			_, failed = registerOpaque(w, &l.im.Types[i], true)
		}
	})
	return plans, errors.Join(failed, err)
}

// plan reports how a type maps.
func (x *imageMatch) plan() Plan {
	d := x.im.describe()
	p := Plan{Name: d.Name, Kind: d.Kind, Fate: x.fate, Err: x.err}
	if x.t == nil {
		return p
	}
	p.To = x.now.describe().Name
	if x.fate != Converted {
		return p
	}
	if x.by != nil {
		p.Notes = append(p.Notes, "a function converts "+x.by.Old.String()+" to "+x.by.New.String())
	}
	p.Notes = append(p.Notes, notesOf(x.changes)...)
	p.Notes = append(p.Notes, x.im.optionNotes(&x.now)...)
	return p
}
