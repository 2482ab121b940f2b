package wrap

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/internal/debug"
	"quarry/mmap"
)

// guardState says who may touch a block.
type guardState uint8

const (
	stateLive    guardState = iota // the user; the zones: Guard under its lock
	stateFreed                     // nobody: it is in quarantine; the body faults or is buried
	stateLeaving                   // the call that made it so
)

// fencer is what Guard needs of the pages below: *mmap.Region, and in tests one that
// fails on command.
type fencer interface {
	Guard(offset, n int) error
	Unguard(offset, n int) error
}

// fencerAt returns the pages that the byte at p lies in, and where; nil for none.
func fencerAt(p unsafe.Pointer) (fencer, int) {
	r, offset, ok := mmap.RegionAt(p)
	if !ok {
		return nil, 0 // not r, which would be a nil region in an interface
	}
	return r, offset
}

// guarded is a block and what is around it.
type guarded struct {
	p      unsafe.Pointer
	size   int // bytes asked for
	align  int // as asked for
	state  guardState
	number uint64 // of the block, by age

	base   unsafe.Pointer // what the allocator inside gave
	total  int            // bytes of that
	edges  [4]int         // offsets from base: front, body and behind begin at [0], [1], [2]; [3] is total
	fenced [3]bool        // front, body, behind fault
	region fencer         // where base lies; nil: in none
	offset int            // of base in region

	found      *GuardError // damage that was seen when it left the quarantine
	born, died callers
}

const (
	front  = 0
	body   = 1
	behind = 2
)

func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }

// alignment is an alignment that was asked for, with 16 for 0.
func alignment(align int) int {
	if align == 0 {
		return 16
	}
	return align
}

func (b *guarded) alignment() int { return alignment(b.align) }

// place lays the block out in what the allocator inside gave: as far behind as fits in
// whole units, for an alignment above the unit at the first address that has it.
func (b *guarded) place(base unsafe.Pointer, zone, unit int) {
	b.base = base
	from := zone
	if a := b.alignment(); a > unit {
		from += int(-(uintptr(base) + uintptr(zone)) & uintptr(a-1))
	}
	to := from + roundUp(b.size, unit)
	b.edges = [4]int{0, from, to, b.total}
	at := from
	if a := b.alignment(); a <= unit {
		at = (to - b.size) &^ (a - 1) // base is aligned to the unit, so the address is too
	}
	// Safe because zone <= at and at+size <= to <= total - zone.
	b.p = unsafe.Add(base, at)
}

// before and after are the bytes around the block that hold canaries: slack and zones,
// as far as they do not fault.
func (b *guarded) before() (p unsafe.Pointer, n int) {
	from, to := 0, b.start()
	if b.fenced[front] {
		from = b.edges[1]
	}
	if b.fenced[body] {
		to = b.edges[1]
	}
	// Safe because from lies in what the allocator inside gave.
	return unsafe.Add(b.base, from), to - from
}

func (b *guarded) after() (p unsafe.Pointer, n int) {
	from, to := b.start()+b.size, b.total
	if b.fenced[body] {
		from = b.edges[2]
	}
	if b.fenced[behind] {
		to = b.edges[2]
	}
	// Safe because from lies in what the allocator inside gave: a zone is behind it.
	return unsafe.Add(b.base, from), to - from
}

// start is the block's offset from base.
func (b *guarded) start() int { return int(uintptr(b.p) - uintptr(b.base)) }

// prepare makes the zones and fills what does not fault.
func (b *guarded) prepare() {
	b.prepareZones()
	// Safe because the block is ours until Alloc returns it.
	fresh := unsafe.Slice((*byte)(b.p), b.size)
	for len(fresh) > 0 {
		n := min(len(fresh), patternStep)
		debug.Poison(fresh[:n], debug.Fresh)
		fresh = fresh[n:]
	}
}

func (b *guarded) prepareZones() {
	b.fence(front)
	b.fence(behind)
	canaries.fill(b.before())
	canaries.fill(b.after())
}

// fence makes a part fault where that can be had.
func (b *guarded) fence(part int) {
	from, n := b.edges[part], b.edges[part+1]-b.edges[part]
	if b.region == nil || n == 0 || b.fenced[part] {
		return
	}
	err := b.region.Guard(b.offset+from, n)
	b.fenced[part] = err == nil || errors.Is(err, mmap.ErrAccess) // ErrAccess: it counts as guarded
}

// unfence makes everything ready. Parts that lie side by side take one call. After an
// error some of it may still fault, as fenced says.
func (b *guarded) unfence() error {
	for i := 0; i < len(b.fenced); i++ {
		from := i
		for i < len(b.fenced) && b.fenced[i] {
			i++
		}
		if from == i {
			continue
		}
		if err := b.region.Unguard(b.offset+b.edges[from], b.edges[i]-b.edges[from]); err != nil {
			return err
		}
		for ; from < i; from++ {
			b.fenced[from] = false
		}
	}
	return nil
}

// bury makes a freed block such that a touch of it shows, or at least a write.
func (b *guarded) bury() {
	b.fence(body)
	if b.region != nil { // a guard that is refused may have taken the contents of the slack
		canaries.fill(b.before())
		canaries.fill(b.after())
	}
	if !b.fenced[body] {
		buried.fill(b.p, b.size)
	}
}

// damage says where a block was written to that must not be, or returns nil.
func (b *guarded) damage() *GuardError {
	if e := b.compare(&canaries)(b.before()); e != nil {
		return e
	}
	if e := b.compare(&canaries)(b.after()); e != nil {
		return e
	}
	if b.state == stateFreed && !b.fenced[body] {
		return b.compare(&buried)(b.p, b.size)
	}
	return nil
}

// compare returns a function that says where n bytes are not those of a pattern.
func (b *guarded) compare(k *pattern) func(p unsafe.Pointer, n int) *GuardError {
	return func(p unsafe.Pointer, n int) *GuardError {
		first, last := k.changed(p, n)
		if first < 0 {
			return nil
		}
		e := b.report(uintptr(p)+uintptr(first), ErrDamage)
		e.Bytes = last - first + 1
		return e
	}
}

// describe is the block and its history in words.
func (b *guarded) describe() string {
	text := fmt.Sprintf("the block of %d bytes aligned to %d at %p, allocated at\n%v", b.size, b.alignment(), b.p, &b.born)
	if b.state != stateLive {
		text += fmt.Sprintf("freed at\n%v", &b.died)
	}
	return text
}
