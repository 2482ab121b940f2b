package entity

import (
	"fmt"
	"math/bits"
	"sort"
)

// Differences of two stores. The later store went on from the state of the earlier one, or from a
// copy. The owner may take the indices with an even version (R1), so the versions that differ show
// which indices are free. Beside them a difference has the few numbers of State and, of blocks of
// reservations, the bits of indices in use:
//
//	earlier   12v3  13v3  14v2      Step{First: 12, N: 2, Old: 3, New: 4}, Step{14, 1, 2, 5}
//	later     12v4  13v4  14v5

// Difference is what differs between an earlier and a later store.
type Difference struct {
	From, To State
	Steps    []Step          // rising, without overlap
	Reserved []ReservedBlock // blocks of reservations that are new or differ in their bits, rising
}

// State is the state of a store without versions and bits.
type State struct {
	Blocks   int    // made, of both kinds
	Own      int    // of the owner
	Records  int    // blocks that have records
	Word     uint64 // free indices of the word at hand
	WordBase uint32 // index of bit 0; 0 without a word at hand
	Hint     int    // block where the next search of Reserve begins
}

// Step is N indices, from First on, that went from version Old to version New.
type Step struct{ First, N, Old, New uint32 }

// ReservedBlock is what differs in a block of reservations, beside versions.
type ReservedBlock struct {
	Number   int
	Old, New int       // where the next search in the block begins
	Used     []UsedBit // words that differ, rising
}

// UsedBit is a word of the indices in use of a block, in the earlier and the later store.
type UsedBit struct {
	At       int // 0..127
	Old, New uint64
}

// State returns the store's state.
func (s *Store) State() State {
	t := State{Blocks: int(s.total.Load()), Own: s.own, Records: int(s.view.n) / blockSize, Word: s.word}
	if s.word != 0 {
		t.WordBase = s.wordBase
	}
	if o := s.reservations.Load(); o != nil {
		t.Hint = int(o.hint.Load())
	}
	return t
}

// reserved returns the block of reservations with a number, or nil.
func (s *Store) reserved(number int) *indexBlock {
	if o := s.reservations.Load(); o != nil {
		return o.block[number].Load()
	}
	return nil
}

// Version returns the version of an index; 0 if there is none yet.
func (s *Store) Version(index uint32) uint32 {
	if b := s.reserved(int(index / blockSize)); b != nil {
		return b.versions[index%blockSize]
	}
	if index < s.view.n {
		return s.view.at(index).version
	}
	return 0
}

// Compare returns what differs between two stores. No goroutine may call Reserve meanwhile. An
// error means that the later store does not continue the earlier one. Cost: a read of each version.
func Compare(earlier, later *Store) (*Difference, error) {
	d := &Difference{From: earlier.State(), To: later.State()}
	if d.To.Blocks < d.From.Blocks || d.To.Records < d.From.Records {
		return nil,
			fmt.Errorf("entity: the earlier store has %d blocks, %d of them with records, the later one %d and %d",
				d.From.Blocks, d.From.Records, d.To.Blocks, d.To.Records)
	}
	for number := range d.To.Blocks {
		older, newer := earlier.reserved(number), later.reserved(number)
		if number < d.From.Blocks && (older == nil) != (newer == nil) {
			return nil, fmt.Errorf("entity: block %d is of reservations in one store only", number)
		}
		if newer != nil {
			d.compareReserved(older, newer)
			continue
		}
		first := uint32(number * blockSize)
		records := later.all()[first : first+blockSize]
		if number >= d.From.Records {
			for i := range records {
				d.step(first+uint32(i), 0, records[i].version)
			}
			continue
		}
		old := earlier.all()[first : first+blockSize]
		for i := range records {
			if v := records[i].version; v != old[i].version {
				d.step(first+uint32(i), old[i].version, v)
			}
		}
	}
	return d, nil
}

// none reports whether nothing differs.
func (d *Difference) none() bool {
	return d.From == d.To && len(d.Steps) == 0 && len(d.Reserved) == 0
}

// step notes the versions of an index, unless they are the same.
func (d *Difference) step(index, older, newer uint32) {
	if older == newer {
		return
	}
	if n := len(d.Steps); n > 0 && index%blockSize > 0 { // a step stays in its block
		if s := &d.Steps[n-1]; s.First+s.N == index && s.Old == older && s.New == newer {
			s.N++
			return
		}
	}
	d.Steps = append(d.Steps, Step{index, 1, older, newer})
}

