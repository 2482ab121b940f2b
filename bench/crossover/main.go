package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"quarry/bench/host"
	"quarry/bench/progress"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // sides differ
	exitError = 2 // bad arguments, or no memory
)

const (
	usualRounds, quickRounds = 9, 1
	usualMost, quickMost     = 1_000_000, 1_000
	maxRounds                = 1000
)

// sizes are the numbers of entities that are measured.
var sizes = []int{10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000}

// result is what -json prints.
type result struct {
	host.Host
	Rounds int     `json:"rounds"`
	Points []point `json:"points"`
}

// point is a task with n entities. Times are the medians of the rounds.
type point struct {
	Task   string  `json:"task"`
	N      int     `json:"n"`
	Plain  float64 `json:"plain_ns"` // for the whole task
	Quarry float64 `json:"quarry_ns"`
	Ratio  float64 `json:"ratio"` // the median of the rounds' ratios
	Wrong  bool    `json:"wrong,omitempty"`
}

func command(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("crossover", flag.ContinueOnError)
	f.SetOutput(stderr)
	rounds := f.Int("rounds", usualRounds, "time both sides this many times in turns")
	quick := f.Bool("quick", false, "10 to 1,000 entities, one round")
	asJSON := f.Bool("json", false, "print an object instead of the table")
	from := f.String("from", "", "print the table of this `file`, which -json wrote")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitError
	}
	if f.NArg() > 0 || *rounds < 1 || *rounds > maxRounds {
		fmt.Fprintf(stderr, "crossover: expected -rounds of 1 to %d, and flags alone\n", maxRounds)
		return exitError
	}
	most := usualMost
	if *quick {
		*rounds, most = quickRounds, quickMost
	}
	r := &result{Host: host.Here(), Rounds: *rounds}
	var err error
	if *from != "" {
		r, err = read(*from)
	} else {
		err = r.measure(most)
	}
	if err != nil {
		fmt.Fprintf(stderr, "crossover: %v\n", err)
		return exitError
	}
	out := bufio.NewWriter(stdout)
	defer out.Flush()
	if *asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		_ = e.Encode(r) // an error is the writer's, and Flush keeps it
	} else {
		fmt.Fprintf(out, "%s, medians of %d rounds\n\n%s", r.Host, r.Rounds, r.table())
	}
	for _, p := range r.Points {
		if p.Wrong {
			fmt.Fprintf(stderr, "crossover: %s with %d entities: the sides differ\n", p.Task, p.N)
			return exitWrong
		}
	}
	return exitOK
}

func read(name string) (*result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (r *result) measure(most int) error {
	show, done := progress.Bar(os.Stderr, len(tasks)*len(sizes))
	defer done()
	for i, t := range tasks {
		for j, n := range sizes {
			if n > most {
				continue
			}
			show(i*len(sizes)+j, t.name)
			p, err := t.measure(n, r.Rounds)
			if err != nil {
				return err
			}
			r.Points = append(r.Points, p)
		}
	}
	return nil
}

// measure times both sides in turns, after one round of each that does not count.
func (t task) measure(n, rounds int) (p point, err error) {
	a := t.plain(n)
	b, err := t.quarry(n)
	if err != nil {
		return p, err
	}
	k := times(n)
	var plain, quarry, ratios []float64
	for round := range rounds + 1 {
		runtime.GC() // of what the other side has left
		x := timed(a, k)
		runtime.GC()
		y := timed(b, k)
		if round > 0 {
			plain, quarry, ratios = append(plain, x), append(quarry, y), append(ratios, y/x)
		}
	}
	p = point{
		Task: t.name, N: n, Plain: median(plain), Quarry: median(quarry), Ratio: median(ratios),
		Wrong: a.answer() != b.answer(),
	}
	return p, errors.Join(a.close(), b.close())
}

// timed returns ns for the task, of k times.
func timed(s side, k int) float64 {
	start := time.Now()
	for range k {
		s.do()
	}
	return max(1, float64(time.Since(start).Nanoseconds())) / float64(k)
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
