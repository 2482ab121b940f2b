package simdisk

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// A state has two of everything: now, which processes see, and kept, which is on the disk; and what
// leads from kept to now, in the order in which it was done.
//
//	file     kept  +  writes, truncations  =  now          a sync: kept = now
//	folder   kept  +  names                =  now

// state is what a disk holds.
type state struct {
	root  *folder
	files []*file // by their numbers
}

// node is a *file or a *folder.
type node interface{ isNode() }

type file struct {
	now, kept content
	writes    []write
}

// write is a write, or a truncation.
type write struct {
	at    int64
	bytes []byte
	cut   bool // to at bytes
}

type folder struct {
	now, kept map[string]node
	names     []naming
}

// naming gives a node a name, or nil, which removes the name; a rename takes the name that the node
// had too.
type naming struct {
	name, was string
	node      node
}

func (*file) isNode()   {}
func (*folder) isNode() {}

func newFolder() *folder { return &folder{now: map[string]node{}, kept: map[string]node{}} }
func newState() *state   { return &state{root: newFolder()} }

// step changes a state.
type step struct {
	kind     operation
	path, to string // of files and folders by name
	file     int    // of others
	at       int64
	bytes    []byte
}

type operation uint8

const (
	createFile operation = iota
	makeFolder
	rename
	remove
	syncFolder
	writeFile
	truncateFile
	syncFile
	loseFile // a sync that failed: the system forgets what it had to write
)

// do does a step that has been found possible.
func (s *state) do(p step) {
	switch p.kind {
	case createFile:
		f := new(file)
		s.files = append(s.files, f)
		s.name(p.path, "", f)
	case makeFolder:
		s.name(p.path, "", newFolder())
	case rename:
		s.name(p.to, filepath.Base(p.path), s.find(p.path))
	case remove:
		s.name(p.path, "", nil)
	case syncFolder:
		s.find(p.path).(*folder).sync()
	case writeFile:
		s.files[p.file].do(write{at: p.at, bytes: p.bytes})
	case truncateFile:
		s.files[p.file].do(write{at: p.at, cut: true})
	case syncFile:
		f := s.files[p.file]
		for _, w := range f.writes {
			w.on(&f.kept)
		}
		f.writes = nil
	case loseFile:
		s.files[p.file].writes = nil
	}
}

// find returns what is at a path, nil if there is nothing.
func (s *state) find(path string) node {
	var at node = s.root
	for _, name := range strings.Split(filepath.ToSlash(filepath.Clean(path)), "/") {
		if name == "" || name == "." {
			continue
		}
		f, ok := at.(*folder)
		if !ok {
			return nil
		}
		if at = f.now[name]; at == nil {
			return nil
		}
	}
	return at
}

// name gives a node a name in a folder that is there.
func (s *state) name(path, old string, n node) {
	f := s.find(filepath.Dir(path)).(*folder)
	naming := naming{name: filepath.Base(path), was: old, node: n}
	naming.on(f.now)
	f.names = append(f.names, naming)
}

func (n naming) on(names map[string]node) {
	if n.was != "" && names[n.was] == n.node {
		delete(names, n.was)
	}
	if names[n.name] = n.node; n.node == nil {
		delete(names, n.name)
	}
}

func (f *folder) sync() {
	for _, n := range f.names {
		n.on(f.kept)
	}
	f.names = nil
}

func (f *file) do(w write) {
	w.on(&f.now)
	f.writes = append(f.writes, w)
}

// on does a write to the bytes of a file.
func (w write) on(c *content) {
	if w.cut {
		c.cut(w.at)
	} else {
		c.write(w.bytes, w.at)
	}
}

// clone returns a copy of a state.
func (s *state) clone() *state {
	to, same := &state{}, map[node]node{}
	for _, f := range s.files {
		g := &file{now: f.now.clone(), kept: f.kept.clone(), writes: slices.Clone(f.writes)}
		same[f] = g
		to.files = append(to.files, g)
	}
	to.root = s.root.clone(same)
	return to
}

// clone returns a copy of a folder; same has the copies so far.
func (f *folder) clone(same map[node]node) *folder {
	if g, ok := same[f].(*folder); ok {
		return g
	}
	g := newFolder()
	same[f] = g
	copyOf := func(n node) node {
		if sub, ok := n.(*folder); ok {
			return sub.clone(same)
		}
		return same[n] // of nil: nil
	}
	for name, n := range f.now {
		g.now[name] = copyOf(n)
	}
	for name, n := range f.kept {
		g.kept[name] = copyOf(n)
	}
	for _, n := range f.names {
		g.names = append(g.names, naming{n.name, n.was, copyOf(n.node)})
	}
	return g
}

// lose returns the state after a power loss, which owns what s had. For the writes of each file and
// for each kind of names in a folder dice decide whether all are lost, or none, or each by itself.
func (s *state) lose(dice *rand.Rand) *state {
	for _, f := range s.files {
		for luck := luckOf(dice); len(f.writes) > 0; f.writes = f.writes[1:] {
			w := f.writes[0]
			switch fate := luck(); {
			case fate == lost:
				continue
			case fate == half && !w.cut:
				w.bytes = w.bytes[:len(w.bytes)/2]
			case fate == zeros && !w.cut: // a file that has grown has no bytes there yet
				old := make([]byte, len(w.bytes))
				f.kept.read(old, w.at)
				w.bytes = old
			}
			w.on(&f.kept)
		}
		f.now = f.kept.clone()
	}
	s.root.lose(dice)
	return s
}

// fate is what becomes of a part that was not synced.
type fate uint8

const (
	lost fate = iota
	there
	half  // of the bytes of a write
	zeros // after the end, nothing before
	fates
)

// luckOf returns a function that gives fates.
func luckOf(dice *rand.Rand) func() fate {
	switch dice.IntN(3) {
	case 0:
		return func() fate { return lost }
	case 1:
		return func() fate { return there }
	}
	return func() fate { return fate(dice.IntN(int(fates))) }
}

func (f *folder) lose(dice *rand.Rand) {
	made, renamed, removed := luckOf(dice), luckOf(dice), luckOf(dice)
	for _, n := range f.names {
		luck := made
		switch {
		case n.node == nil:
			luck = removed
		case n.was != "":
			luck = renamed
		}
		if luck() != lost {
			n.on(f.kept)
		}
	}
	f.names, f.now = nil, maps.Clone(f.kept)
	for _, name := range f.list() {
		if sub, ok := f.now[name].(*folder); ok {
			sub.lose(dice)
		}
	}
}

// list returns the names in a folder, sorted.
func (f *folder) list() (names []string) {
	for name := range f.now {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
