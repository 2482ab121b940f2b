// Mutants breaks Quarry in one place at a time and says which test notices.
//
//	go run ./fuzz/mutants              all of them: a build of a package's tests each, half a minute for ecs
//	go run ./fuzz/mutants -only ecs    those whose file contains a word
//
// A mutant is a text of a file and what takes its place (table.go): a comparison flipped, a
// check dropped, a bit or record not updated. The tree is not touched: the changed file is an
// overlay of the build. Its test is run, or the whole package's where none is named; a
// mutant that no test notices has survived. The exit status is 1 when one has, and when
// one does not build. The output is a table in Markdown, that of docs/mutants.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	only := flag.String("only", "", "the mutants of files that contain this `word`")
	root := flag.String("root", ".", "the `folder` that Quarry is in")
	flag.Parse()
	fmt.Print("| file | instead of | there is | noticed by | seconds |\n|---|---|---|---|---|\n")
	survivors, broken := 0, 0
	for _, m := range mutants {
		if !strings.Contains(m.file, *only) {
			continue
		}
		v, err := m.run(*root)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", m.file, err)
			broken++
			continue
		}
		if v.test == "" {
			survivors++
			v.test = "**nothing**"
		}
		fmt.Printf("| %s | %s | %s | %s | %s |\n", m.file, code(m.old), code(m.new), v.test, v.seconds)
	}
	if survivors+broken > 0 {
		fmt.Fprintf(os.Stderr, "%d survived, %d had no verdict\n", survivors, broken)
		os.Exit(1)
	}
}

// code shows a text on one line of a table.
func code(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
	if text == "" {
		return "nothing"
	}
	return "`" + text + "`"
}
