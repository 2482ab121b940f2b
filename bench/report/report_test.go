package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/bench/curve"
	"quarry/bench/report"
	"quarry/bench/workload"
)

// series has a point for each power of four.
func series(name string, roof bool, ns float64, n int) curve.Series {
	s := curve.Series{Name: name, Roof: roof}
	for i := range n {
		x := math.Pow(4, float64(i))
		s.X, s.Y = append(s.X, x), append(s.Y, ns*(1+20/x))
	}
	return s
}

func tableOf(list ...curve.Series) curve.Table {
	return curve.Table{
		Name: "Iterate", Package: "ecs", What: "one pass", XLabel: "entities", YLabel: "ns per entity", Series: list,
	}
}

func write(t *testing.T, p report.Page) string {
	t.Helper()
	var b bytes.Buffer
	p.Date = time.Date(2026, 11, 22, 1, 2, 0, 0, time.UTC)
	require.NoError(t, report.Write(&b, &p))
	checkPage(t, b.String())
	return b.String()
}

// element is an element of a page: its attributes, its children and the text inside it.
type element struct {
	attr     map[string]string
	name     string
	text     string
	children []*element
}

// all returns the elements with a name below e, in order.
func (e *element) all(name string) (list []*element) {
	for _, c := range e.children {
		if c.name == name {
			list = append(list, c)
		}
		list = append(list, c.all(name)...)
	}
	return list
}

// parse reads a page, which must be well-formed except for the HTML elements without an end.
func parse(t *testing.T, page string) *element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	root := &element{}
	stack := []*element{root}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			top := stack[len(stack)-1]
			top.children = append(top.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			require.Equal(t, stack[len(stack)-1].name, token.Name.Local)
			stack = stack[:len(stack)-1]
		case xml.CharData:
			for _, e := range stack {
				e.text += string(token)
			}
		}
	}
	require.Len(t, stack, 1, "unclosed elements")
	return root
}

var svgPart = regexp.MustCompile(`(?s)<svg.*?</svg>`)

// checkPage checks what holds for every page: it loads nothing, runs nothing, its SVG is XML, and a
// plot has text on both axes and a legend.
func checkPage(t *testing.T, page string) {
	t.Helper()
	for _, part := range svgPart.FindAllString(page, -1) {
		require.NoError(t, xml.Unmarshal([]byte(part), new(struct{})), part)
		require.NotContains(t, part, "NaN")
		require.NotContains(t, part, "Inf,")
	}
	root := parse(t, page)
	for _, name := range []string{"script", "link", "iframe", "object", "embed", "base", "form"} {
		require.Empty(t, root.all(name), name)
	}
	for _, name := range []string{"img", "a", "image", "use"} {
		for _, e := range root.all(name) {
			at := e.attr["src"] + e.attr["href"]
			require.Truef(t, strings.HasPrefix(at, "data:image/png;base64,") || strings.HasPrefix(at, "#"),
				"%s loads %.60s", name, at)
		}
	}
	for _, s := range root.all("style") {
		require.NotContains(t, s.text, "url(")
		require.NotContains(t, s.text, "@import")
	}
	for _, f := range root.all("figure") {
		for _, svg := range f.all("svg") {
			if svg.attr["class"] != "plot" {
				continue
			}
			require.GreaterOrEqual(t, len(svg.all("text")), 4, "two axes have a name each and labels")
			require.NotEmpty(t, f.all("li"), "a legend")
		}
	}
}

// texts returns the text elements of the only plot of a page.
func texts(t *testing.T, page string) (list []string) {
	t.Helper()
	for _, svg := range parse(t, page).all("svg") {
		if svg.attr["class"] == "plot" {
			require.Nil(t, list, "one plot")
			for _, e := range svg.all("text") {
				list = append(list, e.text)
			}
		}
	}
	return list
}

func legend(t *testing.T, page string) (list []string) {
	t.Helper()
	for _, e := range parse(t, page).all("li") {
		list = append(list, strings.TrimSpace(e.text))
	}
	return list
}

func TestCurves(t *testing.T) {
	page := write(t, report.Page{Tables: []curve.Table{
		tableOf(series("slices", true, 0.5, 10), series("quarry", false, 0.6, 10),
			series("ark cached", false, 0.7, 10)),
	}})
	require.Equal(t, []string{"slices (plain Go)", "quarry", "ark cached"}, legend(t, page))
	words := texts(t, page)
	for _, want := range []string{"entities", "ns per entity", "1", "10", "100 k"} {
		require.Contains(t, words, want)
	}
	require.Contains(t, page, "stroke-dasharray:5,3", "the roof is dashed")
	require.Contains(t, page, "stroke:#0047AB", "ours is blue")
	require.Contains(t, page, "<td>262,144</td><td>0.5</td>", "the figures are there")
}

// TestOursByPackage draws a table in which nothing is named quarry.
func TestOursByPackage(t *testing.T) {
	page := write(t, report.Page{Tables: []curve.Table{
		{Name: "Add", Package: "asm", XLabel: "words", YLabel: "ns per word", Series: []curve.Series{
			series("loop", true, 1, 3), series("other", false, 2, 3), series("asm", false, 0.1, 3)}},
	}})
	marks := parse(t, page).all("li")
	require.Len(t, marks, 3)
	for i, ours := range []bool{false, false, true} {
		style := marks[i].all("path")[0].attr["style"]
		require.Equal(t, ours, strings.Contains(style, "#0047AB"), style)
	}
}

