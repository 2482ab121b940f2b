// Package typename names Go types in what is written: world files, deltas, journals, scenes and
// blobs. A type is named by the path of its package and its own name:
//
//	example.org/game.Position
//	quarry/ecs.Prefab           whatever the path of the module is that this package lies in
//
// So a file with types of Quarry's own packages, the built-in ones among them, means the same in
// programs that have Quarry by different paths. No other module can have the path quarry and be
// downloaded, since its first element has no dot.
//
// Safe for concurrent use; holds nothing. Cost: an allocation or two a call.
package typename

import (
	"reflect"
	"strings"

	_ "quarry/internal/debug" // the line that ends builds for 32 bits
)

// written is the path that the root module has in names.
const written = "quarry"

type marker struct{}

// module is the path that the root module has in this program.
var module = strings.TrimSuffix(reflect.TypeFor[marker]().PkgPath(), "/internal/typename")

// Of returns the name of a type: .int for one without a package, and for one without a name, as
// [4]uint8, what reflect prints.
func Of(t reflect.Type) string {
	if t.Name() == "" {
		return t.String()
	}
	return stable(module, t.PkgPath()+"."+t.Name())
}

// stable returns a name with the written path in place of a module's: at its start, and in the
// arguments of a generic type, behind a character that continues no path.
func stable(module, name string) string {
	if module == written || !strings.Contains(name, module+"/") {
		return name
	}
	var out strings.Builder
	for rest := name; ; {
		at := strings.Index(rest, module+"/")
		if at < 0 {
			out.WriteString(rest)
			return out.String()
		}
		out.WriteString(rest[:at])
		if before := out.String(); before == "" || strings.ContainsRune("[,*] ({", rune(before[len(before)-1])) {
			out.WriteString(written)
		} else {
			out.WriteString(module)
		}
		out.WriteString("/")
		rest = rest[at+len(module)+1:]
	}
}
