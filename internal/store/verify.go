package store

import (
	"fmt"

	"quarry/internal/universe"
	"quarry/layout"
)

// Verify checks the numbered invariants of a store that was made with plan, and returns an error
// that names the first that does not hold. Promote must have completed any pending move.
func (g *Store) Verify(plan layout.Plan) error {
	for _, check := range []func() error{g.verifyRows, g.verifyUnits, g.verifyReserve} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := plan.Verify(); err != nil {
		return fmt.Errorf("alloc: T4: %w", err)
	}
	for _, c := range g.columns {
		if !isPlanned(c, plan) || plan.Rows != g.per {
			return fmt.Errorf("alloc: T4: a column of %d x %d B at offset %d of an eighth is not in the plan",
				g.per, c.Size, c.Offset)
		}
	}
	return nil
}

// verifyRows checks T1 and T5.
func (g *Store) verifyRows() error {
	start, units, chunks := 0, 0, len(g.chunks)+len(g.reserve)
	for i, c := range g.chunks {
		if c.Start != start || i < len(g.chunks)-1 && g.count <= start+g.Fits(c) || g.count <= start {
			return fmt.Errorf(
				"alloc: T1: %d rows, %d a unit, in %d chunks; chunk %d of order %d starts at row %d, want %d",
				g.count, g.per, len(g.chunks), i, c.Order, c.Start, start)
		}
		start += g.Fits(c)
		units += c.Units()
	}
	if g.count > start || g.count < 0 || units != g.units {
		return fmt.Errorf("alloc: T1: %d rows, %d a unit, in %d units, counted %d", g.count, g.per, units, g.units)
	}
	if g.tail.full != start || len(g.chunks) > 0 && g.tail.base != PointerTo(g.u, g.chunks[len(g.chunks)-1].First) {
		return fmt.Errorf("alloc: T1: room for %d rows, the tail says %d, at %p", start, g.tail.full, g.tail.base)
	}
	for _, list := range [][]Chunk{g.chunks, g.reserve} {
		for _, c := range list {
			if c.Small() && (chunks > 1 || g.smallChunks == nil || c.Order != 0) {
				return fmt.Errorf("alloc: T5: one of %d chunks has order %d, smallChunks %v",
					chunks, c.Order, g.smallChunks != nil)
			}
		}
	}
	return nil
}

// verifyUnits checks T2.
func (g *Store) verifyUnits() error {
	seen := make(map[universe.ChunkIndex]bool, g.units+g.spare)
	for _, list := range [][]Chunk{g.chunks, g.reserve} {
		for _, c := range list {
			if c.First%(1<<c.Order) != 0 || c.Order > MaxOrder {
				return fmt.Errorf("alloc: T2: a chunk of order %d begins at eighth %d", c.Order, c.First)
			}
			for unit := c.First.Chunk(); unit < (c.First + 1<<c.Order + eighths - 1).Chunk(); unit++ {
				if seen[unit] || !g.u.InUse(unit) {
					return fmt.Errorf("alloc: T2: chunk %d is listed twice (%v) or not in use", unit, seen[unit])
				}
				seen[unit] = true
			}
			if c.Small() && !g.smallChunks.has(c.First) {
				return fmt.Errorf("alloc: T2: eighth %d is not handed out", c.First)
			}
		}
	}
	return nil
}

// verifyReserve checks T3.
func (g *Store) verifyReserve() error {
	spare := 0
	for _, c := range g.reserve {
		spare += c.Units()
	}
	if most := g.mostReserve(); spare != g.spare || spare > most {
		return fmt.Errorf("alloc: T3: %d chunks in reserve, counted %d, beside %d in use, at most %d may be (%v)",
			spare, g.spare, g.units, most, g.growth)
	}
	return nil
}

func isPlanned(c Column, plan layout.Plan) bool {
	for _, p := range plan.Places {
		if !p.Hole && p.Offset == int(c.Offset)*eighths && p.Size == int(c.Size) {
			return true
		}
	}
	return false
}
