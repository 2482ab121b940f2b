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
	a    *allocator
	row  *row
}

// start runs the task in a process of its own.
func (t task) start() (sample, error) {
	if t.a.peer != nil {
		return t.a.peer.start(t.spec)
	}
	return t.spec.start()
}

// recording is a trace to replay.
type recording struct {
	name, path string
	calls      string // the file that children read; see calls.go
}

// quickFile is the size of the largest recording that -quick replays, in bytes.
const quickFile = 1 << 20

// recordings lists the traces: the generated one, and the files of the data
// folder in the order of their names.
func recordings(folder string, isQuick bool) (list []recording, leftOut []string, err error) {
	list = []recording{{name: builtIn, path: builtIn}}
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
		list = append(list, recording{name: name, path: path})
		return err
	})
	return list, leftOut, err
}

// plan is what there is to do.
type plan struct {
	round []task // of one round, grouped by workload
	once  []task // second methods: memory differs little from round to round
	rows  []*row
}

// add plans a spec on an allocator.
func (p *plan) add(name string, a *allocator, sp spec) {
	r := newRow(name, a)
	p.rows = append(p.rows, r)
	p.round = append(p.round, task{sp, a, r})
}

// addSecond plans the second method for the row that was added last.
func (p *plan) addSecond(a *allocator, sp spec) {
	sp.Second = true
	p.once = append(p.once, task{sp, a, p.rows[len(p.rows)-1]})
}

// plan lists the tasks of all workloads that are wanted, on all allocators.
func (o *options) plan(ref *reference, list []recording, all []*allocator) *plan {
	p := &plan{}
	for i := range workloads {
		w := &workloads[i]
		for _, a := range all {
			if !o.wants(w.name) || !w.takes(a) || w.long && o.quick {
				continue
			}
			sp := spec{Workload: w.name, Allocator: a.name, Quick: o.quick}
			p.add(w.name, a, sp)
			if w.second {
				p.addSecond(a, sp)
			}
		}
	}
	for _, t := range list {
		for _, a := range all {
			if a.replays() {
				p.addTrace(t, a, spec{
					Workload: tracesName, Allocator: a.name, Quick: o.quick,
					Trace: t.name, Calls: t.calls, Long: (a.ours || a.peer != nil) && ref.has(t.name),
				})
			}
		}
	}
	return p
}

// addTrace plans a trace on an allocator, and the ways to measure its footprint.
func (p *plan) addTrace(t recording, a *allocator, sp spec) {
	p.add(tracesName+"/"+t.name, a, sp)
	if a.reuses {
		return
	}
	p.addSecond(a, sp)
	if sp.Lean = a.lean != nil && !sp.Quick; sp.Lean {
		p.addSecond(a, sp)
	}
}

// traces finds the recordings to replay and their reference; both are empty if none are wanted.
func (o *options) traces(stderr io.Writer) (list []recording, ref *reference, err error) {
	ref = &reference{}
	if !o.wants(tracesName) {
		return nil, ref, nil
	}
	folder, err := dataFolder()
	if err != nil {
		return nil, nil, err
	}
	list, leftOut, err := recordings(folder, o.quick)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case folder == "":
		fmt.Fprintln(stderr, "memory: no recorded traces (set QUARRY_DATA): only the generated one is replayed")
	case len(leftOut) > 0:
		fmt.Fprintf(stderr, "memory: left out by -quick: %s\n", strings.Join(leftOut, ", "))
	}
	if file := filepath.Join(folder, "REFERENCE.csv"); folder != "" && existing(file) != "" {
		ref, err = readReference(file)
	}
	return list, ref, err
}

// measure starts all children and returns the rows.
func (o *options) measure(stderr io.Writer) ([]*row, *reference, error) {
	list, ref, err := o.traces(stderr)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "quarry-memory-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	all := pointers(allocators)
	if o.wantsPeers() {
		all = append(all, pointers(openPeers(dir, stderr))...)
	}
	if err := writeCalls(list, dir); err != nil {
		return nil, nil, err
	}
	p := o.plan(ref, list, all)
	if err := p.start(o.rounds); err != nil {
		return nil, nil, err
	}
	return p.figures(ref, o.quick), ref, nil
}

func pointers(list []allocator) (out []*allocator) {
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

// figures works out medians, means and verdicts, and returns all rows.
func (p *plan) figures(ref *reference, isQuick bool) []*row {
	for _, r := range p.rows {
		r.settle()
	}
	rows := append(p.rows, means(p.rows, ref)...)
	noteHarness(rows)
	compare(rows)
	for _, r := range rows {
		r.judge(isQuick)
	}
	return rows
}

// start runs the tasks one after the other: second methods once, the others as often as there are
// rounds.
func (p *plan) start(rounds int) error {
	tasks := slices.Concat(p.once, slices.Concat(slices.Repeat([][]task{p.round}, rounds)...))
	show, done := progress.Bar(os.Stderr, len(tasks))
	defer done()
	for i, t := range tasks {
		show(i, t.row.workload)
		s, err := t.start()
		if err != nil {
			return err
		}
		t.row.add(t.spec, s)
	}
	return nil
}
