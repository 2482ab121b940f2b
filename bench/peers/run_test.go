package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/bench/child"
)

// TestMain lets a child process be the command itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child.Flag {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// testBudget is one sample or a few.
var testBudget = budget{time.Microsecond, time.Millisecond}

// TestEveryWay runs every entrant on every workload with few entities and checks the results. Two
// rounds run, so that trials are reused as well as rebuilt.
func TestEveryWay(t *testing.T) {
	for i := range workloads {
		w := &workloads[i]
		for _, n := range []int{1, 64} {
			for _, way := range waysOf(w.name) {
				c := &contender{way: way, n: n}
				if w.apart() {
					a, err := spec{w.name, way.entrant, n, testBudget.timed, testBudget.wall}.run()
					require.NoError(t, err, "%s on %s", way.entrant, w.name)
					require.Empty(t, a.Wrong, "%s on %s", way.entrant, w.name)
					continue
				}
				for range 2 {
					require.NoError(t, c.begin())
					_, off := c.t.(offHeap)
					require.Equal(t, way.library() == ours, off, "%s on %s: method committed", way.entrant, w.name)
					require.NoError(t, c.round(testBudget), "%s on %s, n=%d", way.entrant, w.name, n)
				}
				require.NoError(t, c.end())
				require.Empty(t, c.wrong, "%s on %s, n=%d", way.entrant, w.name, n)
				require.Len(t, c.rounds, 2)
				require.Positive(t, c.rounds[0], "%s on %s, n=%d", way.entrant, w.name, n)
				require.Positive(t, c.passes)
				require.True(t, c.weighed, "%s on %s", way.entrant, w.name)
				if way.library() == ours {
					require.Positive(t, c.held, "%s on %s", way.entrant, w.name)
				}
			}
		}
	}
}

// TestKeptTrial measures a trial that all rounds share.
func TestKeptTrial(t *testing.T) {
	for _, name := range []string{"query2comp", "create2comp", "add_remove"} {
		for _, way := range waysOf(name) {
			c := &contender{way: way, n: 64, room: 1 << 30}
			require.NoError(t, c.begin())
			c.keep = true
			first := c.t
			for range 3 {
				require.NoError(t, c.round(testBudget))
				require.Empty(t, c.wrong, "%s on %s", way.entrant, name)
				require.True(t, first == c.t)
			}
			require.NoError(t, c.end())
		}
	}
}

// TestNames: every workload has an entrant, every way a workload, no way is
// listed twice, and the sizes can be run.
func TestNames(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, w := range ways {
		require.NotNil(t, workloadNamed(w.workload), w.workload)
		require.NotNil(t, libraryNamed(w.library()), "the first word of %q is no library", w.entrant)
		key := [2]string{w.workload, w.entrant}
		require.False(t, seen[key], "%v is there twice", key)
		seen[key] = true
	}
	for i := range workloads {
		w := &workloads[i]
		require.NotEmpty(t, waysOf(w.name), w.name)
		require.LessOrEqual(t, slices.Max(w.sizes), w.most(), w.name)
	}
	_, err := wayNamed("random", "nobody")
	require.ErrorContains(t, err, `no entrant "nobody" of workload "random"`)
}

// TestLibraries: every library takes part in every workload of go-ecs-benchmarks.
func TestLibraries(t *testing.T) {
	for _, name := range []string{
		"query2comp", "query32arch", "query256arch", "random", "create2comp", "create2comp_alloc", "create10comp",
		"add_remove", "add_remove_large", "delete2comp", "delete10comp", "new_world",
	} {
		for _, library := range []string{quarry, ark, arche, volt, donburi, uot} {
			_, err := wayNamed(name, library)
			require.NoError(t, err)
		}
	}
}

// TestEntrants: two libraries do not run the largest size of the queries, and only of those.
func TestEntrants(t *testing.T) {
	for _, name := range []string{"query2comp", "query32arch", "query256arch"} {
		w := workloadNamed(name)
		require.Len(t, w.entrants(large), len(waysOf(name)))
		require.Len(t, w.entrants(large+1), len(waysOf(name))-3)
	}
	require.Len(t, workloadNamed("random").entrants(million), len(waysOf("random")))
}