// compareReserved notes what differs in a block of reservations; older is nil for a new block.
func (d *Difference) compareReserved(older, newer *indexBlock) {
	p := ReservedBlock{Number: newer.number, New: newer.next}
	for i, used := range newer.used {
		old := excludedWord(newer.number, i)
		if older != nil {
			old = older.used[i]
		}
		if used != old {
			p.Used = append(p.Used, UsedBit{i, old, used})
		}
	}
	for i, v := range newer.versions {
		old := uint32(0)
		if older != nil {
			old = older.versions[i]
		}
		d.step(uint32(newer.number*blockSize+i), old, v)
	}
	if older != nil {
		p.Old = older.next
	}
	if older == nil || len(p.Used) > 0 || p.Old != p.New {
		d.Reserved = append(d.Reserved, p)
	}
}

// excludedWord returns a word of the excluded indices of a block of reservations.
func excludedWord(number, word int) (set uint64) {
	for bit := range 64 {
		if isExcluded(uint32(number*blockSize + word*64 + bit)) {
			set |= 1 << bit
		}
	}
	return set
}

// VersionIn returns the version of an index after the difference is applied to a store.
func (d *Difference) VersionIn(s *Store, index uint32) uint32 {
	at := sort.Search(len(d.Steps), func(i int) bool { return d.Steps[i].First+d.Steps[i].N > index })
	if at < len(d.Steps) && d.Steps[at].First <= index {
		return d.Steps[at].New
	}
	return s.Version(index)
}

// Apply makes a store equal to the later one, but for the locations of entities that are alive,
// which the caller sets by MoveRows. Fits has passed, and room is from RoomFor.
func (s *Store) Apply(d *Difference, room DifferenceRoom) {
	if d.none() {
		return
	}
	s.PutBack()
	for i := range d.Reserved {
		if p := &d.Reserved[i]; p.Number >= d.From.Blocks {
			s.makeReservations().add(s.newBlock(p.Number, room.runs[0]))
			room.runs = room.runs[1:]
		}
	}
	for number := d.From.Blocks; number < d.To.Blocks; number++ {
		if s.reserved(number) == nil {
			s.addBlock(number)
		}
	}
	s.total.Store(int32(d.To.Blocks))
	if d.To.Records > d.From.Records && s.ownsLast() {
		s.hideLast()
	}
	for i := range d.Steps {
		s.applyStep(&d.Steps[i])
	}
	for i := range d.Reserved {
		s.applyUsed(&d.Reserved[i])
	}
	if o := s.reservations.Load(); o != nil {
		o.hint.Store(int32(d.To.Hint))
	}
	if d.To.Word != 0 {
		s.word, s.wordBase = d.To.Word, d.To.WordBase
		s.takeFree(int(s.wordBase/64), s.word)
	}
}

// takeFree clears bits of free.
func (s *Store) takeFree(word int, set uint64) {
	if s.free[word] &^= set; s.free[word] == 0 {
		s.summary[word/64] &^= 1 << (word % 64)
	}
}

func (s *Store) applyStep(step *Step) {
	b := s.reserved(int(step.First / blockSize)) // a step of a block of reservations ends with it, see Fits
	if b != nil {
		count := b.lock(s) // which saves the block for snapshots, before its versions change
		s.reservations.Load().unlock(b, count, count)
	}
	for index := step.First; index < step.First+step.N; index++ {
		if b != nil {
			b.versions[index%blockSize] = step.New
			s.reservations.Load().alive += int(step.New&1) - int(step.Old&1)
		} else if step.Old&1 < step.New&1 {
			s.takeFree(int(index/64), 1<<(index%64))
			s.nFree--
		} else if step.Old&1 > step.New&1 {
			s.release(index)
		}
		if index >= s.view.n {
			continue
		}
		r := s.view.at(index)
		if r.version = step.New; step.New&1 == 0 {
			r.Location = Nowhere
		}
	}
}

func (s *Store) applyUsed(p *ReservedBlock) {
	o, b := s.reservations.Load(), s.reserved(p.Number)
	count := b.lock(s)
	after := count
	for _, w := range p.Used {
		b.used[w.At] = w.New
		after += int32(bits.OnesCount64(w.New) - bits.OnesCount64(w.Old))
	}
	b.next = p.New
	o.free.Add(int64(count - after))
	o.unlock(b, count, after)
}
