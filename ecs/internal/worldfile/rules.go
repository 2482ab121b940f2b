package worldfile

import (
	"fmt"
	"slices"
	"strings"

	"quarry/ecs/internal/world"
)

// Names of the program for types and fields of a file. The rules that rename are a program's
// history, oldest first, and all of them are given for a file of any version. Each is applied once,
// in order, to all names that the file then has:
//
//	rules                   Lon becomes Z    Lat becomes Lon
//	file of version 1       Lat Lon     ->   Lat Z         ->   Lon Z
//	file of version 2       Lat Z            Lat Z         ->   Lon Z
//	file of version 3       Lon Z            Lon Z              Lon Z
//	file of version 4       Lon Z Lat        Lon Z Lat          Lon Z Lat     a new Lat
//
// Invariants:
//
//	R1  A rule is applied to names as the rules before it have left them, and to all that it
//	    concerns at once.
//	R2  A rule whose new name is there already says nothing about the file, which is from after the
//	    change; nor do the rules before it that led to its old name.
//	R3  What a rule names is not lost: a name that the program does not have is an error, and so
//	    are names that rules exchange, for a file from before looks like one from after.

// renaming is what rules make of one name.
type renaming struct {
	names []string // in the file, and what rules made of it, one after the other
	void  string   // what a rule would have made of it, had the file not had that name (R2)
	in    string   // of a field: the new name of the last rule, of the field or of a struct around it
}

// last returns the name in the program.
func (r *renaming) last() string { return r.names[len(r.names)-1] }

// renamed reports whether a rule was applied.
func (r *renaming) renamed() bool { return len(r.names) > 1 }

// setVoid notes a rule that does not apply to the file (R2).
func (r *renaming) setVoid(name string) { r.names, r.void = r.names[:1], name }

// begin returns the renaming of a name before any rule.
func begin(name string) renaming { return renaming{names: []string{name}} }

// exchanged returns an error if rules would exchange one name of a list with others (R3). same
// reports whether two names are one.
func exchanged(list []renaming, one *renaming, same func(a, b string) bool) error {
	at := one.void
	if at == "" {
		return nil
	}
	for range list {
		i := slices.IndexFunc(list, func(r renaming) bool { return at != "" && same(r.last(), at) })
		switch {
		case i < 0:
			return nil
		case list[i].last() == one.last():
			return fmt.Errorf("rules exchange %s and %s, and a file from before looks like one from after",
				one.last(), one.void)
		}
		at = list[i].void
	}
	return nil
}

// renameTypes applies the rules for names of types.
func (m *matcher) renameTypes() {
	m.names = make([]renaming, len(m.file))
	for i := range m.file {
		m.names[i] = begin(m.file[i].Name)
	}
	for _, rule := range m.rules.Types {
		concerns := func(i int) bool { return i >= int(world.BuiltIn) && sameName(m.names[i].last(), rule.Old) }
		taken := func(i int) bool { return sameName(m.names[i].last(), rule.New) && !concerns(i) }
		next := slices.Clone(m.names)
		for i := range next {
			if !concerns(i) {
				continue
			}
			has := false
			for k := range m.file {
				has = has || m.file[k].Kind == m.file[i].Kind && taken(k)
			}
			if has {
				next[i].setVoid(rule.New)
			} else {
				next[i].names = append(slices.Clip(next[i].names), rule.New)
			}
		}
		m.names = next
	}
}

// isCalled reports whether names that a program gives have one of the type, before or after a rule.
func (r *renaming) isCalled(names ...string) bool {
	for _, own := range r.names {
		if slices.ContainsFunc(names, func(name string) bool { return sameName(own, name) }) {
			return true
		}
	}
	return false
}

// fieldNames are the names that the fields of a type have in the program.
type fieldNames struct {
	rules []FieldRename
	list  []renaming
	now   *ImageType
}

