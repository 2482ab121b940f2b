package lint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDirectDependenciesReports(t *testing.T) {
	const good = rootModule + `
require (
	github.com/klauspost/cpuid/v2 v2.4.2
	github.com/stretchr/testify v1.12.1 // tests
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

require golang.org/x/sys v0.49.0
require golang.org/x/tools v0.1.0 // indirect; for a tool
replace golang.org/x/text => ../text
exclude golang.org/x/net v0.1.0
`
	for name, c := range map[string]struct {
		mod  string
		want []string
	}{
		"exact": {good, []string{}},
		"one more": {good + "require golang.org/x/net v0.1.0\n", []string{"go.mod:15: requires golang.org/x/net, " +
			"which is not one of golang.org/x/sys, github.com/stretchr/testify, github.com/klauspost/cpuid/v2"}},
		"one more in a block": {good + "require (\n\t\"golang.org/x/net\" v0.1.0\n)\n",
			[]string{"go.mod:16: requires golang.org/x/net, which is not one of " +
				"golang.org/x/sys, github.com/stretchr/testify, github.com/klauspost/cpuid/v2"}},
		"only indirect": {rootModule + "require golang.org/x/sys v0.49.0 // indirect\n", []string{
			"go.mod: does not require golang.org/x/sys directly",
			"go.mod: does not require github.com/stretchr/testify directly",
			"go.mod: does not require github.com/klauspost/cpuid/v2 directly"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, files{"go.mod": c.mod}.find(t, directDependencies))
		})
	}
	require.Equal(t, []string{"go.mod: there is none"}, files{"bench/go.mod": good}.find(t, directDependencies))
}
