package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const programLimit = 25 // lines of the program in README.md

// A Block is one fenced block of a Markdown file.
type Block struct {
	Lang string // first word behind the fence
	Text string // the lines between the fences, each with its newline
	Line int    // of the opening fence, from 1
}

// Blocks returns the fenced blocks of a Markdown text, in order.
func Blocks(markdown string) []Block {
	const fence = "```"
	var list []Block
	var open *Block
	n := 0
	for line := range strings.Lines(markdown) {
		n++
		info, fenced := strings.CutPrefix(strings.TrimSpace(line), fence)
		switch {
		case fenced && open == nil:
			lang, _, _ := strings.Cut(info, " ")
			open = &Block{Lang: lang, Line: n}
		case fenced && info == "":
			list = append(list, *open)
			open = nil
		case open != nil:
			open.Text += line
		}
	}
	return list
}

// A promise is the program of README.md and what it is said to print.
type promise struct {
	program string
	output  string
}

// readPromise returns the first Go block with package main and the text block
// that follows it.
func readPromise(markdown string) (promise, error) {
	list := Blocks(markdown)
	at := slices.IndexFunc(list, func(b Block) bool {
		return b.Lang == "go" && strings.Contains("\n"+b.Text, "\npackage main\n")
	})
	if at < 0 {
		return promise{}, errors.New("README.md: no ```go block has the line package main")
	}
	program, rest := list[at], list[at+1:]
	if n := countLines([]byte(program.Text)); n > programLimit {
		return promise{}, fmt.Errorf("README.md:%d: the program has %d lines, %d at most",
			program.Line, n, programLimit)
	}
	at = slices.IndexFunc(rest, func(b Block) bool { return b.Lang == "text" })
	if at < 0 {
		return promise{}, fmt.Errorf("README.md:%d: no ```text block follows the program to say what it prints",
			program.Line)
	}
	return promise{program.Text, rest[at].Text}, nil
}

// commandBlocks returns the lines of each shell block that are not empty.
func commandBlocks(markdown string) (blocks [][]string) {
	for _, b := range Blocks(markdown) {
		if !slices.Contains([]string{"sh", "bash", "shell", "console"}, b.Lang) {
			continue
		}
		var commands []string
		for line := range strings.Lines(b.Text) {
			if line = strings.TrimSpace(line); line != "" {
				commands = append(commands, line)
			}
		}
		blocks = append(blocks, commands)
	}
	return blocks
}
