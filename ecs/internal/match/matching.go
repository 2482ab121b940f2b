package match

import (
	"fmt"
	"slices"
)

// Matching lists the archetypes that a filter wants.
type Matching struct {
	Matches []Match // in order of the archetypes' creation (M2); read-only
	Lost    uint64  // number of times that Matches lost archetypes
	Filter          // sorted; read-only

	alike     *Matching  // next matching with the same key in Index.byFilter
	positions []position // in posting lists; the first is in Index.matchings (M3)
	key       uint64     // in Index.byFilter
	asked     uint64     // Index.asked when CandidateMatchings last yielded the matching
	queries   int        // number that use the matching; the last Drop removes it (M5)
	loses     bool       // the Leave under way removes a match
}

// Match is an archetype that a matching lists.
type Match struct {
	*Entry
	Tests []BitTest // enable bits that decide per row; none if every row matches
}

// Queries returns the number of queries that use the matching.
func (m *Matching) Queries() int { return m.queries }

// consider adds a to the matches if it matches. Each archetype is considered once.
func (m *Matching) consider(a *Entry) {
	if m.Wants(a) {
		m.Matches = append(m.Matches, Match{a, m.TestsOf(a)})
	}
}

// lose removes the closed archetypes from the matches.
func (m *Matching) lose() {
	m.Matches = slices.DeleteFunc(m.Matches, func(m Match) bool { return m.Closed })
	m.Lost++
	m.loses = false
}

// verify checks M2 against all archetypes.
func (m *Matching) verify(archetypes []*Entry) error {
	at := 0
	for _, a := range archetypes {
		listed := at < len(m.Matches) && m.Matches[at].Entry == a
		if listed != m.Wants(a) {
			return fmt.Errorf("match: M2: a matching of %d queries lists archetype %d: %v, but its filter says %v",
				m.queries, a.Index, listed, m.Wants(a))
		}
		if !listed {
			continue
		}
		if want := m.TestsOf(a); !slices.EqualFunc(m.Matches[at].Tests, want, BitTest.equal) {
			return fmt.Errorf("match: M2: a matching of %d queries has tests %v for archetype %d, its filter says %v",
				m.queries, m.Matches[at].Tests, a.Index, want)
		}
		at++
	}
	if at != len(m.Matches) {
		return fmt.Errorf("match: M2: a matching of %d queries lists %d archetypes, %d match",
			m.queries, len(m.Matches), at)
	}
	return nil
}

func (t BitTest) equal(u BitTest) bool { return t.Invert == u.Invert && slices.Equal(t.Slots, u.Slots) }
