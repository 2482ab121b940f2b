package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/bench/progress"
)

// task is one child to start, and the row for its sample.
type task struct {
	spec spec
	row  *row
}

// recording is a trace to replay.
type recording struct {
	name, path string
}

// quickFile is the size of the largest recording that -quick replays, in bytes.
const quickFile = 1 << 20

// recordings lists the traces: the generated one, and the files of the data
// folder in the order of their names.
func recordings(folder string, isQuick bool) (list []recording, leftOut []string, err error) {
	list = []recording{{builtIn, builtIn}}
	if folder == "" {
		return list, nil, nil
	}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || d.IsDir() || ext != ".zip" && ext != ".trace" && ext != ".rep" {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		info, err := d.Info()
		if err == nil && isQuick && info.Size() > quickFile {
			leftOut = append(leftOut, name)
			return nil
		}
		list = append(list, recording{name, path})
		return err
	})
	return list, leftOut, err
}

// plan lists the tasks of one round, grouped by workload, and the tasks that run only once:
// footprints.
func (o *options) plan(ref *reference, list []recording) (round, once []task, rows []*row) {
	add := func(name string, a *allocator, sp spec) *row {
		r := &row{workload: name, allocator: a.name, ours: a.ours}
		sp.Allocator, sp.Quick = a.name, o.quick
		rows = append(rows, r)
		round = append(round, task{sp, r})
		return r
	}
	for i := range workloads {
		w := &workloads[i]
		for k := range allocators {
			if a := &allocators[k]; o.wants(w.name) && w.takes(a) {
				add(w.name, a, spec{Workload: w.name})
			}
		}
	}
	if !o.wants(tracesName) {
		return round, nil, rows
	}
	for _, t := range list {
		for k := range allocators {
			a := &allocators[k]
			if a.blocks == nil {
				continue
			}
			sp := spec{Workload: tracesName, Trace: t.path, Long: a.ours && ref.has(t.name)}
			r := add(tracesName+"/"+t.name, a, sp)
			if a.lean != nil {
				sp.Allocator, sp.Quick, sp.Footprint = a.name, o.quick, true
				once = append(once, task{sp, r})
			}
		}
	}
	return round, once, rows
}

// measure starts all children and returns the rows.
func (o *options) measure(stderr io.Writer) ([]*row, *reference, error) {
	ref := &reference{}
	var list []recording
	if o.wants(tracesName) {
		folder, err := dataFolder()
		if err != nil {
			return nil, nil, err
		}
		var leftOut []string
		if list, leftOut, err = recordings(folder, o.quick); err != nil {
			return nil, nil, err
		}
		switch {
		case folder == "":
			fmt.Fprintln(stderr, "memory: no recorded traces (set QUARRY_DATA): only the generated one is replayed")
		case len(leftOut) > 0:
			fmt.Fprintf(stderr, "memory: left out by -quick: %s\n", strings.Join(leftOut, ", "))
		}
		if file := filepath.Join(folder, "REFERENCE.csv"); folder != "" && existing(file) != "" {
			if ref, err = readReference(file); err != nil {
				return nil, nil, err
			}
		}
	}
	round, once, rows := o.plan(ref, list)
	if err := o.start(slices.Concat(once, slices.Concat(slices.Repeat([][]task{round}, o.rounds)...))); err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		r.settle()
	}
	if o.wants(tracesName) {
		rows = append(rows, means(rows, ref)...)
	}
	noteHarness(rows)
	for _, r := range rows {
		r.judge()
	}
	return rows, ref, nil
}

// start runs the tasks one after the other.
func (o *options) start(tasks []task) error {
	show, done := progress.Bar(os.Stderr, len(tasks))
	defer done()
	for i, t := range tasks {
		show(i, t.row.workload)
		s, err := t.spec.start()
		if err != nil {
			return err
		}
		if t.spec.Footprint {
			t.row.foot = s
		} else {
			t.row.samples = append(t.row.samples, s)
		}
	}
	return nil
}
