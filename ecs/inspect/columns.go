package inspect

import (
	"fmt"
	"reflect"
	"slices"

	"quarry/ecs"
)

// exportTable is an archetype on its way out.
type exportTable struct {
	w       *ecs.World
	a       *ecs.Archetype
	q       *ecs.Query // of all
	named   bool
	types   []ecs.ComponentInfo // of the archetype, and sparse ones
	columns []exportColumn
}

// exportColumn is a column behind those of entity and name.
type exportColumn struct {
	name  string
	of    int   // its type, by place in types
	path  []int // of the field
	holds holds
}

// holds is which part of its type a column shows.
type holds uint8

const (
	holdsField    holds = iota
	holdsPresence       // of a type without fields
	holdsBit            // the enable bit
)

// open returns the table of an archetype. Its caller closes the query.
func open(op string, a *ecs.Archetype) *exportTable {
	if a == nil {
		panic("inspect: " + op + ": the archetype is nil")
	}
	t := &exportTable{w: a.World(), a: a}
	if a.Len() > 0 && !slices.Contains(t.w.Archetypes(), a) {
		panic(fmt.Sprintf("inspect: %s: %v is an archetype of a snapshot, or was retired; take one of World.Archetypes",
			op, a))
	}
	t.q, t.types = ecs.NewQueryOfAll(t.w), a.Components()
	for _, c := range t.w.Components() {
		if c.Kind == ecs.KindSparse && t.has(c.Type) {
			t.types = append(t.types, c)
		}
	}
	for rows := range t.rows() {
		t.named = t.named || slices.ContainsFunc(rows.Entities(), func(e ecs.Entity) bool { return t.w.Name(e) != "" })
	}
	t.addColumns()
	return t
}

// rows returns the rows of the archetype.
func (t *exportTable) rows() func(yield func(ecs.Rows) bool) {
	return func(yield func(ecs.Rows) bool) {
		for rows := range t.q.Rows() {
			if rows.Archetype() == t.a && !yield(rows) {
				return
			}
		}
	}
}

// has reports whether a row has a sparse type.
func (t *exportTable) has(sparse ecs.Type) bool {
	q := ecs.NewQuery(t.w, ecs.Present(sparse), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	for rows := range q.Rows() {
		if rows.Archetype() == t.a && rows.Count() > 0 {
			return true
		}
	}
	return false
}

// addColumns adds the columns of all types.
func (t *exportTable) addColumns() {
	used := map[string]int{"entity": 1}
	if t.named {
		used["name"] = 1
	}
	add := func(c exportColumn) {
		if used[c.name]++; used[c.name] > 1 {
			c.name = fmt.Sprint(c.name, "#", used[c.name])
		}
		t.columns = append(t.columns, c)
	}
	for of, c := range t.types {
		before := len(t.columns)
		if c.Kind == ecs.KindBuffer {
			add(exportColumn{name: c.Name, of: of})
		} else {
			eachField(c.Name, c.Go, nil, func(name string, path []int) {
				add(exportColumn{name: name, of: of,
					path: path})
			})
		}
		if len(t.columns) == before {
			add(exportColumn{name: c.Name, of: of, holds: holdsPresence})
		}
		if c.Enableable {
			add(exportColumn{name: c.Name + ".enabled", of: of, holds: holdsBit})
		}
	}
}

// eachField calls add with the fields of a type, those of structs in it one by one.
func eachField(name string, t reflect.Type, path []int, add func(name string, path []int)) {
	if t.Kind() != reflect.Struct || isText(t) {
		add(name, slices.Clone(path))
		return
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Name != "_" {
			eachField(name+"."+f.Name, f.Type, append(path, i), add)
		}
	}
}

// cells calls row with the entity, the name and the cells of each row, which are good during the
// call.
func (t *exportTable) cells(row func(e ecs.Entity, name string, cells []cell) error) error {
	values, cells := make([]reflect.Value, len(t.types)), make([]cell, len(t.columns))
	for rows := range t.rows() {
		for i, e := range rows.Entities() {
			for of, c := range t.types {
				values[of] = copyOf(rows.Value(c.Type, i))
			}
			for i := range t.columns {
				cells[i] = t.cell(&t.columns[i], values, e)
			}
			name := ""
			if t.named {
				name = t.w.Name(e)
			}
			if err := row(e, name, cells); err != nil {
				return err
			}
		}
	}
	return nil
}

// switched is what handles of types with enable bits have.
type switched interface{ Enabled(ecs.Entity) bool }

// cell returns the cell of an entity in a column.
func (t *exportTable) cell(c *exportColumn, values []reflect.Value, e ecs.Entity) cell {
	v := values[c.of]
	switch {
	case !v.IsValid():
		return null
	case c.holds == holdsPresence:
		return cell{"true", false}
	case c.holds == holdsBit:
		return cell{fmt.Sprint(t.types[c.of].Type.(switched).Enabled(e)), false}
	}
	for _, i := range c.path {
		v = v.Field(i)
	}
	return cellOf(v)
}
