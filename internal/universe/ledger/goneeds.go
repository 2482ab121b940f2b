package ledger

import "runtime/metrics"

// leastHeap is the size up to which the runtime always lets the Go heap grow under GOGC=100.
const leastHeap = 4 << 20

// GoNeeds returns how many bytes Go needs to collect no more often than under GOGC=100: the live
// heap, as much garbage, and what is not heap, such as stacks.
func GoNeeds() int64 {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(s)
	other := s[0].Value.Uint64()
	for i := range s[1:5] {
		other -= s[1+i].Value.Uint64()
	}
	objects, live := s[4].Value.Uint64(), s[5].Value.Uint64()
	if live == 0 { // nothing was collected yet
		live = objects
	}
	return int64(other + max(leastHeap, 2*live))
}
