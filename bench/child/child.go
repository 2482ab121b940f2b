// Package child runs this program again in a process of its own, to do the work of a spec in JSON.
// The child prints its answer in JSON; if it fails, its standard error gives the reason.
package child

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Flag is the argument that makes the program a child; the spec follows it.
const Flag = "-child"

// Failed is the exit code of a child that could not answer.
const Failed = 2

// Start runs this program as a child with a spec and returns the child's answer. A child that runs
// longer than limit is killed. The error of a failed child has the first line of its standard
// error.
func Start[S, A any](spec S, limit time.Duration) (A, error) {
	var answer A
	self, err := os.Executable()
	if err != nil {
		return answer, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, self, Flag, string(text))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("not done after %v: %w", limit, err)
		}
		line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return answer, fmt.Errorf("%w: %s", err, line)
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return answer, fmt.Errorf("the child printed no answer: %w", err)
	}
	return answer, nil
}

// Serve is main for the child: it does the work of the spec and returns the exit code. Call it when
// the arguments are Flag and a text.
func Serve[S, A any](text string, stdout, stderr io.Writer, do func(S) (A, error)) int {
	var spec S
	err := json.Unmarshal([]byte(text), &spec)
	if err == nil {
		var answer A
		if answer, err = do(spec); err == nil {
			err = json.NewEncoder(stdout).Encode(answer)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return Failed
	}
	return 0
}