func TestOddTables(t *testing.T) {
	nan := math.NaN()
	many := tableOf()
	for i := range 20 {
		many.Series = append(many.Series, series(fmt.Sprintf("way %d", i), i == 0, float64(i+1), 8))
	}
	for name, c := range map[string]struct {
		table curve.Table
		drawn int // entries of the legend; 0: no plot
	}{
		"no series":  {tableOf(), 0},
		"no points":  {tableOf(curve.Series{Name: "quarry"}), 0},
		"all NaN":    {tableOf(curve.Series{Name: "quarry", X: []float64{1, 2}, Y: []float64{nan, nan}}), 0},
		"one NaN":    {tableOf(curve.Series{Name: "quarry", X: []float64{1, nan, 3}, Y: []float64{1, 2, math.Inf(1)}}), 1},
		"zeros":      {tableOf(curve.Series{Name: "quarry", X: []float64{0, 10}, Y: []float64{5, 0}}), 0},
		"negative":   {tableOf(curve.Series{Name: "quarry", X: []float64{1, 10}, Y: []float64{-5, 5}}), 1},
		"one point":  {tableOf(curve.Series{Name: "quarry", X: []float64{16_000}, Y: []float64{0.61}}), 1},
		"flat":       {tableOf(curve.Series{Name: "quarry", X: []float64{1, 1e6}, Y: []float64{3, 3}}), 1},
		"lengths":    {tableOf(curve.Series{Name: "quarry", X: []float64{1, 10, 100}, Y: []float64{3}}), 1},
		"tiny":       {tableOf(curve.Series{Name: "quarry", X: []float64{5e-324, 1}, Y: []float64{1, 1}}), 1},
		"wide":       {tableOf(curve.Series{Name: "quarry", X: []float64{1e-280, 1e280}, Y: []float64{1e280, 1e-280}}), 1},
		"one series": {tableOf(series("quarry", false, 1, 10)), 1},
		"twenty":     {many, 20},
		"unnamed":    {curve.Table{Series: []curve.Series{series("", false, 1, 3)}, XLabel: "x", YLabel: "y"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			page := write(t, report.Page{Tables: []curve.Table{c.table}})
			require.Len(t, legend(t, page), c.drawn)
			require.Equal(t, c.drawn == 0, strings.Contains(page, "No points that a plot could show"))
			require.LessOrEqual(t, len(texts(t, page)), 30, "labels have room")
		})
	}
}

// TestHostileNames puts markup and broken text wherever a name can be.
func TestHostileNames(t *testing.T) {
	const bad = "</svg><script>alert(1)</script><img src=http://example.org/x onerror=\"a()\">\x00\x1b\xff\n" +
		"and a name that goes on and on and on until there is no room left for any more of it in a plot"
	s := series(bad, false, 1, 3)
	d := workload.Drawing{Table: curve.Table{Name: bad, What: bad, XLabel: bad, YLabel: bad, Series: []curve.Series{s}}}
	peer := report.Peer{
		Workload: bad, Entrant: bad, Library: bad, N: 3, NsPerEntity: new(float64), BestPeer: bad, HoldsGoal: new(bool),
	}
	page := write(t, report.Page{
		Command: bad, Machine: report.Grid{Rows: [][]string{{bad, bad}}}, Modules: report.Grid{Rows: [][]string{{bad, bad}}},
		Results:   report.Grid{Head: []string{bad}, Rows: [][]string{{bad}}},
		Workloads: []report.Workload{{Name: bad, Lines: []string{bad}, PNG: []byte(bad), Drawings: []workload.Drawing{d}}},
		Tables:    []curve.Table{{Name: bad, Package: bad, What: bad, XLabel: bad, YLabel: bad, Series: []curve.Series{s}}},
		Peers:     []report.Peer{peer},
	})
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<img src=http")
	require.NotContains(t, page, "\x1b")
	require.Len(t, parse(t, page).all("img"), 1)
}

func TestDrawings(t *testing.T) {
	line := workload.Drawing{Table: tableOf(curve.Series{Name: "quarry", X: []float64{0, 1000}, Y: []float64{0, 5e6}})}
	words := texts(t, write(t, report.Page{Workloads: []report.Workload{
		{Name: "trace", Drawings: []workload.Drawing{line}},
	}}))
	require.Subset(t, words, []string{"0", "2 M", "4 M", "1 k", "entities", "ns per entity"})
	for name, s := range map[string]curve.Series{
		"none": {}, "one": {X: []float64{0}, Y: []float64{0}}, "far": {X: []float64{1e18, 1e18 + 1}, Y: []float64{-1e18, 4}},
		"NaN": {X: []float64{math.NaN()}, Y: []float64{math.Inf(1)}},
	} {
		for _, dots := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/dots=%v", name, dots), func(t *testing.T) {
				s.Name = "quarry"
				d := workload.Drawing{Table: tableOf(s), Dots: dots}
				page := write(t, report.Page{Workloads: []report.Workload{
					{Name: "life", Drawings: []workload.Drawing{d}},
				}})
				require.Equal(t, name == "one" || name == "far", len(legend(t, page)) == 1)
			})
		}
	}
}

func TestWriteError(t *testing.T) {
	err := report.Write(failing{}, &report.Page{})
	require.ErrorIs(t, err, io.ErrShortWrite)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
