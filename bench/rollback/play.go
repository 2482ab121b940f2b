package rollback

import (
	"runtime"
	"slices"
	"time"
)

// costs are the durations of the calls of a game, and what it allocated.
type costs struct {
	frames, saves, backs []time.Duration
	kept                 int     // bytes of saved states, the most
	allocs               float64 // Go allocations a played frame, in the second half
}

// player plays a game that goes back.
type player struct {
	game game
	costs
	unsaved bool // the game is never saved and does not go back
}

// turn plays the frame, and the last depth frames again if it is the last of as many.
func (p *player) turn(frame int) error {
	if err := p.frame(frame, true); err != nil || p.unsaved || (frame+1)%depth != 0 {
		return err
	}
	p.kept = max(p.kept, p.game.kept())
	first := frame + 1 - depth
	start := time.Now()
	if err := p.game.back(first % depth); err != nil {
		return err
	}
	p.backs = append(p.backs, time.Since(start))
	for again := first; again <= frame; again++ {
		if err := p.frame(again, again > first); err != nil { // that of the first is saved still
			return err
		}
	}
	return nil
}

func (p *player) frame(frame int, save bool) error {
	start := time.Now()
	if save && !p.unsaved {
		p.game.save(frame % depth)
		now := time.Now()
		p.saves = append(p.saves, now.Sub(start))
		start = now
	}
	err := p.game.step(frame)
	p.frames = append(p.frames, time.Since(start))
	return err
}

// play lets players play so many frames, in turns, and calls tick after each frame.
func play(frames int, tick func(), players ...*player) error {
	played := make([]int, len(players))
	for _, p := range players {
		p.frames, p.saves = make([]time.Duration, 0, 2*frames), make([]time.Duration, 0, 2*frames)
		p.backs = make([]time.Duration, 0, frames)
	}
	allocs := make([]uint64, len(players))
	for frame := range frames {
		for i, p := range players {
			half, before := frame >= frames/2, uint64(0)
			if half {
				before = mallocs()
			}
			had := len(p.frames)
			if err := p.turn(frame); err != nil {
				return err
			}
			if half {
				allocs[i] += mallocs() - before
				played[i] += len(p.frames) - had
			}
		}
		tick()
	}
	for i, p := range players {
		p.allocs = float64(allocs[i]) / float64(max(played[i], 1))
	}
	return nil
}

// mallocs returns the number of Go allocations so far.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func sum(list []time.Duration) (all time.Duration) {
	for _, d := range list {
		all += d
	}
	return all
}

// middle returns the median; 0 of none.
func middle(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
