// Command publish makes what the go command can download of the modules of this repository, under a
// path that has a dot and at a version:
//
//	go run ./publish -path example.org/quarry -version v0.1.0 -out DIR
//
//	DIR/tree                                     a git repository with one commit: all modules, under the path
//	    tags v0.1.0, arrowalloc/v0.1.0, ...      a tag for each module
//	DIR/proxy/example.org/quarry/@v/list         a file proxy: GOPROXY=file://DIR/proxy,...
//	                               v0.1.0.info   version, and time of the commit that was published
//	                               v0.1.0.mod
//	                               v0.1.0.zip
//	DIR/proxy/example.org/quarry/arrowalloc/@v/...
//
// What is published are the files that git knows, as they are in the working tree, which has no
// changes unless -dirty permits them. They differ from those of the repository in this alone:
//
//   - each path of a package, in imports, literals, comments and pages, begins with the new path
//     (mention.go); Go files are formatted anew, since gofmt sorts imports;
//   - a go.mod has its new path, and requires the other modules at the version that is published,
//     without a replace; its go.sum has their sums (module.go);
//   - pages that say how to install Quarry say it for the new path (section.go);
//   - the tests of internal/lint are left out: they compare the repository with rules for it, such
//     as the width of lines, which a longer path changes. docs/files.md names the other tests
//     that fail in the tree, since they have files or hashes with the path.
//
// Invariants:
//
//	P1  The same commit, path and version give the same bytes: zips, sums, commit and tags.
//	P2  A zip is what the go command would make of its tag, so the sums of the proxy are those of
//	    the repository when its tree is pushed (TestThisRepository).
//	P3  Nothing is written before all is known to be right, and a run that fails leaves DIR as it
//	    was, but for DIR itself.
//
// All modules have one version, and all tags are of one commit. docs/files.md says what a
// version promises.
package main
