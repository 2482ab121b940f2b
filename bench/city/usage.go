package city

import "time"

// usage is what a thread has had of the machine.
type usage struct {
	processor time.Duration
	faults    int // pages that came when they were touched
	waits     int // times that it waited, for a lock or a page
	preempted int // times that the system ran another thread in its place
}

// since returns what came after an earlier usage.
func (u usage) since(before usage) usage {
	return usage{u.processor - before.processor, u.faults - before.faults, u.waits - before.waits,
		u.preempted - before.preempted}
}

// spell is how long something took in a frame, by the clock, and what the thread had meanwhile.
type spell struct {
	took time.Duration
	usage
}

// spin is the control: it reads the clock until a time has passed. It allocates nothing and takes
// no lock, so any time beyond that is not its own.
func spin(d time.Duration) spell {
	start, before := time.Now(), threadUsage()
	took := time.Duration(0)
	for took < d {
		took = time.Since(start)
	}
	return spell{took, threadUsage().since(before)}
}

// spells are those of all frames.
type spells []spell

// over returns how many took more than a time, and in how many of them the system ran another
// thread.
func (list spells) over(d time.Duration) (n, preempted int) {
	for _, s := range list {
		if s.took > d {
			n++
			if s.preempted > 0 {
				preempted++
			}
		}
	}
	return n, preempted
}

// overProcessor returns how many took more than a time of a processor.
func (list spells) overProcessor(d time.Duration) (n int) {
	for _, s := range list {
		if s.processor > d {
			n++
		}
	}
	return n
}

// total returns the sum of all.
func (list spells) total() (sum spell) {
	for _, s := range list {
		sum.took += s.took
		sum.processor += s.processor
		sum.faults += s.faults
		sum.waits += s.waits
		sum.preempted += s.preempted
	}
	return sum
}

// longest returns the frame that took longest.
func (list spells) longest() (at int) {
	for i := range list {
		if list[i].took > list[at].took {
			at = i
		}
	}
	return at
}

// times returns the times by the clock, and those of a processor.
func (list spells) times() (clock, processor []time.Duration) {
	for _, s := range list {
		clock, processor = append(clock, s.took), append(processor, s.processor)
	}
	return clock, processor
}
