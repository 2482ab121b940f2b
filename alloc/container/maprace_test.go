//go:build race

package container

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// mapRaceProgram names the program that a process is to run.
const mapRaceProgram = "QUARRY_MAP_RACE_PROGRAM"

// mapRacePrograms call a map from two goroutines that nothing orders.
var mapRacePrograms = []struct {
	name   string
	caught bool
	one    func(m *Map[int, int])
	other  func(m *Map[int, int])
}{
	{"Set beside Get", true, func(m *Map[int, int]) { m.Set(1, 2) }, func(m *Map[int, int]) { m.Get(2) }},
	{"Set beside GetMany", true, func(m *Map[int, int]) { m.Set(1, 2) }, func(m *Map[int, int]) {
		m.GetMany(make([]int, 1), make([]int, 1), make([]bool, 1))
	}},
	{"GetOrAdd beside At", true, func(m *Map[int, int]) { m.GetOrAdd(1) }, func(m *Map[int, int]) { m.At(2) }},
	{"Delete of nothing beside Has", true, func(m *Map[int, int]) { m.Delete(7000) }, func(m *Map[int, int]) { m.Has(2) }},
	{"Trim beside All", true, func(m *Map[int, int]) { m.Trim() }, func(m *Map[int, int]) {
		for range m.All() {
		}
	}},
	{"Clear beside Len", true, func(m *Map[int, int]) { m.Clear() }, func(m *Map[int, int]) { m.Len() }},
	{"two readers", false, readAll, readAll},
}

func readAll(m *Map[int, int]) {
	for key := range m.All() {
		m.Get(key)
		m.At(key)
		m.Has(-key)
	}
	m.GetMany(make([]int, 50), make([]int, 50), make([]bool, 50))
	m.Len()
}

// TestMapRace runs each program in a process of its own.
func TestMapRace(t *testing.T) {
	if name := os.Getenv(mapRaceProgram); name != "" {
		m := newMap[int, int](t)
		for i := range 2000 {
			require.NoError(t, m.Set(i, i))
		}
		for _, c := range mapRacePrograms {
			if c.name == name {
				var both, begun sync.WaitGroup
				begun.Add(2)
				for _, call := range []func(m *Map[int, int]){c.one, c.other} {
					both.Go(func() {
						// The detector may take a goroutine for one that has ended.
						begun.Done()
						begun.Wait()
						call(m)
					})
				}
				both.Wait()
			}
		}
		return
	}
	for _, c := range mapRacePrograms {
		t.Run(c.name, func(t *testing.T) {
			run := exec.Command(os.Args[0], "-test.run=^TestMapRace$")
			run.Env = append(os.Environ(), mapRaceProgram+"="+c.name, "GORACE=")
			out, err := run.CombinedOutput()
			if c.caught {
				require.Error(t, err, "%s", out)
				require.Contains(t, string(out), "WARNING: DATA RACE")
			} else {
				require.NoError(t, err, "%s", out)
			}
		})
	}
}
