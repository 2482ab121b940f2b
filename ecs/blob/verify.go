package blob

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Check checks all blobs of the world and returns an error that wraps ErrBlob and names the first
// that may not be read: its type, its entity, what is wrong with it and where. NewStore does it;
// do it after MoveAll and ApplyDelta if what came is not known to be good. The bytes may be any:
// nothing outside of them is read. It is for the owner, while the world is not lent. Cost: one
// pass over all bytes of all blobs, and a look at each field that leads elsewhere.
func (s *Store) Check() (err error) {
	lost := ecs.NewQuery(s.world, ecs.With(s.words), ecs.Without(s.heads), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer lost.Close()
	for _, e := range lost.Entities(nil) {
		return fmt.Errorf("blob: %w: %v: B3: it has no header", ErrBlob, e)
	}
	s.each(func(e ecs.Entity, h *header) bool {
		if err = s.checkBlob(h, s.words.Slice(e)); err != nil {
			err = fmt.Errorf("blob: %w: %v: %w", ErrBlob, e, err)
		}
		return err == nil
	})
	return err
}

// Verify does what Check does, and checks the index (B5).
func (s *Store) Verify() error {
	if err := s.Check(); err != nil {
		return err
	}
	if !s.isCurrent() {
		return nil // it is made anew before it is used
	}
	found := 0
	var err error
	s.each(func(e ecs.Entity, h *header) bool {
		if found++; !slices.Contains(s.index[h.Hash], e) {
			err = fmt.Errorf("blob: %w: %v: B5: it is not in the index", ErrBlob, e)
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	for _, list := range s.index {
		found -= len(list)
	}
	if found != 0 {
		return fmt.Errorf("blob: %w: B5: the index has %d blobs more than the world", ErrBlob, -found)
	}
	return nil
}
