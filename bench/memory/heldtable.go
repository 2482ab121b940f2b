package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// heldTable is how the rows of a family of workloads are printed that measure resident memory.
type heldTable struct {
	family, title string
	columns       []column
}

// column is one figure by its name in JSON.
type column struct{ title, figure string }

var heldTables = []heldTable{
	{"fragment", "fragment: resident MB above what was before, 90 % of the bytes freed at random", []column{
		{"live", "live_mb"}, {"at once", "at_once_mb"}, {"trimmed", "trimmed_mb"}, {"by itself", "itself_mb"},
		{"trim ms", "trim_ms"}, {"ns a block", nsPerOp}, {"left, trimmed", "left_mb"},
		{"left by itself", "left_itself_mb"},
	}},
	{"huge", "huge: resident bytes / bytes asked for, a hot pair, how many can live", []column{
		{"RSS/byte", rssPerByte}, {"ns/op", nsPerOp}, {"blocks", "live_blocks"},
	}},
	{"growth", "growth: a buffer grown by a quarter at a time", []column{
		{"ms", "ms"}, {"moves", "moves"}, {"peak/byte", "peak_per_byte"},
	}},
}

// heldTableOf is the table for a workload, nil if it has none of its own.
func heldTableOf(workload string) *heldTable {
	for i := range heldTables {
		if heldTables[i].family == family(workload) {
			return &heldTables[i]
		}
	}
	return nil
}

// printHeld prints the tables that have rows.
func printHeld(w io.Writer, rows []*row) {
	for i := range heldTables {
		heldTables[i].print(w, rows)
	}
}

func (h *heldTable) print(w io.Writer, rows []*row) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for _, r := range rows {
		if heldTableOf(r.workload) != h {
			continue
		}
		switch last {
		case "":
			fmt.Fprintln(w, h.title)
			fmt.Fprint(t, "workload\tallocator")
			for _, c := range h.columns {
				fmt.Fprint(t, "\t", c.title)
			}
			fmt.Fprintln(t, "\t")
		case r.workload:
		default:
			fmt.Fprintln(t, strings.Repeat("\t", len(h.columns)+2))
		}
		last = r.workload
		fmt.Fprintf(t, "%s\t%s", r.workload, r.allocator)
		for _, c := range h.columns {
			v, ok := r.figure(c.figure)
			fmt.Fprint(t, "\t", four(v, ok))
		}
		fmt.Fprintf(t, "\t%s\n", r.heldRemarks())
	}
	t.Flush()
	if last != "" {
		fmt.Fprintln(w)
	}
}

// heldRemarks are a wrong answer, the targets, and why a count ended before its number.
func (r *row) heldRemarks() string {
	text := r.remarks()
	for _, why := range []string{"refused", "stopped"} {
		if r.mid.More[why] > 0 {
			text = strings.TrimPrefix(text+"; "+why, "; ")
		}
	}
	return text
}

func four(v float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.4g", v)
}
