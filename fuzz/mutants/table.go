package main

// mutants are the broken places, by layer.
var mutants = []mutant{
	// bitmask: searches, ranges, summaries.
	{"bitmask/run.go", "if below+above < n {", "if below+above <= n {", "TestBitsSearchesAgreeWithTwin"},
	{"bitmask/run.go", "z &= z >> ((u - 8) % WordBits)", "z &= z >> ((u - 9) % WordBits)", "TestBitsSearchesAgreeWithTwin"},
	{"bitmask/run.go", "z &= aligned[bits.TrailingZeros8(uint8(n))]", "z &= aligned[bits.TrailingZeros8(uint8(n))/8]", "TestFindAlignedAgreesWithTwin"},
	{"bitmask/run.go", "|| uint(offset) > uint(WordBits-n) {", "|| uint(offset) > WordBits {", "TestBadRunsPanic"},
	{"bitmask/bits.go", "if b[i]&m != m {", "if b[i]&m == 0 {", "TestBitsRangesAgreeWithTwin"},
	{"bitmask/bits.go", "if b[i]&m != 0 {", "if b[i]&m == m {", "TestBitsRangesAgreeWithTwin"},
	{"bitmask/hierarchy.go", "if before == ^uint64(0) && now != before {", "if before == ^uint64(0) && now == before {", "TestHierarchyAgreesWithTwin"},
	{"bitmask/hierarchy.go", "now, ok := h.words[i].TryFree(at, n)\n\tif ok {", "now, ok := h.words[i].TryFree(at, n)\n\tif !ok {", "TestGroup09ManyWordsTakeBackSingleBits"},
	{"bitmask/fit.go", "if f.aligned && class == f.own {", "if f.aligned && class > f.own {", "TestFitAligned"},
	{"bitmask/summary.go", "if word.Load()&m != 0 || word.v.Or(m) != 0 {", "if word.Load()&m != 0 || word.v.Or(m) == 0 {", "TestHierarchyAgreesWithTwin"},
	{"bitmask/summary.go", "k, i = k+1, i/WordBits+1", "k, i = k+1, i/WordBits+2", "TestHierarchyAgreesWithTwin"},

	// alloc: the universe and its grids.
	{"alloc/claim.go", "u.index.Note(m, before, now)", "_ = m", "TestDefectISearchGoesToTheBestFit"},
	{"alloc/claim.go", "dirty := u.dirty[m].Load() & run //", "dirty := u.dirty[m].Load() &^ run //", "TestZeroedRunsTouchNothingFresh"},
	{"alloc/claim.go", "u.nReady++", "", "TestGridIsAList"},
	{"alloc/claim.go", "if c&alignedRun != 0 {\n\t\t_,", "if c&alignedRun == 0 {\n\t\t_,", "TestGridThreeUnits"},
	{"alloc/free.go", "u.index.Note(m, before, now)", "_ = before", "TestGridIsAList"},
	{"alloc/free.go", "FreeOne(at)\n\t\tif !ok {", "FreeOne(at)\n\t\tif ok && !ok {", "TestDefectCDoubleFreeIsAlwaysSeen"},
	{"alloc/lease.go", "if !sameLine {", "if sameLine {", "TestGridIsAList"},
	{"alloc/lease.go", "if !mine && !line.CompareAndSwap(0, uint32(shard+1)) {", "if mine && !mine {", "TestGridIsAList"},
	{"alloc/grid.go", "func (g *Grid) Full() bool { return g.count >= g.tail.full }", "func (g *Grid) Full() bool { return g.count > g.tail.full }", "TestGridIsAList"},
	{"alloc/gridroom.go", "if n <= g.Room() {", "if n <= g.Room()+1 {", "TestGridIsAList"},
	{"alloc/gridroom.go", "g.chunks[1].Order > g.chunks[0].Order {", "true {", "TestGridOnlyChunk"},
	{"alloc/gridroom.go", "g.units -= old.Units()\n", "", "TestGridOnlyChunk"},
	{"alloc/grid.go", "if order == MaxGridOrder && g.skewed {", "if g.skewed {", "TestScale"},

	// alloc: the heap.
	{"alloc/slab.go", "return uint32(x >> 32), uint32(x) < uint32(shape)", "return uint32(x >> 32), true", "TestHeapRefuses"},
	{"alloc/slab.go", "live.CompareAndSwap(w, w|1<<bit) {", "live.CompareAndSwap(w, w) {", "TestClaimPinsTheSlab"},
	{"alloc/slab.go", "if s.words[i].live.Load() != k.beyond(i) {", "if s.words[i].live.Load() == k.beyond(i) {", "TestClaimPinsTheSlab"},
	{"alloc/slab.go", "return uint32(head >> headOwner & ownerMask)", "return 0", "TestStaleClaimOfAnotherSlab"},

	// alloc: the budget.
	{"alloc/claim.go", "\tu.commits.Lock()\n\tdefer u.commits.Unlock()\n", "", "TestBudgetIsChargedOnceAGranule"},
	{"alloc/claim.go", "if u.ready[g].Load() != 0 { //", "if mutant != healthy { //", "TestBudgetOfATrimThatIsRefused"},
	{"alloc/claim.go", "Commit(g*mmap.Granule, mmap.Granule); err != nil {\n\t\tprocess.refund(mmap.Granule)\n", "Commit(g*mmap.Granule, mmap.Granule); err != nil {\n", "TestEveryRefusalLosesNothing"},
	{"alloc/trim.go", "\tprocess.refund(mmap.Granule)\n", "", "TestBudgetRefuses"},
	{"alloc/mapping.go", "process.refund(committed - m.region.Committed())", "process.refund(committed)", "TestPagesEveryRefusal"},
	{"alloc/mapping.go", "process.refund(want - have)", "_ = want", "TestPagesEveryRefusal"},
	{"alloc/mapping.go", "process.refund(have - want)", "_ = want", "TestPagesEveryRefusal"},
	{"alloc/ledger.go", "if used > t.most-n {", "if used >= t.most {", "TestBudgetRefuses"},
	{"alloc/ledger.go", "if used < t.near && used+n >= t.near {", "if used+n >= t.near {", "TestBudgetNear"},
	{"alloc/ledger.go", "if l.calls.Add(1) == 1 {", "if l.calls.Add(1) >= 1 {", "TestBudgetNearOneAtATime"},
	{"alloc/ledger.go", "l.purged.Add(int64(m.giveBack()))", "_ = m", "TestBudgetPurges"},
	{"alloc/ledger.go", "l.purged.Add(int64(u.giveBack()))", "_ = u", "TestBudgetPurges"},
	{"alloc/ledger.go", "debug.SetMemoryLimit(l.limit.before)", "_ = l", "TestBudgetGoLimit"},
	{"alloc/ledger.go", "max(l.terms.Load().Total-l.offHeap(), goNeeds())", "l.terms.Load().Total-l.offHeap()", "TestBudgetGoLimitHasAFloor"},
	{"alloc/registry.go", "if len(r.known) >= r.prune {", "if len(r.known) < 0 {", "TestRegistryForgets"},

	// ecs: entities and look-ups.
	{"ecs/records.go", "if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {", "if atomic.LoadUint32(&r.version) != e.version && e.version&1 == 0 {", "TestBehaviour57_SurvivesMoves"},
	{"ecs/lookup.go", "if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {", "if atomic.LoadUint32(&r.version) != e.version && e.version&1 == 0 {", "TestBuffersSurviveMoves"},
	{"ecs/lookupmany.go", "if atomic.LoadUint32(&r.version) != e.version || e.version&1 == 0 {", "if atomic.LoadUint32(&r.version) != e.version && e.version&1 == 0 {", "TestLookupsAgreeWithAModel"},
	{"ecs/lookupmany.go", "if start == noColumn {", "if start == noColumn+1 {", "TestLookupsAgreeWithAModel"},
	{"ecs/lookup.go", "t.starts[unit], t.marks[unit] = start, m", "t.starts[unit], t.marks[unit] = start, mark{versions: m.versions}", "TestBehaviour57_SurvivesMoves"},

	// ecs: moves.
	{"ecs/move.go", "w.records.at(moved.ref & indexMask).location = hole", "_ = hole", "TestBehaviour57_SurvivesMoves"},
	{"ecs/move.go", "if to.last.marked != w.version {", "if to.last.marked == w.version {", "TestBehaviour54OrderVersions"},
	{"ecs/move.go", "a.last.ordered = w.version", "", "TestChangedInPhase"},
	{"ecs/move.go", "if at.Base != last.Base {", "if at.Base == last.Base {", "TestBehaviour53Wrap"},
	{"ecs/move.go", "if a.edgeKey != uint32(t.id)|edgeAdds || way.to.grid.Full() {", "if a.edgeKey != uint32(t.id)|edgeAdds {", "TestBehaviour57_SurvivesMoves"},
	{"ecs/move.go", "a.setBit(slot, lastPos, lastRow, false)", "", "TestChangesInsideLoops"},
	{"ecs/way.go", " && from.grid.IsSkewed() == to.grid.IsSkewed()", "", "TestRelabelAcrossFewColumns"},
	{"ecs/layout.go", "a.replan(plan.Rows, &from.grid)", "a.replan(plan.Rows, nil)", "TestRelabelAcrossFewColumns"},
	{"ecs/transfer.go", "a.w.records.place(ids, locate(a.grid.Chunks()[pos].First, row))", "_ = ids", "TestBatchesAllocateNothing"},
	{"ecs/transfer.go", "to.markRows(toPos)\n", "", "TestRelabelMovesNoRow"},
	{"ecs/version.go", "*s = stamp{v, v}", "*s = stamp{v, s.ordered}", "TestHoleThereAndBack"},
	{"ecs/version.go", "if int32(written-changed[slot]) > 0 {", "if int32(written-changed[slot]) < 0 {", "TestChangedAgainstModel"},

	// ecs: queries and enable bits.
	{"ecs/matching.go", "!= m.has[i] || a.sig[i]&m.lacks[i] != 0 {", "!= m.has[i] {", "TestBehaviour42Hidden"},
	{"ecs/matching.go", "if !a.sig.meets(&m.any[i]) {", "if i > 0 && !a.sig.meets(&m.any[i]) {", "TestBatchIsALoopOfSingles"},
	{"ecs/matching.go", "bitTest{slots: []uint16{slot}, invert: ^uint64(0)})", "bitTest{slots: []uint16{slot}})", "TestSingle"},
	{"ecs/matching.go", "always = always || !m.w.types[id].enableable", "always = true", "TestBehaviour46Patterns"},
	{"ecs/query.go", "if q.ordered && newer(a.stamps[pos].ordered, since) {", "if q.ordered {", "TestChangedInPhase"},
	{"ecs/query.go", "q.since = q.w.version\n", "\n", "TestValues"},
	{"ecs/scan.go", "mask[i] &= either", "mask[i] |= either", "TestBehaviour46Patterns"},
	{"ecs/scan.go", "words[len(words)-1] = bitmask.Mask(0, n%64)", "words[len(words)-1] = bitmask.Mask(0, 64)", "TestBatchIsALoopOfSingles"},
	{"ecs/component.go", "if s != nil && uint32(span) == s.serial && c != nil && s.w == c.w {", "if s != nil && c != nil && s.w == c.w {", "TestMisuseIsNamed"},
	{"ecs/sight.go", "if q.replanned != q.w.replanned {", "if q.replanned == q.w.replanned {", "TestHoleThereAndBack"},
	{"ecs/enable.go", "n += s.rows", "n++", "TestChangesInsideLoops"},

	// ecs: buffers.
	{"ecs/view.go", "copy(e[tail:], from)", "", "TestBuffersFollowAModel"},
	{"ecs/view.go", "fresh = v.bytes(h, int(h.length), n)", "fresh = v.bytes(h, n, n)", "TestBehaviour57_ResizeToEveryLength"},
	{"ecs/spill.go", "w.freeSpill(h)\n\t\t*h = header{length: h.length}", "*h = header{length: h.length}", "TestBehaviour57_TrimGoesBackInside"},
	{"ecs/spill.go", "w.freeSpill(&old)", "_ = old", "TestBehaviour57_InsertAtEveryPlace"},
	{"ecs/transfer.go", "from.w.freeSpills(source, c, k)", "_ = c", "TestBatchIsALoopOfSingles"},
}
