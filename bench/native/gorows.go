package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"quarry/bench/child"
)

// goRows is the command of bench/peers, which runs a row for one entrant at a time.
type goRows struct {
	path string
	ark  string // module@version
}

// buildGoRows builds bench/peers into dir.
func buildGoRows(dir string) (*goRows, error) {
	g := &goRows{path: filepath.Join(dir, "peers.exe")}
	c := exec.Command("go", "build", "-o", g.path, "quarry/bench/peers")
	c.Env = append(os.Environ(), "CGO_ENABLED=0") // there may be no C compiler
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build quarry/bench/peers: %w: %.400s", err, out)
	}
	info, err := buildinfo.ReadFile(g.path)
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/mlange-42/ark" {
			g.ark = m.Path + "@" + m.Version
		}
	}
	return g, nil
}

// peersSpec and peersAnswer are what a child of bench/peers reads and prints.
type (
	peersSpec struct {
		Workload string        `json:"workload"`
		Entrant  string        `json:"entrant"`
		N        int           `json:"n"`
		Timed    time.Duration `json:"timed"`
		Wall     time.Duration `json:"wall"`
	}
	peersAnswer struct {
		Wrong  string `json:"wrong"`
		Timing *struct {
			Round float64 `json:"round"`
		} `json:"timing"`
	}
)

// errWrong is wrapped by every error about a wrong result.
var errWrong = errors.New("wrong result")

// turn runs an entrant on a row once.
func (g *goRows) turn(r *row, entrant string, n int, budget time.Duration) (float64, error) {
	text, err := json.Marshal(peersSpec{r.name, entrant, n, budget, 5 * budget})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), turnTime)
	defer cancel()
	c := exec.CommandContext(ctx, g.path, child.Flag, string(text))
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("%s on %s, n = %d: %w: %.200s", entrant, r.name, n, err, errs.String())
	}
	var a peersAnswer
	if err := json.Unmarshal(out, &a); err != nil {
		return 0, fmt.Errorf("%s on %s, n = %d: %w", entrant, r.name, n, err)
	}
	switch {
	case a.Wrong != "":
		return 0, fmt.Errorf("%w: %s", errWrong, a.Wrong)
	case a.Timing == nil:
		return 0, fmt.Errorf("%s on %s, n = %d: no timing", entrant, r.name, n)
	}
	return a.Timing.Round, nil
}