// TestTargets: each target names a workload, and peers that take part in it.
func TestTargets(t *testing.T) {
	for _, target := range targets {
		w := workloadNamed(target.workload)
		require.NotNil(t, w, target.workload)
		fits := func(n int) bool { return target.least <= n && n <= target.most }
		require.True(t, slices.ContainsFunc(w.sizes, fits), w.name)
		for _, e := range slices.Concat(target.floor.of, target.goal.of) {
			_, err := wayNamed(w.name, e)
			require.NoError(t, err)
		}
	}
}

// standing is a trial that does nothing, and is wrong if a flag is set.
type standing struct {
	endless
	wrong bool
}

func (s standing) pass(times int) { time.Sleep(time.Duration(times) * time.Microsecond) }

func (s standing) check(int) error {
	if s.wrong {
		return wrong("got 1, want 2")
	}
	return nil
}

// made is a contender with made-up figures.
func made(entrant string, figures ...float64) *contender {
	return &contender{way: &way{entrant: entrant}, n: usual, rounds: figures}
}

// TestPaired: a machine that is slower in some rounds does not change a ratio.
func TestPaired(t *testing.T) {
	r := &result{w: workloadNamed("random"), n: usual, list: []*contender{
		made(quarry, 1, 9, 2), made(quarryMany, 8, 8, 8), made(ark, 2, 18, 4), made(arche),
	}}
	require.InDelta(t, 0.5, r.paired(quarry, ark), 1e-9)
	require.Zero(t, r.paired(quarry, arche))
	r.judge()
	require.Equal(t, "0.500 of ark, at most 1.1 holds", r.verdicts[0].floor.String())
}

func TestJudge(t *testing.T) {
	r := &result{w: workloadNamed("random"), n: usual, list: []*contender{
		made(quarry, 3, 1, 2), made(quarryMany, 1.9), made(ark, 2), made(arche, 1, 1, 1),
	}}
	r.judge()
	require.Len(t, r.verdicts, 1)
	v := r.verdicts[0]
	require.Equal(t, quarryMany, v.whose)
	require.Equal(t, 1.9, v.got)
	require.Equal(t, "0.950 of ark, at most 1.1 holds", v.floor.String())
	require.Equal(t, "0.950 of ark, at most 0.9 MISSED", v.goal.String())
	o := r.entry(r.list[1])
	require.Equal(t, 1.1, *o.Floor)
	require.True(t, *o.HoldsFloor)
	require.False(t, *o.HoldsGoal)
	require.Equal(t, "ark", *o.GoalOf)
	require.InDelta(t, 0.95, *o.GoalRatio, 1e-9)
	require.Equal(t, "arche", *o.BestPeer)
	require.InDelta(t, 1.9, *o.Ratio, 1e-9)
	require.Nil(t, r.entry(r.list[0]).Floor)
	require.InDelta(t, 2, *r.entry(r.list[0]).Ratio, 1e-9)
	require.Nil(t, r.entry(r.list[3]).Ratio)

	r.list[2].wrong = "broken" // a wrong peer does not count
	r.verdicts = nil
	r.judge()
	require.Equal(t, "not measured", r.verdicts[0].floor.String())

	one := &result{w: workloadNamed("query2comp"), n: 1, list: []*contender{made(quarry, 12)}}
	one.judge()
	require.Equal(t, "at most 15 ns holds", one.verdicts[0].floor.String())
	require.Equal(t, "at most 8 ns MISSED", one.verdicts[0].goal.String())
}

func TestQuantiles(t *testing.T) {
	list := []float64{5, 1, 4, 2, 3, 6}
	require.Equal(t, 3.0, median(list))
	require.Equal(t, 1.0, quantile(list, 0))
	require.Equal(t, 6.0, quantile(list, 1))
	require.Zero(t, median(nil))
	require.Equal(t, 98, rank(100, 0.985))
}

