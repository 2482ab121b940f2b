// Package report writes the bench's measurements as one page that needs nothing else: no network
// and no script, with plots as inline SVG.
//
//	machine, versions --------------+
//	workloads: rows, drawings, PNG --+-- Write --> report.html
//	curve.Tables of benchmarks ------+
//	go run ./bench/peers -json ------+
//
// Quarry, or the first of its ways, is blue and thick in every plot; plain Go is dashed and grey.
package report

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"quarry/bench/curve"
	"quarry/bench/workload"
)

// Page is the content of a report. Empty parts are left out.
type Page struct {
	Machine   Grid // two columns without a head: what, and its value
	Modules   Grid // the same: modules and versions
	Command   string
	Date      time.Time
	Results   Grid // of the workloads
	Workloads []Workload
	Tables    []curve.Table // of the microbenchmarks, drawn by package
	Peers     []Peer
}

// Workload is the part of a report about one workload.
type Workload struct {
	Name     string
	Lines    []string // in words
	PNG      []byte   // nil: none
	Drawings []workload.Drawing
}

//go:embed page.html
var source string

var page = template.Must(template.New("page").Parse(source))

// section is a part of the page with a heading.
type section struct {
	ID, Title string
	Lines     []string
	Picture   template.URL
	Figures   []figure
}

// Write writes the page as HTML: 10 to 20 KB and a few milliseconds per plot. Names may hold
// anything: they are escaped. Errors come from w.
func Write(w io.Writer, p *Page) error {
	v := struct {
		*Page
		When             string
		Workloads, Micro []section
		Peers            *section
	}{Page: p, When: p.Date.Format("2006-01-02 15:04 MST")}
	var err error
	if v.Workloads, err = workloadSections(p.Workloads); err != nil {
		return err
	}
	if v.Micro, err = tableSections(p.Tables); err != nil {
		return err
	}
	if len(p.Peers) > 0 {
		v.Peers = &section{Lines: []string{tally(p.Peers)}}
		if v.Peers.Figures, err = peerFigures(p.Peers); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	// Escaping leaves broken UTF-8 and control characters, which a page may not hold.
	text := bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, bytes.ToValidUTF8(b.Bytes(), []byte("?")))
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func workloadSections(list []Workload) (sections []section, err error) {
	for _, w := range list {
		s := section{Title: w.Name, Lines: w.Lines}
		if len(w.PNG) > 0 {
			// An image embedded as bytes: nothing in it is run or followed.
			s.Picture = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(w.PNG))
		}
		for _, d := range w.Drawings {
			f, err := drawn(d)
			if err != nil {
				return nil, err
			}
			s.Figures = append(s.Figures, f)
		}
		sections = append(sections, s)
	}
	return sections, nil
}

// tableSections groups the tables by package, in order of appearance.
func tableSections(tables []curve.Table) (sections []section, err error) {
	for _, t := range tables {
		f, err := curves(t)
		if err != nil {
			return nil, err
		}
		name := t.Package
		at := slices.IndexFunc(sections, func(s section) bool { return s.Title == name })
		if at < 0 {
			at = len(sections)
			sections = append(sections, section{Title: name})
		}
		sections[at].Figures = append(sections[at].Figures, f)
	}
	return sections, nil
}
