package image_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// BenchmarkFrameWhileSaving: frames of 60 Hz over a million entities, in turns of a second without
// and with another goroutine that saves snapshots, one after the other. A snapshot is taken at the
// beginning of a frame when the one before has been saved, and its closing counts in a frame too.
func BenchmarkFrameWhileSaving(b *testing.B) {
	const rate, settle = 60, 10
	m := newTown(b, 1_000_000)
	defer m.close(b)
	path := filepath.Join(b.TempDir(), "town.world")
	var alone, saving []time.Duration
	saves := 0
	for b.Loop() {
		for _, with := range []bool{false, true} {
			saved := make(chan error, 1)
			var running func()
			tick := time.NewTicker(time.Second / rate)
			for frame := range settle + rate {
				<-tick.C
				begin := time.Now()
				if with && running == nil {
					s := m.w.Snapshot()
					running = s.Close
					go func() { saved <- image.SaveFile(s, path) }()
				}
				m.step()
				if running != nil {
					select {
					case err := <-saved:
						require.NoError(b, err)
						running()
						running = nil
						saves++
					default:
					}
				}
				if took := time.Since(begin); frame >= settle && with {
					saving = append(saving, took)
				} else if frame >= settle {
					alone = append(alone, took)
				}
			}
			tick.Stop()
			if running != nil {
				require.NoError(b, <-saved)
				running()
			}
		}
	}
	at := func(all []time.Duration, of int) float64 {
		slices.Sort(all)
		return float64(all[len(all)*of/100]) / 1e6
	}
	b.ReportMetric(at(alone, 50), "alone-p50-ms")
	b.ReportMetric(at(alone, 99), "alone-p99-ms")
	b.ReportMetric(at(saving, 50)/at(alone, 50), "p50-ratio")
	b.ReportMetric(at(saving, 99)/at(alone, 99), "p99-ratio")
	b.ReportMetric(float64(saves)/float64(b.N), "saves/turn")
}
