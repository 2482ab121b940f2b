package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// errUsage is the error of arguments that the flag package has already reported.
var errUsage = errors.New("bad arguments")

// run publishes as the arguments say, and prints what it has made.
func run(args []string, stdout, stderr io.Writer) error {
	var to target
	f := flag.NewFlagSet("publish", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&to.path, "path", "", "module `path` of the root module, such as example.org/quarry")
	f.StringVar(&to.version, "version", "", "`version` of all modules, such as v0.1.0")
	out := f.String("out", "", "`folder` to write to: a new or an empty one")
	from := f.String("from", ".", "`folder` of the repository, or one in it")
	dirty := f.Bool("dirty", false, "publish a working tree with changes; files that git does not know are left out")
	if err := f.Parse(args); err != nil {
		return errUsage
	}
	if f.NArg() > 0 || to.path == "" || to.version == "" || *out == "" {
		fmt.Fprintln(stderr, "publish: -path, -version and -out are needed, and nothing else is taken")
		f.Usage()
		return errUsage
	}
	r, err := readRepository(*from, *dirty)
	if err != nil {
		return err
	}
	p, err := r.publish(to)
	if err != nil {
		return err
	}
	if err := p.write(*out); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s %s, commit %.12s\n", to.path, to.version, r.commit)
	for _, m := range p.modules {
		fmt.Fprintf(stdout, "%-40s %5d files %9d B  %s\n", m.path, m.files, len(m.zip), m.sum)
	}
	if n := len(p.leftOut); n > 0 {
		fmt.Fprintf(stdout, "left out: %d files, %s to %s\n", n, p.leftOut[0], p.leftOut[n-1])
	}
	fmt.Fprintf(stdout, "GOPROXY=%s\n", proxyURL(*out))
	return nil
}
