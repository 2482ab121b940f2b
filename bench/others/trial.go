package main

import (
	"slices"
	"strings"
)

// trial is a library that is to run on our memory.
type trial struct {
	name    string
	module  string // as go mod download names it
	version string
	groups  []group
	edits   func(o *options) []edit // what puts the library on our memory
	program *program                // of -load; nil: there is none

	// modules are modules of the checkout that the edits import, by folder, beside the root module.
	modules []string

	// variable is the environment variable by which one copy with the edits runs on either memory:
	// unset for the library's own, "heap" or "guard". Empty: each memory has a copy.
	variable string
}

// group is some packages whose tests are run alike.
type group struct {
	packages  []string // patterns, relative to the module: ./internal/cache
	flags     []string // of go test: -short, -run, -skip
	varied    []string // tests of which each run has another number of subtests, which are not counted
	unguarded string   // why it is not run with -guard; empty: it is
}

// edit is a change of one file of a copy.
type edit struct {
	path string // in the module, with slashes
	old  string // what text replaces, which must occur exactly once; empty: text is the whole file
	text string
	gone bool // the file is removed
}

// trials are all there are.
var trials = []*trial{pebble, arrow}

// trialNamed returns nil if there is none.
func trialNamed(name string) *trial {
	for _, t := range trials {
		if t.name == name {
			return t
		}
	}
	return nil
}

func trialNames() string {
	var list []string
	for _, t := range trials {
		list = append(list, t.name)
	}
	return strings.Join(list, ", ")
}

// chosen returns the groups that are to run: all, or those packages of -packages, with the flags of
// the group that names them.
func (t *trial) chosen(o *options) []group {
	var list []group
	for _, g := range t.groups {
		if o.packages != nil {
			g.packages = slices.DeleteFunc(slices.Clone(g.packages), func(p string) bool {
				return !slices.Contains(o.packages, p)
			})
		}
		if len(g.packages) > 0 {
			list = append(list, g)
		}
	}
	for _, p := range o.packages {
		if !slices.ContainsFunc(list, func(g group) bool { return slices.Contains(g.packages, p) }) {
			list = append(list, group{packages: []string{p}})
		}
	}
	return list
}
