package life_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"quarry/bench/life"
	"quarry/bench/recorded"
	"quarry/internal/debug"
	"quarry/internal/long"
)

// answer is a line of the shared answers; births and deaths are -1 if not given.
type answer struct {
	generation, population, births, deaths int
}

// readAnswers returns the lines of a file by pattern, in order of generation.
func readAnswers(t *testing.T, path string) map[string][]answer {
	t.Helper()
	f, err := os.Open(recorded.Path(t, path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][]answer{}
	for _, line := range lines[1:] {
		a := answer{number(t, line[1]), number(t, line[2]), -1, -1}
		if len(line) > 3 && line[3] != "" {
			a.births, a.deaths = number(t, line[3]), number(t, line[4])
		}
		name := strings.TrimSuffix(line[0], ".rle")
		answers[name] = append(answers[name], a)
	}
	return answers
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// cost is the last generation of a pattern that is tested with QUARRY_LONG=1. The rest takes
// minutes and is tested with QUARRY_LONG=10: the breeder has 40,646 cells at 5,000, and rabbits and
// lidka take 17,332 and 29,126 generations to settle. The short form ends at generation 1,000, when
// methuselahs have grown and their births and deaths have been compared several times.
var cost = map[string]int{"breeder": 600, "rabbits": 5000, "lidka-predecessor": 5000}

func TestSharedAnswers(t *testing.T) {
	for _, file := range []string{"life/expected.csv", "life/milestones.csv"} {
		for name, answers := range readAnswers(t, file) {
			p, err := life.ReadRLE(recorded.Path(t, "life/"+name+".rle"))
			if err != nil {
				t.Fatal(err)
			}
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				eachSide(t, func(t *testing.T, open func(life.Pattern) side) {
					testAnswers(t, open(p), name, answers)
				})
			})
		}
	}
}

func testAnswers(t *testing.T, s side, name string, answers []answer) {
	generation := 0
	for _, want := range answers {
		if debug.On && want.generation > 500 || testing.Short() && want.generation > 100 {
			break // race and debug builds are twenty times slower
		}
		last, ok := cost[name]
		if ok && want.generation > last && long.Times() < 10 || want.generation > 1000 && !long.On() {
			t.Logf("stops at generation %d of %d (set QUARRY_LONG=10)", generation, answers[len(answers)-1].generation)
			break
		}
		step(t, s, want.generation-generation)
		generation = want.generation
		if got := s.Population(); got != want.population {
			t.Fatalf("population at %d: got %d want %d", generation, got, want.population)
		}
		if want.births < 0 {
			continue
		}
		if got := [2]int{int(s.Births()), int(s.Deaths())}; got != [2]int{want.births, want.deaths} {
			t.Fatalf("births and deaths at %d: got %v want %d and %d", generation, got, want.births, want.deaths)
		}
	}
	verify(t, s)
}
