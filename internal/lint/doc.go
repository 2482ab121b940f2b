// Package lint holds the rules of this repository as tests, so that a broken
// rule stops a build and not a reader. It exports Blocks alone, for tests that
// compare a page with code. The rules come from the design and the house style:
//
//	rule                  what is checked                                     where
//	import floors         imports go down only (drawing below)                all .go
//	                      the root module imports nothing but the standard
//	                      library, itself, x/sys, cpuid; its tests testify
//	direct dependencies   the root go.mod requires exactly those three        go.mod
//	format                a file is as go/format would write it               all .go
//	length                600 lines a file, 80 a function, 66 a doc.go        .go, .s
//	width                 prose wraps at 100 columns, code at 120             .go, .md
//	forbidden words       no linkname directive, no copy of the runtime's     all .go
//	                      type layouts
//	                      no unfinished-work markers, no paths of a machine,  all text
//	                      no hosts of package registries
//	                      no phrases that name nobody or nothing              .go
//	                      no names of files and packages that say nothing     all
//	                      no encoded instructions                             .s
//	documentation         exported declarations, packages, files of ecs       root module
//	rooms                 who may enter those of ecs and the strata of alloc, ecs/internal
//	                      no other program can; ecs exports nothing that its  internal/
//	                      siblings use alone, but for a list
//	use                   an exported name has an example, page or workload   public packages
//	unsafe                who goes around the type system says why it is safe root module
//	inlining              functions that must be inlined are (a table)        what go build says
//	parts                 walks of a world answer for each part               ecs/internal
//	systems               those whose int has 32 bits are refused in one line what go build says
//	pages                 tests, files and folders that they name are there   all .md
//	links, decisions      linked headings are there; the index is whole       all .md
//	errors                each panic and error has a row, each row its text   docs/
//	architecture          names and lines that it tells are so               docs/
//	glossary              types and files named for its words are its         root module
//	README                its program prints what it says; its two commands   README.md
//
// Floors, the highest first; a package may import those below its own:
//
//	+---------------------------------+
//	| bench      fuzz      publish    |   modules of their own
//	+---------------------------------+
//	| ecs/command, ecs/job, ...       |   layers, beside one another
//	+---------------------------------+
//	| ecs/internal/fileformat, door   |   for some of them, see entries in floors.go;
//	| ecs/internal/ecstest            |   for tests of ecs and of its rooms
//	+---------------------------------+
//	| ecs                             |
//	+---------------------------------+
//	| ecs/internal/world ...          |   its rooms, and below them its strata
//	+---------------------------------+
//	| alloc                           |   and below it its strata, on which ecs stands too,
//	| internal/universe, store ...    |   see shared in floors.go
//	+----------+----------+-----------+
//	| bitmask  | layout   | mmap      |   beside one another
//	+----------+----------+-----------+
//	| asm                             |
//	+---------------------------------+
//	| internal/...                    |   child, guard, lint, long from tests only
//	+---------------------------------+
//
// Rules are functions of a tree of files (tree.go) and give findings, so every
// rule has a test of its own that shows it a small tree which breaks it. Build
// tags play no part: files for other systems are checked as well. Folders named
// testdata or beginning with a dot (but .ci), and what the root .gitignore
// names, are not looked at.
package lint
