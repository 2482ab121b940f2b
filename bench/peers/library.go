package main

import (
	"runtime/debug"
	"slices"
	"strings"
)

// Names that are not a peer's.
const (
	ours    = "quarry"
	plainGo = "go"
)

// library is a library that entrants use.
type library struct {
	name   string // in the JSON, and the first word of its entrants
	module string // its Go module
	title  string // its name in the peers' harness
}

var libraries = []library{
	{name: ours},
	{name: plainGo},
	{"ark", "github.com/mlange-42/ark", "Ark"},
	{"arche", "github.com/mlange-42/arche", "Arche"},
	{"volt", "github.com/akmonengine/volt", "Volt"},
	{"donburi", "github.com/yohamta/donburi", "Donburi"},
	{"uot", "github.com/unitoftime/ecs", "uot"},
}

// library is the first word of the entrant's name; loops over slices are plain Go.
func (w *way) library() string {
	name := w.entrant
	if i := strings.IndexAny(name, " ,"); i >= 0 {
		name = name[:i]
	}
	if name == goSlices || name == goBoxes {
		return plainGo
	}
	return name
}

// libraryNamed returns a library by name, or nil.
func libraryNamed(name string) *library {
	i := slices.IndexFunc(libraries, func(l library) bool { return l.name == name })
	if i < 0 {
		return nil
	}
	return &libraries[i]
}

// linked lists the libraries linked into this program as module@version.
func linked() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var list []string
	for _, l := range libraries {
		for _, m := range info.Deps {
			if m.Path == l.module {
				list = append(list, m.Path+"@"+m.Version)
			}
		}
	}
	return list
}
