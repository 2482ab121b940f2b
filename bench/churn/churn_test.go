package churn

import (
	"bytes"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/child"
)

// TestMain lets a child process be one of the ways.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == child.Flag {
		os.Exit(Serve(os.Args[2], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

const few = 4_000 // records

// TestWaysAgree: all ways serve the same stream, and a map has the right result of each find.
func TestWaysAgree(t *testing.T) {
	const batches = 3_000
	var want answer
	for _, w := range ways[:drawnWays] {
		in, err := newStream(few)
		require.NoError(t, err)
		s, err := w.open(few)
		require.NoError(t, err)
		var got, model answer
		hits := map[uint64]uint32{}
		serve := func(batch []request) {
			require.NoError(t, s.serve(batch, &got))
			for _, r := range batch {
				uses, live := hits[r.id]
				switch {
				case r.kind == put:
					require.False(t, live, "C1")
					hits[r.id] = 0
				case r.kind == remove:
					require.True(t, live, "C1")
					delete(hits, r.id)
				case !live:
					model.Missed++
				default:
					hits[r.id] = uses + 1
					var name [nameRoom]byte
					n := nameOf(&name, r.id)
					model.note(r.id, centsOf(r.id), uses+1, name[:n])
				}
			}
		}
		batch := make([]request, 0, batchSize)
		for seat := 0; seat < few; {
			batch, seat = in.fill(batch, seat)
			serve(batch)
		}
		batch = batch[:batchSize]
		for range batches {
			in.draw(batch)
			serve(batch)
			require.Equal(t, len(hits), s.live(), w.name)
			require.Equal(t, len(hits), in.live(), "C2")
		}
		require.Equal(t, model, got, w.name)
		require.Equal(t, in.misses, got.Missed)
		require.Positive(t, got.Missed)
		if w.name == ways[0].name {
			want = got
		}
		require.Equal(t, want, got, "C3")
		require.NoError(t, s.close())
		in.close()
	}
}

// TestIndex compares an index that is half full with a map, over few homes.
func TestIndex(t *testing.T) {
	x, want := newIndex(make([]entry[int], entriesFor(8))), map[uint64]int{}
	require.Len(t, x.entries, 16)
	for i := range 20_000 {
		id := idOf(uint32(i)*7%13, uint32(i)%3)
		value, live := want[id]
		switch at := x.find(id); {
		case live:
			require.NotNil(t, at)
			require.Equal(t, value, *at)
			if i%2 == 0 {
				got, ok := x.take(id)
				require.True(t, ok)
				require.Equal(t, value, got)
				delete(want, id)
			}
		default:
			require.Nil(t, at)
			_, ok := x.take(id)
			require.False(t, ok)
			if len(want) < 8 {
				x.put(id, i)
				want[id] = i
			}
		}
		require.Equal(t, len(want), x.used)
		for id, value := range want {
			require.Equal(t, value, *x.find(id), "I2")
		}
	}
}

// TestWrongChecksumIsNoticed: a sum is wrong if it differs from the known one, or from the first.
func TestWrongChecksumIsNoticed(t *testing.T) {
	list := []sample{{Answer: answer{Sum: 1}}, {Answer: answer{Sum: 1}}, {Answer: answer{Sum: 2}}}
	compare(list, few)
	require.Empty(t, list[0].Wrong)
	require.Empty(t, list[1].Wrong)
	require.Equal(t, "the checksum is 0000000000000002, objects has 0000000000000001", list[2].Wrong)
	side := list[2].side(10)
	require.False(t, side.OK)
	require.Equal(t, list[2].Wrong, side.Detail)

	list = []sample{{Answer: answer{Sum: known[QuickRecords]}}, {Answer: answer{Sum: 3}}}
	compare(list, QuickRecords)
	require.Empty(t, list[0].Wrong)
	require.Contains(t, list[1].Wrong, "the known answer has ")
}

// TestJudge: an answer that does not fit the stream is wrong, whatever its checksum.
func TestJudge(t *testing.T) {
	in, err := newStream(few)
	require.NoError(t, err)
	defer in.close()
	s, err := newSlots(few)
	require.NoError(t, err)
	m := sample{}
	m.judge(in, s, []int64{1})
	require.Contains(t, m.Wrong, "0 records are live, want 35")
	m = sample{}
	require.NoError(t, m.run(in, s, make([]int64, 100), false))
	m.judge(in, s, []int64{3, 1, 2})
	require.Empty(t, m.Wrong)
	require.EqualValues(t, 2, m.P50)
	require.EqualValues(t, 6, m.Wall)
	m.Answer.Missed++
	m.judge(in, s, []int64{1})
	require.Contains(t, m.Wrong, "look-ups found nothing")
}

// TestRun runs every way in a process of its own and draws the figure.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "churn.png")
	last, total := 0, 0
	plain, ours, err := Run(Options{Records: few, PNG: path}, func(done, of int) { last, total = done, of })
	require.NoError(t, err)
	require.Equal(t, len(ways), total)
	require.Equal(t, total, last)
	require.True(t, plain.OK, plain.Detail)
	require.True(t, plain.Other.OK, plain.Other.Detail)
	require.True(t, ours.OK, ours.Detail)
	require.Equal(t, plain.Detail, ours.Detail)
	require.Positive(t, ours.Committed)
	require.Contains(t, ours.Lines[0], "quarry, GC as Go sets it")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Less(t, len(text), 150_000)
	img, err := png.Decode(bytes.NewReader(text))
	require.NoError(t, err)
	require.Greater(t, img.Bounds().Dx(), 800)

	_, _, err = Run(Options{Records: few, PNG: filepath.Join(path, "no")}, nil)
	require.ErrorContains(t, err, "churn: ")
	for _, n := range []int{-1, leastRecords - 1, mostRecords + 1} {
		_, _, err = Run(Options{Records: n}, nil)
		require.ErrorContains(t, err, "expected 1000 to 64000000")
	}
}

// TestChildRefuses: a spec that makes no sense is an error of the child.
func TestChildRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"way": "lists", "records": 5000}`: `churn: no way "lists"`,
		`{"way": "slots", "records": 5}`:    "churn: 5 records, expected ",
		`slots`:                             "invalid character",
	} {
		var errs bytes.Buffer
		require.Equal(t, child.Failed, Serve(text, io.Discard, &errs))
		require.Contains(t, errs.String(), want)
	}
}
