package rollback

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/bench/boids"
	"quarry/bench/workload"
	"quarry/ecs"
)

// Options are the options of Run. Zero values are the full sizes.
type Options struct {
	Birds  int // of the flock
	Frames int // that it flies; a multiple of 8
	Acorns int // of Life
}

const (
	birdsFull   = 100_000
	framesFull  = 48
	acornsFull  = 16
	generations = 1000 // of Life; there is an answer, and it is a multiple of depth
)

// Usual and Quick are options for a short run and a very short one.
var (
	Usual = Options{Birds: 50_000, Frames: 32, Acorns: 6}
	Quick = Options{Birds: 10_000, Frames: 16, Acorns: 2}
)

// Run plays both games on both sides. The figures of a side are, for each game (boids_, life_):
// frame_ns of a frame after a saved state, save_ns, back_ns, kept (bytes) and allocs (of Go, a
// frame); ours has unsaved_frame_ns, too, of a frame of a world that is never saved. All times are
// medians.
func Run(o Options, progress workload.Progress) (plain, ours workload.Side, err error) {
	if o.Birds == 0 {
		o.Birds = birdsFull
	}
	if o.Frames == 0 {
		o.Frames = framesFull
	}
	if o.Acorns == 0 {
		o.Acorns = acornsFull
	}
	if o.Frames < 0 || o.Frames%depth != 0 {
		return plain, ours, fmt.Errorf("rollback: %d frames, expected a multiple of %d", o.Frames, depth)
	}
	done, total := 0, o.Frames+generations
	tick := func() {
		if done++; progress != nil {
			progress(done, total)
		}
	}
	for _, s := range []*workload.Side{&plain, &ours} {
		s.OK, s.Figures = true, map[string]float64{}
		s.Detail = "the same state as without going back; boids equal on both sides to the bit, Life as known"
	}
	return plain, ours, errors.Join(runBoids(o, tick, &plain, &ours), runLife(o, tick, &plain, &ours))
}

// runBoids plays boids.
func runBoids(o Options, tick func(), plain, ours *workload.Side) (err error) {
	p := &plainBirds{Plain: boids.NewPlain(o.Birds)}
	own, err := newBirds(o.Birds)
	if err != nil {
		return err
	}
	twin, err := newBirds(o.Birds)
	if err != nil {
		return errors.Join(err, own.close())
	}
	t := trio{name: "boids", plain: player{game: p}, ours: player{game: own}, unsaved: player{
		game: twin, unsaved: true,
	}, sides: [2]*workload.Side{plain, ours}}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.play(fmt.Sprintf("%d birds", o.Birds), o.Frames, tick); err != nil {
		return err
	}
	if !slices.Equal(own.Birds(nil), p.Birds) {
		ours.Fail("boids: the birds are not where those of the plain side are")
	}
	return t.compare(own.ECS(), twin.ECS())
}

// runLife plays Life.
func runLife(o Options, tick func(), plain, ours *workload.Side) (err error) {
	p, err := newPlainCells(o.Acorns)
	if err != nil {
		return err
	}
	own, err := newCells(o.Acorns)
	if err != nil {
		return err
	}
	twin, err := newCells(o.Acorns)
	if err != nil {
		return errors.Join(err, own.close())
	}
	t := trio{name: "life", plain: player{game: p}, ours: player{game: own}, unsaved: player{game: twin, unsaved: true},
		sides: [2]*workload.Side{plain, ours}}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.play(fmt.Sprintf("%d acorns", o.Acorns), generations, tick); err != nil {
		return err
	}
	return t.compare(own.ECS(), twin.ECS())
}

// trio is a game three times: by copies, in a world, and in a world that is never saved.
type trio struct {
	name                 string
	plain, ours, unsaved player
	sides                [2]*workload.Side // plain and ours
}

// compare compares the worlds, and closes the games one by one to see what each had.
func (t *trio) compare(own, twin *ecs.World) error {
	ours := t.sides[1]
	if own.Hash() != twin.Hash() {
		ours.Fail(t.name + ": the hash is not that of a world that never went back")
	}
	ours.Committed += int64(own.Universe().Stats().Committed)
	for i, p := range []*player{&t.plain, &t.ours} {
		before := workload.LiveHeap()
		err := p.game.close()
		if p.game = nil; err != nil {
			return err
		}
		t.sides[i].Heap += before - workload.LiveHeap()
	}
	return nil
}

func (t *trio) close() (err error) {
	for _, p := range []*player{&t.plain, &t.ours, &t.unsaved} {
		if p.game != nil {
			err = errors.Join(err, p.game.close())
		}
	}
	return err
}

// play plays the three in turns and notes what they cost.
func (t *trio) play(what string, frames int, tick func()) error {
	if err := play(frames, tick, &t.plain, &t.ours, &t.unsaved); err != nil {
		return err
	}
	if err := t.unsaved.game.check(frames); err != nil {
		t.sides[1].Fail(t.name + ", never saved: " + err.Error())
	}
	unsaved := middle(t.unsaved.frames)
	t.sides[1].Figures[t.name+"_unsaved_frame_ns"] = float64(unsaved.Nanoseconds())
	for i, p := range []*player{&t.plain, &t.ours} {
		s, more := t.sides[i], ""
		if i == 1 {
			more = fmt.Sprintf(", %v if never saved", short(unsaved))
		}
		t.note(s, p, frames)
		s.Lines = append(s.Lines, fmt.Sprintf(
			"%s, %s, %d frames twice: a frame %v%s; save %v, go back by %d frames %v; %.1f MB kept for %d states; %.3g Go allocations a frame",
			t.name, what, frames, short(middle(p.frames)), more, short(middle(p.saves)), depth, short(middle(p.backs)),
			float64(p.kept)/1e6, depth, p.allocs))
	}
	return nil
}

// note notes what a player cost.
func (t *trio) note(s *workload.Side, p *player, frames int) {
	s.Time += sum(p.frames) + sum(p.saves) + sum(p.backs)
	s.Ops += len(p.frames)
	for name, v := range map[string]float64{
		"frame_ns": float64(middle(p.frames).Nanoseconds()), "save_ns": float64(middle(p.saves).Nanoseconds()),
		"back_ns": float64(middle(p.backs).Nanoseconds()), "kept": float64(p.kept), "allocs": p.allocs,
	} {
		s.Figures[t.name+"_"+name] = v
	}
	if err := p.game.check(frames); err != nil {
		s.Fail(t.name + ": " + err.Error())
	}
}

// short rounds a duration for people.
func short(d time.Duration) time.Duration {
	if d > time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Nanosecond)
}
