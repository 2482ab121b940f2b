package main

import (
	"fmt"
	"strings"
)

// A library is a library that a generated program uses.
type library struct {
	name  string
	write func(types int) string // the program's text
}

var libraries = []library{{"quarry", quarryProgram}, {"ark", arkProgram}}

// head begins a program: its imports and types. Each type's fields have names of their own, so that
// no two types have the same shape.
func head(types int, path string) *strings.Builder {
	b := &strings.Builder{}
	fmt.Fprintf(b, "package main\n\nimport (\n\t\"fmt\"\n\n\t%q\n)\n\n", path)
	for i := range types {
		fmt.Fprintf(b, "type T%d struct {\n\tX, Y float64\n\tZ%d   int32\n}\n\n", i, i)
	}
	b.WriteString("func main() {\n")
	return b
}

// tail ends a program: it reads, removes and adds each type. add is the text in front of a value
// passed to Add.
func tail(b *strings.Builder, types int, add string) string {
	for i := range types {
		fmt.Fprintf(b, "\tfmt.Println(*t%d.Get(e))\n\tt%d.Remove(e)\n\tt%d.Add(e, %sT%d{})\n", i, i, i, add, i)
	}
	b.WriteString("}\n")
	return b.String()
}

func quarryProgram(types int) string {
	b := head(types, "quarry/ecs")
	b.WriteString("\tw, err := ecs.NewWorld()\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tdefer w.Close()\n")
	all := make([]string, types)
	for i := range types {
		all[i] = fmt.Sprintf("t%d", i)
		fmt.Fprintf(b, "\tt%d := ecs.Register[T%d](w)\n", i, i)
	}
	fmt.Fprintf(b, "\te := ecs.NewArchetype(w, %s).Create()\n", strings.Join(all, ", "))
	for i := range types {
		fmt.Fprintf(b, "\tt%d.Set(e, T%d{X: %d})\n", i, i, i)
	}
	for i := 0; i+1 < types; i += 2 {
		fmt.Fprintf(b, `	for rows := range ecs.NewQuery(w, ecs.Write(t%d), ecs.Read(t%d)).Rows() {
		p, v := t%d.Slice(rows), t%d.Slice(rows)
		for i := range p {
			p[i].X += v[i].X
		}
	}
`, i, i+1, i, i+1)
	}
	return tail(b, types, "")
}

func arkProgram(types int) string {
	b := head(types, "github.com/mlange-42/ark/ecs")
	b.WriteString("\tw := ecs.NewWorld()\n")
	for i := range types {
		fmt.Fprintf(b, "\tt%d := ecs.NewMap1[T%d](w)\n", i, i)
	}
	b.WriteString("\te := w.NewEntity()\n")
	for i := range types {
		fmt.Fprintf(b, "\tt%d.Add(e, &T%d{X: %d})\n", i, i, i)
	}
	for i := 0; i+1 < types; i += 2 {
		fmt.Fprintf(b, `	q%d := ecs.NewFilter2[T%d, T%d](w).Query()
	for q%d.Next() {
		p, v := q%d.Get()
		p.X += v.X
	}
`, i, i, i+1, i, i)
	}
	return tail(b, types, "&")
}
