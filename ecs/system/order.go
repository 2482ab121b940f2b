package system

// Ordering constrains the place of a system in its group. Before, After, First and Last make one.
type Ordering struct {
	bucket        bucket
	before, after []string
}

// placing is all Orderings of a system in one. It is Ordering by a name of its own, so that State
// can embed it without an exported field.
type placing = Ordering

// bucket is a part of a group. All systems of one bucket update before the systems of the next.
type bucket int8

const (
	bucketOpens  bucket = iota - 2 // the command point that begins a default group
	bucketFirst                    // First
	bucketNormal                   // 0: neither
	bucketLast                     // Last
	bucketCloses                   // the command point that ends a default group
)

var bucketNames = [...]string{"opens the group", "is First", "is neither First nor Last", "is Last", "closes the group"}

func (b bucket) String() string { return bucketNames[b-bucketOpens] }

// Before makes the system update before the named systems of its group. A name that does not exist
// or is in another group has no effect but a warning; see Systems.Warnings.
func Before(names ...string) Ordering { return Ordering{before: names} }

// After makes the system update after the named systems of its group. Unknown names are treated as
// by Before.
func After(names ...string) Ordering { return Ordering{after: names} }

// First makes the system update before all systems of its group that are not First, but after the
// command point that opens a default group. Before and After apply among systems that are First.
func First() Ordering { return Ordering{bucket: bucketFirst} }

// Last makes the system update after all systems of its group that are not Last, but before the
// command point that closes a default group. Before and After apply among systems that are Last.
func Last() Ordering { return Ordering{bucket: bucketLast} }

// apply adds an Ordering to the placing of a system of some name.
func (p Ordering) apply(s *placing, name string) {
	if p.bucket != bucketNormal {
		if s.bucket != bucketNormal && s.bucket != p.bucket {
			panic("system: Group.Add: " + name + ": it cannot be First and Last")
		}
		s.bucket = p.bucket
	}
	s.before = append(s.before, p.before...)
	s.after = append(s.after, p.after...)
}

// targets holds the names that systems of a group named in Before and After.
type targets struct{ before, after map[string]bool }

func (t *targets) note(s *placing) {
	for _, name := range s.before {
		t.before[name] = true
	}
	for _, name := range s.after {
		t.after[name] = true
	}
}
