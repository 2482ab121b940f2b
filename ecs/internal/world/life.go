package world

import (
	"errors"
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/name"
	"quarry/ecs/internal/table"
	"quarry/internal/debug"
	"quarry/internal/growth"
	"quarry/internal/universe"
)

// The life of a world: the options that create it, and the opening and closing of the parts that
// world.go declares.

// DefaultGrowth is ecs.DefaultChunkGrowth.
func DefaultGrowth() growth.Policy { return growth.Doubling().Capped(universe.ChunksPerMegachunk) }

// NewWorld is ecs.NewWorld. given applies the options.
func NewWorld(given func(*World)) (*World, error) {
	w := &World{Growth: DefaultGrowth()}
	w.Types.Open()
	w.Archetypes.Open()
	w.QueryEpochs = QueryEpochs{Matched: 1, OwnerMatched: 1}
	onLoops.open(w)
	given(w)
	if w.Universe == nil {
		u, err := universe.New()
		if err != nil {
			return nil,
				fmt.Errorf("ecs: NewWorld: a universe of its own (ecs.WithUniverse takes one of another size): %w", err)
		}
		w.Universe, w.Own = u, true
	}
	if w.Universe.Size() == 0 {
		panic("ecs: NewWorld: the universe of WithUniverse is closed")
	}
	trim := w.trim
	w.Buffers.Open(w.Universe, trim)
	w.Base = w.Universe.Base()
	tag, number := Tags.TakeApart(0)
	w.IDs.Open(w.Universe, tag)
	if debug.On {
		w.IDs.Apart(number)
	}
	w.Tables.Open(w.Universe, w.Growth, &w.IDs, table.Calls{Trim: trim, Replanned: w.QueryEpochs.NextReplanned})
	w.Writer.Open(&w.IDs, &w.Tables, &w.Buffers, change.Calls{
		TableAt: func(i uint32) *table.Table { return &w.Archetypes.List[i].Table.Table },
		Trim:    trim, Records: w.UpdateLookups,
	})
	w.Index.Open()
	w.RegisterBuiltIn()
	return w, nil
}

// Close is ecs.World.Close.
func (w *World) Close() error {
	w.CheckMade("World.Close")
	if w.Closed {
		return w.closeUniverse() // it may have been in use the first time
	}
	if by := w.Keeper.Load(); by != nil {
		return fmt.Errorf("ecs: World.Close: %s is open; close it first", *by)
	}
	w.CheckIdle("World.Close")
	if w.History != nil {
		w.History.Close("World.Close")
	}
	err := w.freeBuffers()
	for _, t := range w.Types.List {
		switch t.Kind {
		case KindManaged:
			t.Managed.Drop()
		case KindShared:
			t.Shared.Drop()
		}
	}
	for _, a := range w.Archetypes.List {
		a.Table.End()
		*a = Archetype{World: w, Table: a.Table}
	}
	err = errors.Join(err, w.IDs.Close(), w.Buffers.Close())
	for _, t := range w.Types.Sparse {
		err = errors.Join(err, t.Sparse.Close())
	}
	if err != nil {
		err = fmt.Errorf("ecs: World.Close: %w", err)
	}
	err = errors.Join(err, w.closeUniverse())
	Tags.Free(w.IDs.Tag())
	w.Closed, w.Base, w.Names = true, nil, name.Names{}
	w.QueryEpochs.OwnerMatched = NoEpoch
	w.Tables.Close()
	w.Index.Close()
	w.Loops.Open++ // a loop that never ends, so that structural changes panic
	for _, t := range w.Types.List {
		t.Disable()
	}
	w.Writer.Epoch++ // invalidates views
	return err
}

func (w *World) closeUniverse() error {
	if !w.Own {
		return nil
	}
	if err := w.Universe.Close(); err != nil {
		if n := w.Recorded.Load(); n > 0 {
			return fmt.Errorf(
				"ecs: World.Close: command buffers that are not closed hold %d chunks, call Buffer.Close first: %w",
				n, err)
		}
		return fmt.Errorf("ecs: World.Close: %w", err)
	}
	return nil
}
