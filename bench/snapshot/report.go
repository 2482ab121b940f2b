package snapshot

import (
	"fmt"
	"time"

	"quarry/bench/workload"
)

// report checks both sides and reports their costs.
func (b *bench) report(plain, ours *workload.Side) {
	for _, s := range []*workload.Side{plain, ours} {
		s.OK, s.Detail, s.Ops = true, "all places exact after all restores", b.o.Rounds
	}
	b.checkAll(plain, ours)
	for _, r := range []struct{ b *rows }{{b.large}, {b.small}} {
		ours.Committed += int64(r.b.world.Universe().Stats().Committed)
	}
	for i := range b.take {
		ours.Time += b.take[i] + b.some[i] + b.restore[i] + b.all[i]
		plain.Time += b.plainTake[i] + b.plainSome[i] + b.plainRestore[i] + b.plainAll[i]
	}
	allocs := float64(b.allocs) / float64(b.o.Rounds)
	ours.Figures = map[string]float64{"all_ratio": b.ratio(), "kept": float64(b.kept), "allocs": allocs}
	plain.Figures = map[string]float64{}
	for name, list := range map[string][]time.Duration{
		"take_ns": b.take, "close_ns": b.close, "some_ns": b.some, "list_ns": b.list, "restore_ns": b.restore,
		"some_unsaved_ns": b.someUnsaved, "list_unsaved_ns": b.listUnsaved, "frame_ns": b.frame, "all_ns": b.all,
		"copy_ns": b.copy,
	} {
		ours.Figures[name] = float64(middle(list))
	}
	for name, list := range map[string][]time.Duration{
		"take_ns": b.plainTake, "some_ns": b.plainSome, "restore_ns": b.plainRestore, "all_ns": b.plainAll,
	} {
		plain.Figures[name] = float64(middle(list))
	}
	ours.Lines = []string{
		fmt.Sprintf("take, %d rows of 40 B: Snapshot %v, wanted %s; Close %v",
			b.o.Large, middle(b.take), wanted(middle(b.take), wantTake), middle(b.close)),
		fmt.Sprintf("some, %d of %d rows: Snapshot and writes by slices %v, wanted %s (the writes alone %v); one by one by entities %v (alone %v)",
			b.o.Small/100, b.o.Small, middle(b.some), wanted(middle(b.some), wantSome), middle(b.someUnsaved),
			middle(b.list), middle(b.listUnsaved)),
		fmt.Sprintf("some, Restore %v, wanted %s", middle(b.restore), wanted(middle(b.restore), wantRestore)),
		fmt.Sprintf("all, %d rows: Snapshot and frame %v, without a snapshot %v, a copy of %.1f MB %v: %.2f of both, wanted %s; %.1f MB kept",
			b.o.Large, middle(b.all), middle(b.frame), float64(b.o.Large*positionSize)/1e6, middle(b.copy), b.ratio(),
			wanted(b.ratio(), wantAll), float64(b.kept)/1e6),
		fmt.Sprintf("%.3g Go allocations a round", allocs),
	}
	plain.Lines = []string{fmt.Sprintf("take, a copy of all, %v; some %v, back %v; all %v",
		middle(b.plainTake), middle(b.plainSome), middle(b.plainRestore), middle(b.plainAll))}
}

// wanted returns the bound that is wanted, and whether it holds.
func wanted[T time.Duration | float64](got, most T) string {
	if got > most {
		return fmt.Sprintf("%v **missed**", most)
	}
	return fmt.Sprintf("%v holds", most)
}
