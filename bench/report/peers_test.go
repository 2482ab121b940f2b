package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/report"
)

const peersJSON = `[
 {"workload":"query2comp","n":1000,"library":"go","entrant":"slices","ns_per_entity":0.5,"bytes_per_entity":32,"p99_ns":600},
 {"workload":"query2comp","n":1000,"library":"quarry","entrant":"quarry","ns_per_entity":0.6,"bytes_per_entity":40,"p99_ns":700,
  "best_peer":"ark tables","ratio":0.9,"floor":1.05,"goal":1,"holds_floor":true,"holds_goal":true,
  "floor_of":"ark tables","floor_ratio":0.9,"goal_of":"slices","goal_ratio":0.98},
 {"workload":"query2comp","n":1000,"library":"ark","entrant":"ark tables","ns_per_entity":0.667,"bytes_per_entity":40,"p99_ns":null},
 {"workload":"query2comp","n":16000,"library":"go","entrant":"slices","ns_per_entity":0.5},
 {"workload":"query2comp","n":16000,"library":"quarry","entrant":"quarry","ns_per_entity":0.7,"best_peer":"ark tables","ratio":1.1,
  "floor":1.05,"goal":1,"holds_floor":false,"holds_goal":false,
  "floor_of":null,"floor_ratio":null,"figure":0.7,"unit":"ns/entity"},
 {"workload":"query2comp","n":16000,"library":"ark","entrant":"ark tables","ns_per_entity":0.63},
 {"workload":"memory","n":4000000,"library":"quarry","entrant":"quarry","ns_per_entity":null,"bytes_per_entity":48.5,"floor":null,"goal":null,"holds_floor":null,"holds_goal":null},
 {"workload":"memory","n":4000000,"library":"ark","entrant":"ark","ns_per_entity":null,"bytes_per_entity":97,"further":[1,2]},
 {"workload":"memory","n":4000000,"library":"volt","entrant":"volt","right":false,"wrong":"3 lost","bytes_per_entity":1},
 {"workload":"create-worst","n":1000,"library":"ark","entrant":"ark","ns_per_entity":40,"figure":144796,"unit":"ns, slowest step"}
]`

func TestPeers(t *testing.T) {
	list, err := report.ReadPeers(strings.NewReader(peersJSON))
	require.NoError(t, err)
	require.Len(t, list, 10)
	page := write(t, report.Page{Peers: list})
	require.Contains(t, page, "1 of 2 floors hold, 1 of 2 goals are met.")
	require.Contains(t, page,
		"<td>1,000</td><td>quarry</td><td>0.9 of ark tables, at most 1.05: holds</td><td>0.98 of slices, at most 1: holds</td>")
	require.Contains(t, page,
		"<td>16,000</td><td>quarry</td><td>0.7 ns/entity, at most 1.05: missed</td><td>0.7 ns/entity, at most 1: missed</td>")
	require.Contains(t, page, "<td>4,000,000</td><td>volt</td><td>WRONG</td>")

	figures := parse(t, page).all("figure")
	require.Len(t, figures, 3)
	words := func(i int) (list []string) {
		for _, e := range figures[i].all("text") {
			list = append(list, e.text)
		}
		return list
	}
	require.Subset(t, words(0), []string{"entities", "ns per entity"})
	require.Subset(t, words(1), []string{"bytes per entity", "quarry", "ark", "48.5", "97"})
	require.Subset(t, words(2), []string{"ns, slowest step", "144,796"})
	require.NotContains(t, words(1), "volt", "what is wrong has no bar")
	require.Equal(t, []string{"slices (plain Go)", "quarry", "ark tables", "quarry", "ark", "ark"}, legend(t, page))
}

func TestBadPeers(t *testing.T) {
	for text, says := range map[string]string{
		"":                              "expected an array of objects",
		"nonsense":                      "expected an array of objects",
		"{}":                            "expected an array of objects",
		"[]":                            "got none",
		`[{"n":1}]`:                     "object 1: expected a workload",
		`[{"workload":"random","n":1}]`: "object 1 (random): expected an entrant",
		`[{"workload":"random","entrant":"ark","n":0}]`:                           "expected n above 0, got 0",
		`[{"workload":"random","entrant":"ark","n":1,"ns_per_entity":"fast"}]`:    "expected an array of objects",
		`[{"workload":"a","entrant":"b","n":1},{"workload":"a","entrant":"b"}]`:   "object 2 (a, b)",
		`[{"workload":"a","entrant":"b","n":1}] [{"workload":"a","entrant":"b"}]`: "expected an array of objects",
		"[" + strings.Repeat(`{"workload":"a","entrant":"b","n":1},`, 5000):       "expected at most 4096 objects",
		"[" + strings.Repeat(" ", 4<<20):                                          "expected at most 4194304 bytes",
	} {
		_, err := report.ReadPeers(strings.NewReader(text))
		require.ErrorIs(t, err, report.ErrPeers)
		require.ErrorContains(t, err, says)
	}
}

// Input that is read can be drawn, and any other is an error.
func FuzzReadPeers(f *testing.F) {
	f.Add([]byte(peersJSON))
	f.Add([]byte(
		`[{"workload":"random","entrant":"ark","n":1e9,"figure":1e-300,"p99_ns":-1,"holds_goal":true,"goal_ratio":1}]`))
	f.Add([]byte(`[{"workload":"a","entrant":"b","n":1},{"workload":"a","entrant":"b","n":2,"figure":3}] 1`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := report.ReadPeers(bytes.NewReader(text))
		if err != nil {
			require.ErrorIs(t, err, report.ErrPeers)
			return
		}
		require.NoError(t, report.Write(io.Discard, &report.Page{Peers: list}))
	})
}
