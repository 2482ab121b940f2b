// Command rename rewrites programs that use Quarry: names that moved to another package or changed,
// and have no forwarder that go fix could inline. table.txt lists them.
//
//	go run ./publish/rename DIR                            the Go files in and below a folder
//	go run ./publish/rename -path example.org/quarry DIR   the same, where Quarry has this path
//
// Run it first, then go fix ./..., then build: methods and options are in CHANGELOG.md alone.
// Imports that a file no longer uses are replaced. A file that cannot be rewritten is reported and
// stays as it was; the command then exits with 1.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitLeft  = 1 // a file could not be rewritten
	exitError = 2 // bad arguments
)

func command(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("rename", flag.ContinueOnError)
	f.SetOutput(stderr)
	module := f.String("path", "quarry", "the module `path` by which the program imports Quarry")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitError
	}
	if f.NArg() != 1 {
		fmt.Fprintln(stderr, "rename: expected one folder")
		return exitError
	}
	code := exitOK
	err := filepath.WalkDir(f.Arg(0), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != f.Arg(0) && passedOver(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" || !d.Type().IsRegular() {
			return nil
		}
		n, err := rewrite(*module, name)
		if err != nil {
			fmt.Fprintf(stderr, "rename: %v\n", err)
			code = exitLeft
		} else if n > 0 {
			fmt.Fprintf(stdout, "%s: %d\n", name, n)
		}
		return nil
	})
	if err != nil {
		fmt.Fprintf(stderr, "rename: %v\n", err)
		return exitError
	}
	return code
}

// passedOver reports whether the go command passes over a folder, or has its files from elsewhere.
func passedOver(folder string) bool {
	return folder == "vendor" || strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

// rewrite rewrites a file and returns the number of names that it has changed.
func rewrite(module, name string) (int, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	out, n, err := source(module, name, text)
	if err != nil || n == 0 {
		return 0, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	return n, os.WriteFile(name, out, info.Mode())
}