// TestWrongIsNoticed: a wrong result is in the output and in the exit code, and the entrant has no
// figure.
func TestWrongIsNoticed(t *testing.T) {
	before := ways
	t.Cleanup(func() { ways = before })
	build := func(bad bool) func(int) (trial, error) {
		return func(int) (trial, error) { return standing{wrong: bad}, nil }
	}
	ways = []way{{"random", quarry, build(true)}, {"random", ark, build(false)}}
	out, errs, code := in("-quick", "-only", "random", "-n", "64", "-rounds", "2")
	require.Equal(t, exitWrong, code, errs)
	require.Contains(t, out, "quarry: WRONG: wrong result: got 1, want 2")
	require.Contains(t, out, "quarry: floor not measured")
	out, _, code = in("-quick", "-only", "random", "-n", "64", "-json")
	require.Equal(t, exitWrong, code)
	require.Contains(t, out, `"right": false`)

	ways = []way{{"random", quarry, func(int) (trial, error) { return nil, errors.New("no memory") }}}
	_, errs, code = in("-quick", "-only", "random", "-n", "64")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "peers: random, n = 64: no memory")
}

// in runs the command in this process.
func in(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return out.String(), errs.String(), code
}

func TestBadFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"workload": {[]string{"-only", "chess"}, `-only chess: no such workload "chess"; there are query2comp`},
		"empty":    {[]string{"-only", ""}, `no such workload ""`},
		"rounds":   {[]string{"-rounds", "0"}, "-rounds 0: expected 1 to 1000"},
		"n":        {[]string{"-n", "0"}, "-n 0: expected 1 to 64000000"},
		"argument": {[]string{"random"}, `unexpected argument "random"; flags begin with -`},
		"harness":  {[]string{"-harness", "x"}, "-harness x: it is for -check"},
		"child":    {[]string{child.Flag, "nonsense"}, "invalid character"},
		"nobody":   {[]string{child.Flag, `{"workload":"memory","entrant":"nobody"}`}, `no entrant "nobody"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := in(c.args...)
			require.Equal(t, exitError, code)
			require.Contains(t, errs, c.says)
			require.Empty(t, out)
		})
	}
	_, errs, code := in("-h")
	require.Equal(t, exitOK, code)
	require.Contains(t, errs, "add_remove_large-batch")
}

func TestSizes(t *testing.T) {
	w := workloadNamed("query2comp")
	require.Equal(t, []int{1, 1000, 16_000}, (&options{quick: true}).sizes(w))
	require.Equal(t, w.sizes, (&options{}).sizes(w))
	require.Equal(t, []int{64}, (&options{n: 64, quick: true}).sizes(w))
	require.Equal(t, []int{maxArchetypes}, (&options{n: maxN}).sizes(workloadNamed("archetypes")))
}

func TestJSON(t *testing.T) {
	out, errs, code := in("-quick", "-json", "-only", "create2comp,create-worst,memory", "-n", "64")
	require.Equal(t, exitOK, code, errs)
	require.Empty(t, errs) // no progress bar without a terminal
	var got []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	var want []string
	for _, w := range []string{"create2comp", "create-worst", "memory"} {
		for _, way := range waysOf(w) {
			want = append(want, w+"/"+way.entrant)
		}
	}
	require.Len(t, got, len(want))
	for i, o := range got {
		require.Equal(t, want[i], o["workload"].(string)+"/"+o["entrant"].(string))
		require.Equal(t, true, o["right"])
		require.Equal(t, 64.0, o["n"])
		require.Equal(t, 1.0, o["rounds"])
		for _, key := range []string{"library", "best_peer", "ratio", "floor", "goal", "holds_floor", "holds_goal"} {
			require.Contains(t, o, key)
		}
		require.Contains(t, o, "bytes_per_entity")
		require.Positive(t, o["figure"])
		if o["workload"] == "memory" {
			require.Contains(t, o, "peak_bytes")
			require.Contains(t, o, "allocs")
			require.Nil(t, o["ns_per_entity"])
			require.Nil(t, o["p99_ns"])
			continue
		}
		require.Positive(t, o["ns_per_entity"])
		require.Positive(t, o["p99_ns"])
		require.Positive(t, o["bytes_per_entity"])
		require.NotNil(t, o["allocs"])
	}
	require.Equal(t, 0.8, got[0]["floor"])
	require.Equal(t, "quarry", got[0]["library"])
	require.IsType(t, true, got[0]["holds_floor"])
	require.IsType(t, "", got[0]["best_peer"])
}

// bulky is a trial that holds a block on the Go heap and one off it.
type bulky struct {
	standing
	block []byte
}

func (*bulky) committed() int64 { return 1 << 20 }

func TestWhatATrialHolds(t *testing.T) {
	c := &contender{n: 1000, room: 2 << 20, way: &way{"random", quarry, func(int) (trial, error) {
		time.Sleep(cheapBuild)
		return &bulky{block: make([]byte, 3<<20)}, nil
	}}}
	require.NoError(t, c.round(testBudget))
	require.InDelta(t, 4<<20, c.held, 200<<10)
	require.Nil(t, c.t, "held more than there is room for, and was kept")
	r := &result{w: workloadNamed("random"), n: 1000, list: []*contender{c}}
	require.InDelta(t, 4194, *r.entry(c).BytesPerEntity, 200)
	require.InDelta(t, 1000*quantile(c.samples, 0.99), *r.entry(c).P99, 1e-6)
}

// TestNoRoom: entrants that need more memory than is free are left out, and it is an error if none
// is left.
func TestNoRoom(t *testing.T) {
	for _, name := range []string{"create2comp_alloc", "memory"} {
		r := newResult(workloadNamed(name), 64*million, 1)
		require.NoError(t, r.leaveOut(1<<50))
		require.Empty(t, r.list[0].out)
		require.ErrorContains(t, r.leaveOut(1e9), "no entrant fits into the 1.0 GB that are free: try -n ", name)
		require.Regexp(t, `^needs about \d+\.\d GB and 1\.0 GB are free; try -n \d+$`, r.list[0].out)
		require.NoError(t, r.round(testBudget, func(int, string) {}))
		require.Nil(t, r.entry(r.list[0]).Figure)
	}
	require.NoError(t, newResult(workloadNamed("create2comp"), million, 1).leaveOut(1))
}

// late is a trial whose check takes half of the time limit.
type late struct{ standing }

func (late) check(int) error {
	time.Sleep(answerTime / 2)
	return nil
}

// TestTheTimeIsUp: rounds end when another one would not finish in time. Work that is done only
// once does not count for the next round.
func TestTheTimeIsUp(t *testing.T) {
	all := ways
	defer func() { ways = all }()
	for _, c := range []struct {
		build time.Duration
		trial trial
		want  int
	}{{0, standing{}, 9}, {answerTime - time.Second, standing{}, 9}, {time.Millisecond, late{}, 1}} {
		ways = []way{{"random", quarry, func(int) (trial, error) {
			time.Sleep(c.build)
			return c.trial, nil
		}}}
		synctest.Test(t, func(t *testing.T) {
			r := newResult(workloadNamed("random"), 64, 9)
			require.NoError(t, r.measure(testBudget, func(int, string) {}))
			require.Equal(t, c.want, r.done)
			require.Len(t, r.list[0].rounds, c.want)
			var out bytes.Buffer
			r.print(&out)
			require.Equal(t, c.want < 9, strings.Contains(out.String(), "(rounds: 1 of 9, the time was up)"))
		})
	}
}

// noRoom is a standard output that cannot be written to.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestOutputThatIsLostIsAnError(t *testing.T) {
	var errs bytes.Buffer
	require.Equal(t, exitError, run([]string{"-quick", "-only", "enable", "-n", "64"}, noRoom{}, &errs))
	require.Contains(t, errs.String(), "no room")
}
