package units

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSidesAgree plays each side in this process: same sums, in frames in which units were stunned,
// recovered, were removed and killed.
func TestSidesAgree(t *testing.T) {
	const count, frames = MinUnits, 60
	for _, mode := range []Mode{Both, Spawning, Alone, Journaled} {
		first := Sample{}
		for _, side := range []string{PlainSide, PointersSide, ArkSide, CommandsSide, DirectSide} {
			m, err := Spec{Side: side, Mode: mode, Units: count, Frames: frames}.Measure()
			if mode == Journaled && side != CommandsSide && side != DirectSide {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err, side)
			if first.Full.Units == 0 {
				first = m
			}
			require.Equal(t, first.Outcome(), m.Outcome(), side)
			require.LessOrEqual(t, m.P50, m.P99)
			switch mode {
			case Both:
				require.Less(t, m.Last.Units, count)
				require.Greater(t, m.Last.Units, count-3*removed)
				require.Greater(t, m.Deaths, frames*(removed+hits/9))
				require.NotZero(t, m.States.Units)
				require.Positive(t, m.State)
			case Spawning:
				require.Positive(t, m.Spawn)
			case Journaled:
				require.Equal(t, frames, m.Journal.Commits)
				require.Positive(t, m.Journal.Records)
				require.Positive(t, m.Journal.Reopen)
			}
		}
	}
}

// TestRun: both sides end alike, with figures of both ways and both modes.
func TestRun(t *testing.T) {
	calls := 0
	plain, ours, err := Run(Options{Units: MinUnits, Frames: 24}, func(done, total int) {
		calls++
		require.Equal(t, calls, done)
		require.Equal(t, 6, total)
	})
	require.NoError(t, err)
	require.Equal(t, 6, calls)
	require.True(t, plain.OK, plain.Detail)
	require.True(t, ours.OK, ours.Detail)
	require.Equal(t, 24*MinUnits, ours.Ops)
	require.Equal(t, plain.Detail, ours.Detail)
	require.Positive(t, ours.Figures["frame_p50_ns"])
	require.Positive(t, ours.Figures["direct_reader_p99_ns"])
	require.Positive(t, ours.Committed)
	require.Zero(t, plain.Committed)
	require.Positive(t, plain.Heap)
	require.Len(t, ours.Lines, 2)
	for _, bad := range []Options{{Units: MinUnits - 1}, {Frames: StateEach - 1}} {
		_, _, err = Run(bad, nil)
		require.ErrorContains(t, err, "at least")
	}
}
