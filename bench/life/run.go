package life

import (
	"errors"
	"fmt"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. The zero value runs the two patterns with known answers.
type Options struct {
	RLE    string // file with a pattern; "" = R-pentomino and acorn
	Gens   int    // generations; 0 = to the last known answer, or 1,000 for a file
	Rule   Rule   // zero = the pattern's own. The known answers are always those for B3/S23
	Repeat int    // how often each pattern is run, for a longer measurement; 0 = 5, or 1 for a file
}

const (
	defaultGens   = 1000
	defaultRepeat = 5
	tickEvery     = 64 // generations between two calls of progress
)

// board is either side. Its methods are called once a generation.
type board interface {
	Step() error
	Population() int
	Births() uint64
	Deaths() uint64
	Committed() int64
	Cells(dst []Cell) []Cell
	Verify() error
	Close() error
}

// task is a pattern to run and its known answers.
type task struct {
	pattern Pattern
	gens    int
	answers []Count
}

// Run runs the patterns on the plain side and then on an ECS world, and checks both: against the
// known answers of the built-in patterns, births and deaths against the population in each
// generation, the sides against each other in each generation, and all links at the end. A wrong
// result is not an error: OK is then false and Detail is the reason. An error means that the
// pattern could not be read or memory ran out. progress may be nil; it is called now and then with
// the generations done and their total.
func Run(opts Options, progress workload.Progress) (plain, ours workload.Side, err error) {
	tasks, err := plan(&opts)
	if err != nil {
		return workload.Side{}, workload.Side{}, err
	}
	r := &runner{tasks: tasks, repeat: opts.Repeat, progress: progress}
	for _, t := range tasks {
		r.total += 2 * t.gens * opts.Repeat
	}
	plain, first, err := r.run(func(p Pattern) (board, error) { return NewPlain(p) })
	if err != nil {
		return workload.Side{}, workload.Side{}, err
	}
	r.done = r.total / 2
	ours, second, err := r.run(func(p Pattern) (board, error) { return NewWorld(p) })
	if err != nil {
		return workload.Side{}, workload.Side{}, err
	}
	r.tick(r.total - r.done)
	for i := range tasks {
		if err := agree(first[i], second[i]); err != nil && plain.OK && ours.OK {
			ours.OK, ours.Detail = false, tasks[i].pattern.Name+": "+err.Error()
		}
	}
	return plain, ours, nil
}

// plan fills in the defaults and returns the patterns to run.
func plan(opts *Options) ([]task, error) {
	if opts.Gens < 0 || opts.Gens > maxGens {
		return nil, fmt.Errorf("life: expected 0 to %d generations, got %d", maxGens, opts.Gens)
	}
	var tasks []task
	if opts.RLE != "" {
		p, err := ReadRLE(opts.RLE)
		if err != nil {
			return nil, err
		}
		if p.Name == "" {
			p.Name = opts.RLE
		}
		tasks = []task{{pattern: p, gens: defaultGens}}
		opts.Repeat = max(opts.Repeat, 1)
	} else {
		tasks = []task{
			{pattern: RPentomino(), answers: rPentominoAnswers},
			{pattern: Acorn(), answers: acornAnswers},
		}
		if opts.Repeat <= 0 {
			opts.Repeat = defaultRepeat
		}
	}
	for i := range tasks {
		t := &tasks[i]
		if len(t.answers) > 0 {
			t.gens = t.answers[len(t.answers)-1].Generation
		}
		if opts.Gens > 0 {
			t.gens = opts.Gens
		}
		if opts.Rule != (Rule{}) {
			t.pattern.Rule = opts.Rule
		}
	}
	return tasks, nil
}

// agree compares two records generation by generation, up to the end of the shorter one.
func agree(plain, ours []Count) error {
	for i := range min(len(plain), len(ours)) {
		if err := ours[i].check(plain[i]); err != nil {
			return fmt.Errorf("%w as on the plain side", err)
		}
	}
	return nil
}

type runner struct {
	tasks    []task
	repeat   int
	progress workload.Progress
	done     int // generations, of both sides
	total    int
}

func (r *runner) tick(n int) {
	r.done += n
	if r.progress != nil {
		r.progress(min(r.done, r.total), r.total)
	}
}

// run runs every task on one side, repeat times over, and returns the record of the last round of
// each task. The boards of that round are kept to the end, so that the memory figures cover all
// patterns at once.
func (r *runner) run(open func(Pattern) (board, error)) (s workload.Side, records [][]Count, err error) {
	s = workload.Side{OK: true, Detail: r.describe(), Figures: map[string]float64{}}
	for _, t := range r.tasks {
		records = append(records, make([]Count, 0, min(t.gens, 1<<20)))
	}
	var boards []board
	defer func() {
		for _, b := range boards {
			err = errors.Join(err, b.Close())
		}
	}()
	before := workload.LiveHeap()
	for i, t := range r.tasks {
		for range r.repeat - 1 {
			if !s.OK {
				break // another round would be as wrong
			}
			b, _, err := r.play(t, open, &s, records[i])
			if b != nil {
				err = errors.Join(err, b.Close())
			}
			if err != nil {
				return s, nil, err
			}
		}
		b, record, err := r.play(t, open, &s, records[i])
		if b != nil {
			boards = append(boards, b)
		}
		if err != nil {
			return s, nil, err
		}
		records[i] = record
	}
	s.Heap = workload.LiveHeap() - before
	for i, b := range boards {
		finish(&s, b, r.tasks[i], records[i])
	}
	return s, records, nil
}

// play runs one task once. It stops early at a wrong answer. The caller closes the board if it is
// not nil, even after an error.
func (r *runner) play(t task, open func(Pattern) (board, error), s *workload.Side,
	record []Count) (board, []Count, error) {
	start := time.Now()
	b, err := open(t.pattern)
	s.Time += time.Since(start)
	if err != nil {
		return nil, nil, err
	}
	answers, initial := t.answers, len(t.pattern.Cells)
	for gen := 1; gen <= t.gens; gen++ {
		s.Ops += b.Population()
		start := time.Now()
		err := b.Step()
		s.Time += time.Since(start)
		if err != nil {
			return b, nil, err
		}
		now := Count{Generation: gen, Population: b.Population(), Births: b.Births(), Deaths: b.Deaths()}
		record = append(record, now)
		err = now.balance(initial)
		if len(answers) > 0 && answers[0].Generation == gen {
			err = errors.Join(err, now.check(answers[0]))
			answers = answers[1:]
		}
		if err != nil {
			s.Fail(t.pattern.Name + ": " + err.Error())
			break
		}
		if gen%tickEvery == 0 {
			r.tick(tickEvery)
		}
	}
	r.tick(t.gens % tickEvery)
	return b, record, nil
}

// describe returns what was checked on a side that is right.
func (r *runner) describe() string {
	if len(r.tasks[0].answers) == 0 {
		return "births and deaths account for every generation, all links are right at the end"
	}
	text := ""
	for i, t := range r.tasks {
		known := 0
		for known < len(t.answers) && t.answers[known].Generation <= t.gens {
			known++
		}
		if i > 0 {
			text += "; "
		}
		if known == 0 {
			text += t.pattern.Name + " before its first answer"
			continue
		}
		a := t.answers[known-1]
		text += fmt.Sprintf("%s %d at %d", t.pattern.Name, a.Population, a.Generation)
	}
	return text
}

// finish adds a board's figures to its side at the end.
func finish(s *workload.Side, b board, t task, record []Count) {
	s.Committed += b.Committed()
	if err := b.Verify(); err != nil {
		s.Fail(t.pattern.Name + ": " + err.Error())
	}
	created := uint64(len(t.pattern.Cells)) + b.Births()
	s.Figures["population"] += float64(b.Population())
	s.Figures["created"] += float64(created)
	s.Figures["destroyed"] += float64(b.Deaths())
	s.Figures["generations"] += float64(len(record))
	s.Drawings = append(s.Drawings, populations(t, record))
	if b.Population() <= drawnCells {
		s.Drawings = append(s.Drawings, cellsOf(t, len(record), b.Cells(nil)))
	}
	s.Lines = append(s.Lines, fmt.Sprintf(
		"%s, %v: population %d at generation %d; created %d (%d + %d births), destroyed %d",
		t.pattern.Name, t.pattern.Rule, b.Population(), len(record),
		created, len(t.pattern.Cells), b.Births(), b.Deaths()))
}
