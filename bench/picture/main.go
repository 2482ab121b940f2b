// Command picture draws the picture of README.md from results that are kept, and prints the figures
// that README.md has of them. After another run of what is measured:
//
//	go run ./bench/cache -only 'quarry,map + list' -json > bench/results/cache.json
//	go run ./bench/server -json > bench/results/server.json
//	go run ./bench/picture
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/bench/host"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

func command(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("picture", flag.ContinueOnError)
	f.SetOutput(stderr)
	results := f.String("results", "bench/results", "the `folder` of the results")
	file := f.String("o", "docs/images/first.png", "the `file` of the picture")
	if err := f.Parse(args); err != nil {
		return 2
	}
	panels, lines, err := read(*results)
	if err == nil {
		err = draw(*file, panels)
	}
	if err != nil {
		fmt.Fprintf(stderr, "picture: %v\n", err)
		return 2
	}
	for _, line := range lines {
		fmt.Fprintln(stdout, line)
	}
	return 0
}

// A panel is one figure for several sides, Quarry's last.
type panel struct {
	title, format string
	names         []string
	values        []float64
}

// What is read of the results.
type (
	cacheRun struct {
		Caches []cacheRow `json:"caches"`
	}
	cacheRow struct {
		Cache   string `json:"cache"`
		Samples []struct {
			Garbage struct {
				Ops  float64 `json:"ops"`
				CPU  float64 `json:"cpu"`
				Peak float64 `json:"peak"`
			} `json:"garbage"`
		} `json:"samples"`
	}
	serverRun struct {
		host.Host
		Sides []struct {
			Side  string `json:"side"`
			Modes struct {
				Reader []struct {
					Resident float64 `json:"resident"`
					End      float64 `json:"end"`
					State    float64 `json:"state"`
				} `json:"reader"`
			} `json:"modes"`
		} `json:"sides"`
	}
)

// read returns the panels, and the figures as README.md has them.
func read(folder string) (panels []panel, lines []string, err error) {
	cpu := panel{title: "cache: CPU per request, µs", format: "%.1f"}
	peak := panel{title: "cache: peak memory, MB", format: "%.0f"}
	var stored cacheRun
	if err := decode(filepath.Join(folder, "cache.json"), &stored); err != nil {
		return nil, nil, err
	}
	caches := stored.Caches
	for _, want := range []string{"map + list", "quarry"} {
		i := slices.IndexFunc(caches, func(r cacheRow) bool { return r.Cache == want })
		if i < 0 {
			return nil, nil, fmt.Errorf("%s has no cache %q", folder, want)
		}
		var us, mb []float64
		for _, s := range caches[i].Samples {
			us, mb = append(us, s.Garbage.CPU/s.Garbage.Ops/1e3), append(mb, s.Garbage.Peak/1e6)
		}
		cpu.add(want, us)
		peak.add(want, mb)
	}
	resident := panel{title: "server: memory, MB", format: "%.0f"}
	end := panel{title: "server keeping states: MB", format: "%.0f"}
	state := panel{title: "server: keep a state, ms", format: "%.3g"}
	var run serverRun
	if err := decode(filepath.Join(folder, "server.json"), &run); err != nil {
		return nil, nil, err
	}
	for _, s := range run.Sides {
		var mb, last, ms []float64
		if s.Side == "quarry, commands" {
			continue // what is drawn is the same in the direct world
		}
		for _, m := range s.Modes.Reader {
			mb, last, ms = append(mb, m.Resident/1e6), append(last, m.End/1e6), append(ms, m.State/1e6)
		}
		resident.add(s.Side, mb)
		end.add(s.Side, last)
		state.add(s.Side, ms)
	}
	lines = []string{
		fmt.Sprintf("%.2f of the processor time and %.2f of the memory", cpu.toFirst(), peak.toFirst()),
		fmt.Sprintf("%.0f MB; ark %.0f, a slice of structs %.0f",
			resident.values[2], resident.values[1], resident.values[0]),
		fmt.Sprintf("keeping states: %.0f MB; ark %.0f, the slice %.0f", end.values[2], end.values[1], end.values[0]),
		fmt.Sprintf("a state kept: %.0f us; ark %.1f ms, the slice %.1f",
			state.values[2]*1e3, state.values[1], state.values[0]),
		run.Host.String(),
	}
	return []panel{cpu, peak, state, resident, end}, lines, nil
}

// add adds a side by its rounds.
func (p *panel) add(name string, rounds []float64) {
	slices.Sort(rounds)
	if strings.HasPrefix(name, "quarry") {
		name = "Quarry"
	}
	p.names, p.values = append(p.names, name), append(p.values, rounds[len(rounds)/2])
}

// toFirst is Quarry's figure as a part of the first side's.
func (p *panel) toFirst() float64 { return p.values[len(p.values)-1] / p.values[0] }

func decode(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
