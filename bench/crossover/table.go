package main

import (
	"fmt"
	"strconv"
	"strings"
)

// table returns the table of a page: a row a task, a column a number of entities, and from which
// number on Quarry is at least as fast in all columns.
func (r *result) table() string {
	var ns []int
	for _, p := range r.Points {
		if p.Task == r.Points[0].Task {
			ns = append(ns, p.N)
		}
	}
	var b strings.Builder
	b.WriteString("| task |")
	for _, n := range ns {
		b.WriteString(" " + thousands(n) + " |")
	}
	b.WriteString(" Quarry wins from |\n|---|" + strings.Repeat("---:|", len(ns)) + "---|\n")
	for _, t := range tasks {
		var cells []string
		from := "never"
		for _, p := range r.Points {
			if p.Task != t.name {
				continue
			}
			cells = append(cells, ratio(p.Ratio))
			switch {
			case p.Ratio > 1:
				from = "never"
			case from == "never":
				from = thousands(p.N)
			}
		}
		if len(cells) > 0 {
			fmt.Fprintf(&b, "| `%s`: %s | %s | %s |\n", t.name, t.what, strings.Join(cells, " | "), from)
		}
	}
	return b.String()
}

// ratio prints two figures; what Quarry wins is bold.
func ratio(v float64) string {
	digits := 2
	if v >= 9.95 {
		digits = 0
	} else if v >= 0.995 {
		digits = 1
	}
	text := strings.TrimPrefix(strconv.FormatFloat(v, 'f', digits, 64), "0")
	if v <= 1 {
		text = "**" + text + "**"
	}
	return text
}

// thousands prints a number with commas, and a million as 1 M.
func thousands(n int) string {
	if n%1_000_000 == 0 {
		return fmt.Sprint(n/1_000_000, " M")
	}
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
