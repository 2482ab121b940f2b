package delta

import (
	"encoding/binary"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Applier applies deltas to a world one after another, as ApplyDelta does, with the memory of the
// one before, and with its types where these are the same. So a delta of one entity takes a
// microsecond or two. The zero value is ready. It belongs to the world's owner.
type Applier struct {
	delta Delta
	plan  deltaPlan
	memory
}

// Apply applies a delta that is all of b, as AppendDelta appends it, and whose checksum was
// compared. b may be written afterwards. Errors are those of ApplyDelta.
func (a *Applier) Apply(w *world.World, b []byte) error {
	const op = "World.ApplyDelta"
	w.CheckNew(op)
	w.CheckUnlocked(op)
	if len(b) < DeltaFrame+4 {
		return refuseDelta(op, "it is cut: it has %d bytes", len(b))
	}
	frame, content := b[:DeltaFrame], b[DeltaFrame:len(b)-4]
	if err := checkFormat(op, frame); err != nil {
		return err
	}
	if length := binary.LittleEndian.Uint64(frame[12:]); length != uint64(len(content)) {
		return refuseDelta(op, "its content has %d bytes, and it has room for %d", length, len(content))
	}
	a.reset()
	if err := a.delta.decode(op, frame, content, &a.memory); err != nil {
		a.coded = a.coded[:0] // the plan does not have these types
		return err
	}
	w.Loops.Enter(op) // a memory hook must not change the world that was checked
	defer w.Loops.Leave()
	a.plan.reset(&a.delta, op, w, a.same)
	return a.plan.run()
}

// reset empties the delta.
func (a *Applier) reset() {
	d := &a.delta
	a.tables = append(a.tables[:0], d.Tables...)
	ids := d.IDs
	if ids != nil {
		*ids = entity.Difference{Steps: ids.Steps[:0], Reserved: ids.Reserved[:0]}
	}
	*d = Delta{IDs: ids, Tables: d.Tables[:0], Sparse: d.Sparse[:0], Names: d.Names[:0]}
}

// reset makes an empty plan of a delta. same is set if its types are those of the delta before.
func (p *deltaPlan) reset(d *Delta, op string, w *world.World, same bool) {
	described, types := p.described, p.types
	if p.w != w || len(described) != len(w.Types.List) {
		described, same = nil, false
	}
	if !same {
		types = types[:0]
	}
	clear(p.at)
	*p = deltaPlan{
		Delta: d, op: op, w: w, described: described, at: p.at, types: types, tables: p.tables[:0],
		values: p.values[:0], sets: p.sets[:0],
	}
}
