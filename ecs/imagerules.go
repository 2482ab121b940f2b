package ecs

import (
	"fmt"
	"slices"
	"strings"

	"quarry/internal/seam/under"
)

// Names of the program for types and fields of a file. The rules that rename are a program's
// history, and all of them are given for a file of any version:
//
//	rules                   Pos becomes Place, Place becomes Position
//	file of version 1       Pos      ->  Position
//	file of version 2       Place    ->  Position
//	file of version 3       Position     and perhaps a Pos, which is another type than that of then
//
// Invariants:
//
//	R1  Rules are followed to the end: what is between need not be there any more.
//	R2  Rules that lead to a name which the file has itself, of another type or field, say nothing
//	    about the file: it is from after the change.
//	R3  Rules that lead back to a name are refused, for a file from before looks like one from
//	    after.

// renaming is what rules make of a name.
type renaming struct {
	names []string // one after the other: the last is the one in the program
	void  bool     // the file has one of them (R2)
}

// rename follows so many rules from a name. apply returns what one makes of a name; present reports
// whether the file has a name.
func rename(name string, rules int, apply func(rule int, name string) (string, bool), present func(string) bool) (r renaming, err error) {
	next := func(name string) (string, bool) {
		for rule := range rules {
			if to, ok := apply(rule, name); ok {
				return to, true
			}
		}
		return "", false
	}
	for at := name; ; {
		to, ok := next(at)
		if !ok {
			return r, nil
		}
		circle := to == name || slices.Contains(r.names, to) || len(r.names) == rules // names may grow
		if r.names = append(r.names, to); circle {
			return r, fmt.Errorf("rules make it %s: they lead in a circle", strings.Join(r.names, ", then "))
		}
		r.void = r.void || present(to)
		at = to
	}
}

// last returns the name in the program of what has a name in the file.
func (r *renaming) last(name string) string {
	if r.void || len(r.names) == 0 {
		return name
	}
	return r.names[len(r.names)-1]
}

// typeNamed is a type of which only the name is known, with or without its package.
func typeNamed(name string) *deltaType { return &deltaType{name: name} }

// sameName reports whether two names, each with or without a package, can be of one type.
func sameName(a, b string) bool { return typeNamed(a).calls(b) || typeNamed(b).calls(a) }

// rename follows the rules for the name of a type of the file.
func (m *matcher) rename(d *deltaType) (renaming, error) {
	apply := func(rule int, name string) (string, bool) {
		r := &m.rules.Types[rule]
		return r.New, sameName(name, r.Old)
	}
	present := func(name string) bool {
		return slices.ContainsFunc(m.file, func(t imageType) bool { return t.kind == d.kind && t.calls(name) })
	}
	return rename(d.name, len(m.rules.Types), apply, present)
}

// fieldNames finds the names that the fields of a type have in the program.
type fieldNames struct {
	rules     []under.ImageFieldRename
	then, now *imageType
}

// fieldNames returns the rules for fields of a type, which they may call as the file, the program
// or a version between does.
func (m *matcher) fieldNames(x *imageMatch, now *imageType) *fieldNames {
	n := &fieldNames{then: x.im, now: now}
	names := append([]string{x.im.name, now.name}, x.rules.names...)
	for _, r := range m.rules.Fields {
		if slices.ContainsFunc(names, func(name string) bool { return sameName(name, r.Type) }) {
			n.rules = append(n.rules, r)
		}
	}
	return n
}

// rename follows the rules for the name of a field. in is what the last of them calls it, or the
// struct that it is in.
func (n *fieldNames) rename(name string) (r renaming, in string, err error) {
	ins := map[string]string{} // the names that rules have, by what they make of a name
	apply := func(rule int, name string) (string, bool) {
		r := &n.rules[rule]
		rest, ok := cutField(name, r.Old)
		if _, wraps := cutField(r.New, r.Old); wraps && ok { // it became one of a struct of its name
			if _, has := cutField(name, r.New); has || hasFieldIn(n.then.fields, r.New) {
				return "", false
			}
		}
		ins[r.New+rest] = r.New
		return r.New + rest, ok
	}
	r, err = rename(name, len(n.rules), apply, func(to string) bool { return hasFieldIn(n.then.fields, ins[to]) })
	if err != nil {
		return r, "", fmt.Errorf("%s: %w", name, err)
	}
	if len(r.names) > 0 {
		in = ins[r.names[len(r.names)-1]]
	}
	return r, in, nil
}

// inProgram returns the name of a field in the program. The error says that a rule gives it one
// that is not there, or that two fields have.
func (n *fieldNames) inProgram(name string) (string, error) {
	r, in, err := n.rename(name)
	if err != nil || len(r.names) == 0 {
		return name, err
	}
	to := r.names[len(r.names)-1]
	switch {
	case r.void && !hasField(n.now.fields, name):
		return "", fmt.Errorf("%s is %s in this program, by a rule, and the file has both", name, to)
	case !r.void && !hasFieldIn(n.now.fields, in):
		return "", fmt.Errorf("%s is %s in this program, by a rule, and there is no such field", name, to)
	}
	return r.last(name), nil
}

// check returns an error if rules for fields of the file lead in a circle.
func (n *fieldNames) check() error {
	for i := range n.then.fields {
		if _, _, err := n.rename(n.then.fields[i].name); err != nil {
			return err
		}
	}
	return nil
}

// cutField reports whether a name is that of a field or of one in it, and returns what follows.
func cutField(name, field string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, field)
	return rest, ok && (rest == "" || rest[0] == '.')
}

// hasField reports whether there is a field of a name.
func hasField(fields []imageField, name string) bool {
	return slices.ContainsFunc(fields, func(f imageField) bool { return f.name == name })
}

// hasFieldIn reports whether there is a field of a name, or one in it.
func hasFieldIn(fields []imageField, name string) bool {
	return slices.ContainsFunc(fields, func(f imageField) bool {
		_, ok := cutField(f.name, name)
		return ok
	})
}

// calls reports whether a name that a program gives is that of a type, with or without its package.
func (d *deltaType) calls(name string) bool {
	full := strings.TrimPrefix(d.name, ".") // as of string, which has no package
	own, parameters, generic := strings.Cut(full, "[")
	short := own[strings.LastIndexAny(own, "./")+1:]
	return name != "" && (name == full || name == short || generic && name == short+"["+parameters)
}
