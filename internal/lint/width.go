package lint

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// proseWidth is the width of prose in columns; a tab of a comment's indent counts four.
const proseWidth = 100

var (
	// comment is a line of a Go file that is nothing but a comment of prose: no directive, and
	// no drawing or code, which are indented behind the slashes.
	comment = regexp.MustCompile(`^(\t*)// (\S.*)$`)
	output  = regexp.MustCompile(`^\t*// (Unordered output|Output):`) // of an example, to the end of the comment
	drawing = regexp.MustCompile(`\S {3,}\S|\t`)                      // columns that spaces or tabs align
	unwraps = regexp.MustCompile(`^(\||#|<|!\[|\[[^\]]+\]:)`)
)

// wideProse finds lines of prose that are wider than proseWidth and have a space to break at: in
// Markdown outside of code, tables, headings and drawings, in Go in comments that stand alone.
func wideProse(t *tree) (found []finding) {
	for _, f := range t.files {
		markdown, code := path.Ext(f.path) == ".md", false // code: in a block of code, or in an example's output
		if !markdown && f.syntax == nil || f.isGenerated() {
			continue
		}
		for n, line := range strings.Split(string(f.text), "\n") {
			indent, text := "", line
			if markdown {
				if strings.HasPrefix(strings.TrimSpace(line), "```") {
					code = !code
				}
				if code || unwraps.MatchString(strings.TrimSpace(line)) {
					continue
				}
			} else if m := comment.FindStringSubmatch(line); m == nil || drawing.MatchString(m[2]) {
				code = code && strings.HasPrefix(strings.TrimSpace(line), "//")
				continue
			} else if code = code || output.MatchString(line); code {
				continue
			} else {
				indent, text = strings.Repeat("    ", len(m[1]))+"// ", m[2]
			}
			if utf8.RuneCountInString(indent+text) > proseWidth && strings.Contains(strings.TrimSpace(text[:min(len(text), proseWidth)]), " ") {
				found = append(found, finding{f.path, n + 1, "is wider than 100 columns"})
			}
		}
	}
	return found
}
