package wrap

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/internal/debug"
	"quarry/mmap"
)

// guardState determines who may touch a block.
type guardState uint8

const (
	stateLive    guardState = iota // the user; its zones: Guard under its lock
	stateFreed                     // no one: it is in quarantine; the body faults or is buried
	stateLeaving                   // the call that made it leave
)

// fencer is what Guard needs of the underlying pages: *mmap.Region, or in tests a type that fails
// on command.
type fencer interface {
	Guard(offset, n int) error
	Unguard(offset, n int) error
}

// fencerAt returns the pages that contain the byte at p and the byte's offset in them, or nil.
func fencerAt(p unsafe.Pointer) (fencer, int) {
	r, offset, ok := mmap.RegionAt(p)
	if !ok {
		return nil, 0 // not r, which would be a nil region in an interface
	}
	return r, offset
}

// guarded is a block and the memory around it.
type guarded struct {
	p      unsafe.Pointer
	size   int // requested bytes
	align  int // requested alignment
	state  guardState
	number uint64 // number of the block, by age

	base   unsafe.Pointer // memory from the allocator inside
	total  int            // its size in bytes
	edges  [4]int         // offsets from base: front, body and behind begin at [0], [1], [2]; [3] is total
	fenced [3]bool        // front, body, behind fault
	region fencer         // region that contains base; nil: none
	offset int            // offset of base in region

	found      *GuardError // damage seen when the block left the quarantine
	born, died callers
	record     int64 // in the file of the Monitor; 0: none
}

const (
	front  = 0
	body   = 1
	behind = 2
)

func roundUp(n, unit int) int { return (n + unit - 1) &^ (unit - 1) }

// alignment returns a requested alignment, with 16 for 0.
func alignment(align int) int {
	if align == 0 {
		return 16
	}
	return align
}

func (b *guarded) alignment() int { return alignment(b.align) }

// place lays the block out in the memory from the allocator inside: as far to the end as whole
// units allow, and for an alignment above the unit at the first aligned address.
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

// before and after return the bytes around the block that hold canaries: slack and zones, as far as
// they do not fault.
func (b *guarded) before() (p unsafe.Pointer, n int) {
	from, to := 0, b.start()
	if b.fenced[front] {
		from = b.edges[1]
	}
	if b.fenced[body] {
		to = b.edges[1]
	}
	// Safe because from lies in the memory from the allocator inside.
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
	// Safe because from lies in the memory from the allocator inside: a zone is behind it.
	return unsafe.Add(b.base, from), to - from
}

// start returns the block's offset from base.
func (b *guarded) start() int { return int(uintptr(b.p) - uintptr(b.base)) }

// prepare makes the zones and fills whatever does not fault.
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

// fence makes a part fault where possible.
func (b *guarded) fence(part int) {
	from, n := b.edges[part], b.edges[part+1]-b.edges[part]
	if b.region == nil || n == 0 || b.fenced[part] {
		return
	}
	err := b.region.Guard(b.offset+from, n)
	b.fenced[part] = err == nil || errors.Is(err, mmap.ErrAccess) // ErrAccess: it counts as guarded
}

// unfence makes all parts accessible, adjacent parts in one call. After an error some of it may
// still fault, as fenced records.
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

// bury changes a freed block so that an access, or at least a write, is detected.
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

// damage returns where memory of or around a block was written to that must not be, or nil.
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

// compare returns a function that reports where n bytes differ from a pattern.
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

// describe returns the block and its history as text.
func (b *guarded) describe() string {
	text := fmt.Sprintf("the block of %d bytes aligned to %d at %p, allocated at\n%v",
		b.size, b.alignment(), b.p, &b.born)
	if b.state != stateLive {
		text += fmt.Sprintf("freed at\n%v", &b.died)
	}
	return text
}
