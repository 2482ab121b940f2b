package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// git runs git in a folder and returns what it prints. No variable that git has for itself is
// passed on: a hook that publishes has some that name its repository.
func git(dir string, variables []string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	c := exec.Command("git", args...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		append(variables, "LC_ALL=C")...)
	if err := c.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", errors.New("git is needed: it knows which files are published, and makes the tree")
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}

// listed returns the texts of a list that git ends with zeros.
func listed(out string) []string {
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
}
