package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quarry/ecs"
	"quarry/ecs/image"
)

// Worlds that were written and opened again. What comes from a file is a fork that kept its
// versions, and which archetypes are pinned.

// openedOf writes one of the snapshots and opens it again, or returns nil if that is refused: the
// snapshot is lost, it has values that cannot be written, or there is no memory. Then nothing has
// changed.
func (d *world) openedOf(t *snapshotModel) (*ecs.World, error) {
	if err := d.tend(); err != nil {
		return nil, err
	}
	lost, before := t.s.Err(), d.w.Hash()
	w, err := d.reopened(t.s)
	if got := d.w.Hash(); got != before {
		return nil, fmt.Errorf("a file changed the world's hash, it said: %w", err)
	}
	unwritable := !d.copied && t.rowsOfKind(managedKind) || t.hasKind(cellKind)
	switch {
	case err == nil && (lost != nil || unwritable):
		return nil,
			fmt.Errorf("in image.Save: got no error, although the snapshot is lost (%w) or has values that cannot be written: %v",
				lost, unwritable)
	case err == nil && w.Hash() != t.hash:
		return nil, fmt.Errorf("the hash of a world from a file: got %x want %x", w.Hash(), t.hash)
	case err == nil:
		return w, w.Verify()
	case lost == nil && !unwritable && !isRefusal(err):
		return nil, fmt.Errorf("in image.Save or Load: %w", err)
	}
	d.result.Refused++
	return nil, d.w.Verify()
}

// isRefusal reports whether an error means that there is no memory: a file needs whole granules.
func isRefusal(err error) bool {
	var e *ecs.LimitError
	return errors.As(err, &e)
}

// reopened writes a snapshot to a file and opens it, or to memory and loads it, in turns.
func (d *world) reopened(s *ecs.Snapshot) (*ecs.World, error) {
	register := func(w *ecs.World) {
		register(w, d.apart, d.copied)
		if d.m.set.known {
			ecs.RegisterSparse[sparseLink](w, ecs.Enableable)
		}
	}
	options := image.World(ecs.WithUniverse(d.u), ecs.ChunkGrowth(d.growth))
	if d.result.Opened%2 == 0 {
		var b bytes.Buffer
		if err := image.Save(s, &b); err != nil {
			return nil, err
		}
		return image.Load(&b, register, options)
	}
	folder, err := os.MkdirTemp("", "quarry")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "stream.world")
	if err := image.SaveFile(s, path); err != nil {
		return nil, err
	}
	return image.Open(path, register, options)
}

// hasKind reports whether an archetype had a kind at the moment, with rows or without.
func (t *snapshotModel) hasKind(k int) bool {
	for g := range t.pinned {
		if g.set.has(k) {
			return true
		}
	}
	return false
}
