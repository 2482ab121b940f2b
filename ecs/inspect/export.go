package inspect

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"

	"quarry/ecs"
)

// WriteCSV writes the rows of an archetype as CSV (RFC 4180): a line with the names of the columns,
// then one for each row, in the order of rows. See the package comment for the columns. It panics
// for an archetype of a snapshot, and where ecs.NewQueryOfAll does.
func WriteCSV(out io.Writer, a *ecs.Archetype) error {
	checkWriter("WriteCSV", out)
	t := open("WriteCSV", a)
	defer t.q.Close()
	w := csv.NewWriter(out)
	record := []string{"entity"}
	if t.named {
		record = append(record, "name")
	}
	for i := range t.columns {
		record = append(record, t.columns[i].name)
	}
	err := w.Write(record)
	if err == nil {
		err = t.cells(func(e ecs.Entity, name string, cells []cell) error {
			record = append(record[:0], e.String())
			if t.named {
				record = append(record, name)
			}
			for _, c := range cells {
				if c == null {
					c.words = ""
				}
				record = append(record, c.words)
			}
			return w.Write(record)
		})
	}
	if w.Flush(); err == nil {
		err = w.Error()
	}
	if err != nil {
		return fmt.Errorf("inspect: WriteCSV: the writer failed: %w", err)
	}
	return nil
}

// WriteJSON writes the rows of an archetype as JSON lines: an object for each row, with the same
// columns as in CSV, in their order. It panics like WriteCSV.
func WriteJSON(out io.Writer, a *ecs.Archetype) error {
	checkWriter("WriteJSON", out)
	t := open("WriteJSON", a)
	defer t.q.Close()
	w := bufio.NewWriter(out)
	keys := make([][]byte, len(t.columns))
	for i := range keys {
		keys[i] = append(append([]byte{','}, marshal(t.columns[i].name)...), ':')
	}
	var line []byte
	err := t.cells(func(e ecs.Entity, name string, cells []cell) error {
		line = append(append(append(line[:0], `{"entity":"`...), e.String()...), '"')
		if t.named {
			line = append(line, `,"name":`...)
			line = appendCell(line, cell{name, true})
		}
		for i, c := range cells {
			line = appendCell(append(line, keys[i]...), c)
		}
		_, err := w.Write(append(line, '}', '\n'))
		return err
	})
	if failed := w.Flush(); err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("inspect: WriteJSON: the writer failed: %w", err)
	}
	return nil
}

// checkWriter panics for a writer that is nil.
func checkWriter(op string, out io.Writer) {
	if out == nil {
		panic("inspect: " + op + ": the writer is nil")
	}
}
