package lint

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Headings of Markdown, the links that lead to them, and the index of decisions.

const decisions = "docs/decisions"

var (
	toHeading = regexp.MustCompile(`\]\(([\w./-]*\.md)?#([^)\s]+)\)`)
	record    = regexp.MustCompile(`^0*(\d+)-[\w-]+\.md$`) // of a decision
)

// headings returns the headings of a Markdown text, without their marks, in order.
func headings(markdown string) (list []string) {
	code := false
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if text := strings.TrimLeft(line, "#"); !code && text != line && strings.HasPrefix(text, " ") {
			list = append(list, strings.TrimSpace(text))
		}
	}
	return list
}

// anchors returns what links call the headings of a Markdown text, as GitHub does: lower case,
// spaces as hyphens, other signs left out, and a number behind those that repeat one.
func anchors(markdown string) map[string]bool {
	times, names := map[string]int{}, map[string]bool{}
	for _, text := range headings(markdown) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, text)
		times[name]++
		if n := times[name]; n > 1 {
			name = fmt.Sprint(name, "-", n-1)
		}
		names[name] = true
	}
	return names
}

// brokenLinks finds links in Markdown to a heading that the page does not have.
func brokenLinks(t *tree) (found []finding) {
	pages := map[string]map[string]bool{}
	for _, f := range t.files {
		if path.Ext(f.path) == ".md" {
			pages[f.path] = anchors(string(f.text))
		}
	}
	for _, f := range t.files {
		if pages[f.path] == nil {
			continue
		}
		for n, line := range strings.Split(string(f.text), "\n") {
			for _, m := range toHeading.FindAllStringSubmatch(line, -1) {
				page := f.path
				if m[1] != "" {
					page = path.Join(f.dir(), m[1])
				}
				if !pages[page][m[2]] {
					found = append(found, finding{f.path, n + 1, "there is no heading " + m[2] + " in " + page})
				}
			}
		}
	}
	return found
}

// missingDecisions finds records that the index of decisions has no row of, with number and title.
func missingDecisions(t *tree) (found []finding) {
	index := t.file(decisions + "/README.md")
	for _, f := range t.files {
		m := record.FindStringSubmatch(path.Base(f.path))
		if f.dir() != decisions || m == nil {
			continue
		}
		title := "no title"
		if list := headings(string(f.text)); len(list) > 0 {
			title = strings.TrimPrefix(list[0], m[1]+". ")
		}
		row := fmt.Sprintf("| [%s](%s) | %s | ", m[1], path.Base(f.path), title)
		if index == nil || !strings.Contains(string(index.text), "\n"+row) {
			found = append(found, finding{
				path: f.path, what: "has no row in " + decisions + "/README.md: " + row + "accepted |",
			})
		}
	}
	return found
}
