package lint

import (
	"slices"
	"strings"
)

// A requirement is one line of a go.mod that requires a module.
type requirement struct {
	module   string
	line     int  // from 1
	indirect bool // marked as not imported by the module itself
}

// requirements reads the require directives of a go.mod, alone or in blocks.
func requirements(text string) []requirement {
	var list []requirement
	block, n := "", 0
	for line := range strings.Lines(text) {
		n++
		code, comment, _ := strings.Cut(line, "//")
		words := strings.Fields(code)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		if words[0] == "require" && len(words) == 3 {
			mark := strings.TrimSpace(comment)
			list = append(list, requirement{
				module:   strings.Trim(words[1], "\"`"),
				line:     n,
				indirect: mark == "indirect" || strings.HasPrefix(mark, "indirect;"),
			})
		}
	}
	return list
}

// directDependencies finds what the root go.mod requires directly beyond the
// permitted modules, and which of those it lacks.
func directDependencies(t *tree) []finding {
	const name = "go.mod"
	f := t.file(name)
	if f == nil {
		return []finding{{path: name, what: "there is none"}}
	}
	var found []finding
	missing := outsideModules()
	for _, r := range requirements(string(f.text)) {
		if r.indirect {
			continue
		}
		if _, ok := outside[r.module]; !ok {
			found = append(found, finding{name, r.line, "requires " + r.module + ", which is not one of " +
				strings.Join(outsideModules(), ", ")})
		}
		missing = slices.DeleteFunc(missing, func(module string) bool { return module == r.module })
	}
	for _, module := range missing {
		found = append(found, finding{path: name, what: "does not require " + module + " directly"})
	}
	return found
}
