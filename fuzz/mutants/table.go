package main

// mutants are the broken places, by layer.
var mutants = []mutant{
	// bitmask: searches, ranges, summaries.
	{"bitmask/run.go", "if below+above < n {", "if below+above <= n {", ""},
	{"bitmask/run.go", "z &= z >> ((u - 8) % WordBits)", "z &= z >> ((u - 9) % WordBits)", ""},
	{"bitmask/run.go", "z &= aligned[bits.TrailingZeros8(uint8(n))]", "z &= aligned[bits.TrailingZeros8(uint8(n))/8]", ""},
	{"bitmask/run.go", "|| uint(offset) > uint(WordBits-n) {", "|| uint(offset) > WordBits {", ""},
	{"bitmask/bits.go", "if b[i]&m != m {", "if b[i]&m == 0 {", ""},
	{"bitmask/bits.go", "if b[i]&m != 0 {", "if b[i]&m == m {", ""},
	{"bitmask/hierarchy.go", "if before == ^uint64(0) && now != before {", "if before == ^uint64(0) && now == before {", ""},
	{"bitmask/hierarchy.go", "now, ok := h.words[i].TryFree(at, n)\n\tif ok {", "now, ok := h.words[i].TryFree(at, n)\n\tif !ok {", ""},
	{"bitmask/fit.go", "if f.aligned && class == f.own {", "if f.aligned && class > f.own {", ""},
	{"bitmask/summary.go", "if word.Load()&m != 0 || word.v.Or(m) != 0 {", "if word.Load()&m != 0 || word.v.Or(m) == 0 {", ""},
	{"bitmask/summary.go", "k, i = k+1, i/WordBits+1", "k, i = k+1, i/WordBits+2", ""},

	// alloc: the universe and its grids.
	{"alloc/claim.go", "u.index.Note(m, before, now)", "_ = m", ""},
	{"alloc/claim.go", "dirty := u.dirty[m].Load() & run //", "dirty := u.dirty[m].Load() &^ run //", ""},
	{"alloc/claim.go", "u.nReady++", "", ""},
	{"alloc/claim.go", "if c&alignedRun != 0 {\n\t\t_,", "if c&alignedRun == 0 {\n\t\t_,", ""},
	{"alloc/free.go", "u.index.Note(m, before, now)", "_ = before", ""},
	{"alloc/free.go", "FreeOne(at)\n\t\tif !ok {", "FreeOne(at)\n\t\tif ok && !ok {", ""},
	{"alloc/lease.go", "if !sameLine {", "if sameLine {", ""},
	{"alloc/lease.go", "if !mine && !line.CompareAndSwap(0, uint32(shard+1)) {", "if mine && !mine {", ""},
	{"alloc/grid.go", "func (g *Grid) Full() bool { return g.count >= g.tail.full }", "func (g *Grid) Full() bool { return g.count > g.tail.full }", ""},
	{"alloc/gridroom.go", "if n <= g.Room() {", "if n <= g.Room()+1 {", ""},

	// alloc: the heap.
	{"alloc/slab.go", "return uint32(x >> 32), uint32(x) < uint32(shape)", "return uint32(x >> 32), true", ""},
	{"alloc/slab.go", "live.CompareAndSwap(w, w|1<<bit) {", "live.CompareAndSwap(w, w) {", ""},
	{"alloc/slab.go", "if s.words[i].live.Load() != k.beyond(i) {", "if s.words[i].live.Load() == k.beyond(i) {", ""},
	{"alloc/slab.go", "return uint32(head >> headOwner & ownerMask)", "return 0", ""},

	// ecs: entities and look-ups.
	{"ecs/records.go", "if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {", "if atomic.LoadUint32(&r.version) != e.version && e.version&1 == 0 {", ""},
	{"ecs/lookup.go", "if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {", "if atomic.LoadUint32(&r.version) != e.version && e.version&1 == 0 {", ""},
	{"ecs/lookupmany.go", "if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {", "if atomic.LoadUint32(&r.version) != e.version && e.version&1 == 0 {", ""},
	{"ecs/lookupmany.go", "if start == noColumn {", "if start == noColumn+1 {", ""},
	{"ecs/lookup.go", "t.starts[unit], t.marks[unit] = start, m", "t.starts[unit], t.marks[unit] = start, mark{versions: m.versions}", ""},

	// ecs: moves.
	{"ecs/move.go", "w.records.at(moved.ref & indexMask).location = hole", "_ = hole", ""},
	{"ecs/move.go", "if to.last.marked != w.version {", "if to.last.marked == w.version {", ""},
	{"ecs/move.go", "a.last.ordered = w.version", "", ""},
	{"ecs/move.go", "if at.Base != last.Base {", "if at.Base == last.Base {", ""},
	{"ecs/move.go", "if a.edgeKey != uint32(t.id)|edgeAdds || way.to.grid.Full() {", "if a.edgeKey != uint32(t.id)|edgeAdds {", ""},
	{"ecs/move.go", "a.setBit(slot, lastPos, lastRow, false)", "", ""},
	{"ecs/transfer.go", "a.w.records.place(ids, locate(a.grid.Chunks()[pos].First, row))", "_ = ids", ""},
	{"ecs/transfer.go", "to.markRows(toPos)\n", "", ""},
	{"ecs/version.go", "*s = stamp{v, v}", "*s = stamp{v, s.ordered}", ""},
	{"ecs/version.go", "if int32(written-changed[slot]) > 0 {", "if int32(written-changed[slot]) < 0 {", ""},

	// ecs: queries and enable bits.
	{"ecs/matching.go", "!= m.has[i] || a.sig[i]&m.lacks[i] != 0 {", "!= m.has[i] {", ""},
	{"ecs/matching.go", "if !a.sig.meets(&m.any[i]) {", "if i > 0 && !a.sig.meets(&m.any[i]) {", ""},
	{"ecs/matching.go", "bitTest{slots: []uint16{slot}, invert: ^uint64(0)})", "bitTest{slots: []uint16{slot}})", ""},
	{"ecs/matching.go", "always = always || !m.w.types[id].enableable", "always = true", ""},
	{"ecs/query.go", "if q.ordered && newer(a.stamps[pos].ordered, since) {", "if q.ordered {", ""},
	{"ecs/query.go", "q.since = q.w.version\n", "\n", ""},
	{"ecs/scan.go", "mask[i] &= either", "mask[i] |= either", ""},
	{"ecs/scan.go", "words[len(words)-1] = bitmask.Mask(0, n%64)", "words[len(words)-1] = bitmask.Mask(0, 64)", ""},
	{"ecs/component.go", "if s != nil && uint32(span) == s.serial && c != nil && s.w == c.w {", "if s != nil && c != nil && s.w == c.w {", ""},
	{"ecs/sight.go", "if q.replanned != q.w.replanned {", "if q.replanned == q.w.replanned {", ""},
	{"ecs/enable.go", "n += s.rows", "n++", ""},

	// ecs: buffers.
	{"ecs/view.go", "copy(e[tail:], from)", "", ""},
	{"ecs/view.go", "fresh = v.bytes(h, int(h.length), n)", "fresh = v.bytes(h, n, n)", ""},
	{"ecs/spill.go", "w.freeSpill(h)\n\t\t*h = header{length: h.length}", "*h = header{length: h.length}", ""},
	{"ecs/spill.go", "w.freeSpill(&old)", "_ = old", ""},
	{"ecs/transfer.go", "from.w.freeSpills(source, c, k)", "_ = c", ""},
}