// fieldNames applies the rules for fields of a type, which they may call as the file, the program
// or a version between does.
func (m *matcher) fieldNames(x *imageMatch, now *ImageType) *fieldNames {
	n := &fieldNames{now: now}
	for _, r := range m.rules.Fields {
		if x.rules.isCalled(r.Type) || sameName(now.Name, r.Type) {
			n.rules = append(n.rules, r)
		}
	}
	for i := range x.im.Fields {
		if f := &x.im.Fields[i]; !f.isBlank() {
			n.list = append(n.list, begin(f.Name))
		}
	}
	for i := range n.rules {
		n.apply(&n.rules[i])
	}
	return n
}

// apply applies a rule.
func (n *fieldNames) apply(rule *FieldRename) {
	rest := make([]string, len(n.list)) // of the names that it concerns
	concerns := make([]bool, len(n.list))
	for i := range n.list {
		rest[i], concerns[i] = cutField(n.list[i].last(), rule.Old)
	}
	_, wraps := cutField(rule.New, rule.Old) // a field becomes one of a struct of its name
	void := false
	for i := range n.list {
		name := n.list[i].last()
		if _, in := cutField(name, rule.New); in && wraps {
			void = true
		}
		for k := range n.list {
			void = void || concerns[k] && !concerns[i] && name == rule.New+rest[k]
		}
	}
	for i := range n.list {
		r := &n.list[i]
		switch {
		case !concerns[i]:
		case void:
			r.setVoid(rule.New + rest[i])
		default:
			r.names, r.in = append(r.names, rule.New+rest[i]), rule.New
		}
	}
}

// inProgram returns the name of a field in the program. An error means that a rule gives it one
// that is not there.
func (n *fieldNames) inProgram(name string) (string, error) {
	i := slices.IndexFunc(n.list, func(r renaming) bool { return r.names[0] == name })
	r := &n.list[i]
	if err := exchanged(n.list, r, sameField); err != nil {
		return "", err
	}
	to := r.last()
	if hasField(n.now.Fields, to) {
		return to, nil
	}
	const order = "rules apply in their order"
	switch named := slices.ContainsFunc(n.rules, func(rule FieldRename) bool { return rule.Old == name }); {
	case r.void != "":
		return "", fmt.Errorf("%s is %s in this program, by a rule, and the file has both; %s", name, r.void, order)
	case r.renamed() && (named || to == r.in || !hasFieldIn(n.now.Fields, r.in)):
		return "", fmt.Errorf("%s is %s in this program, by a rule, and there is no such field; %s", name, to, order)
	}
	return to, nil // it is lost: no rule names it
}

// check returns an error if rules for fields exchange names.
func (n *fieldNames) check() error {
	for i := range n.list {
		if err := exchanged(n.list, &n.list[i], sameField); err != nil {
			return err
		}
	}
	return nil
}

// sameField reports whether two names are of one field.
func sameField(a, b string) bool { return a == b }

// cutField reports whether a name is that of a field or of one in it, and returns what follows.
func cutField(name, field string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, field)
	return rest, ok && (rest == "" || rest[0] == '.')
}

// hasField reports whether there is a field of a name.
func hasField(fields []ImageField, name string) bool {
	return slices.ContainsFunc(fields, func(f ImageField) bool { return f.Name == name })
}

// hasFieldIn reports whether there is a field of a name, or one in it.
func hasFieldIn(fields []ImageField, name string) bool {
	return slices.ContainsFunc(fields, func(f ImageField) bool {
		_, ok := cutField(f.Name, name)
		return ok
	})
}

// typeNamed is a type of which only the name is known, with or without its package.
func typeNamed(name string) *world.Description { return &world.Description{Name: name} }

// sameName reports whether two names, each with or without a package, can be of one type.
func sameName(a, b string) bool { return calls(typeNamed(a), b) || calls(typeNamed(b), a) }

// calls reports whether a name that a program gives is that of a type, with or without its package.
func calls(d *world.Description, name string) bool {
	full := strings.TrimPrefix(d.Name, ".") // as of string, which has no package
	own, parameters, generic := strings.Cut(full, "[")
	short := own[strings.LastIndexAny(own, "./")+1:]
	return name != "" && (name == full || name == short || generic && name == short+"["+parameters)
}
