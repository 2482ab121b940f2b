// Mutants breaks Quarry in one place at a time and reports which test notices.
//
//	go run ./fuzz/mutants                       all of them: one build, then a test each
//	go run ./fuzz/mutants -only 'ecs World'     those whose place or text contains it
//	go run ./fuzz/mutants -record               and writes the tests and their seconds into the table
//	go run ./fuzz/mutants -update               runs nothing: corrects the table where code has moved
//
// A mutant is some Go code in a function of a package, and its replacement (table.go, pattern.go):
// a comparison flipped, a check dropped, a bit or record not updated. It is found by the syntax
// tree, wherever the function moves (place.go). The source tree is not touched: changed files are
// an overlay of one build that has all mutants, which are off until an environment variable names
// one (instrument.go). The command runs the test that the table names and, if that does not notice,
// the tests of the package and of all packages that import it (lab.go). The exit status is 1 if no
// test notices a mutant; one that hangs is stopped after a minute.
//
// The table is table.txt. To add a mutant, for what you would not want to break unseen, write the
// package and the function, then lines with - for what is replaced and with + for what takes its
// place (Go: an expression or statements; $x is any expression, $*x any number of statements), and
// run -only 'the function' -record, which finds a test that notices. Where code has moved to
// another file, nothing needs a change; after a move to another package or type, or where names
// have become others, run -update, which shows the function as it is now where it finds no place.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

type options struct {
	root           string
	only           []string // texts, of which a mutant has one; none: all mutants
	record, update bool
	jobs           int
}

func main() {
	var o options
	flag.Func("only", "the mutants whose place or text has this `text`; given several times, any of the texts",
		func(text string) error {
			o.only = append(o.only, text)
			return nil
		})
	flag.StringVar(&o.root, "root", ".", "the `folder` that Quarry is in")
	flag.BoolVar(&o.record, "record", false, "write the tests that notice, and their seconds, into the table")
	flag.BoolVar(&o.update, "update", false, "write the places of code that has moved into the table, and run nothing")
	flag.IntVar(&o.jobs, "j", runtime.GOMAXPROCS(0), "the `number` of tests that run at the same time")
	flag.Parse()
	if err := o.main(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o *options) main() error {
	table, err := readTable(o.root)
	if err != nil {
		return err
	}
	tree, err := load(o.root)
	if err != nil {
		return err
	}
	var list []*mutant
	for _, m := range table.mutants {
		if len(o.only) == 0 ||
			slices.ContainsFunc(o.only, func(text string) bool { return strings.Contains(m.String(), text) }) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("no mutant has %q", o.only)
	}
	places, moved, err := tree.locateAll(list)
	for _, line := range moved {
		fmt.Println(line)
	}
	if o.update {
		return errors.Join(err, table.write(o.root))
	}
	if err != nil {
		return err
	}
	err = runAll(tree, list, places, o.jobs)
	if o.record {
		err = errors.Join(err, table.write(o.root))
	}
	return err
}

// runAll builds and runs the mutants of the list, sets their verdicts, and prints its progress. The
// error has the number of those that survived or had no verdict.
func runAll(t *tree, list []*mutant, places []place, jobs int) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lab, err := newLab(t, places, dir)
	if err != nil {
		return err
	}
	if err := lab.build(list); err != nil {
		return err
	}
	p := progress{of: len(list)}
	var group sync.WaitGroup
	slots := make(chan struct{}, max(jobs, 1))
	for i, m := range list {
		slots <- struct{}{}
		group.Go(func() {
			v, err := lab.judge(i+1, m)
			p.add(m, v, err)
			<-slots
		})
	}
	group.Wait()
	if p.survivors+p.broken > 0 {
		return fmt.Errorf("%d survived, %d had no verdict", p.survivors, p.broken)
	}
	return nil
}

// A progress counts verdicts.
type progress struct {
	sync.Mutex
	done, of, survivors, broken int
}

// add sets the verdict of m and prints it.
func (p *progress) add(m *mutant, v verdict, err error) {
	p.Lock()
	defer p.Unlock()
	p.done++
	fmt.Printf("%d/%d %v: ", p.done, p.of, m)
	switch {
	case err != nil:
		p.broken++
		fmt.Println(err)
		return
	case v.test == "":
		p.survivors++
		fmt.Println("NOTHING notices")
	case m.by.test != "" && (m.by.pkg != v.pkg || m.by.test != v.test):
		fmt.Printf("%s.%s %s, and not %s.%s\n", v.pkg, v.test, v.seconds, m.by.pkg, m.by.test)
	default:
		fmt.Printf("%s.%s %s\n", v.pkg, v.test, v.seconds)
	}
	m.by = v
}
