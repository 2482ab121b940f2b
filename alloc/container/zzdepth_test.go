package container
import ("testing";"fmt";"quarry/alloc")
func TestZD(t *testing.T) {
	u, _ := alloc.NewUniverse(); h, _ := alloc.NewHeap(u)
	m, _ := NewMap[uint64, uint64](h)
	for i := range uint64(10_000_000) { m.Set(mix(i), i) }
	fmt.Println("depth", m.depth(), "live", m.count, "groups", m.groups[:m.classes], "largest", m.largest, "classes", m.classes)
	hist := map[int]int{}; classes := map[int]int{}
	probes, n := 0, 0
	for h := uint64(0); ; {
		tab, groups := m.table(h)
		md := m.meta(tab, groups)
		hist[int(md.depth)]++
		classes[m.class(h)]++
		h += 1 << (64 - md.depth)
		if h == 0 { break }
	}
	for i := range uint64(100000) {
		hh := m.hash(mix(i+20_000_000))
		t, gs := m.table(hh)
		for g := firstGroup(hh, gs); ; {
			probes++
			w := *(*uint64)(addr(t, uintptr(g)*m.stride))
			if w&passed(hh) == 0 { break }
			if g++; g == gs { g = 0 }
		}
		n++
	}
	fmt.Println(hist, classes, "probes per miss", float64(probes)/float64(n))
	m.Close(); h.Close(); u.Close()
}
