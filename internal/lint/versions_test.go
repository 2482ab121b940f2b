package lint

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

const versionsFile = "docs/files.md"

// formatRow is a row of the table of formats: what is written, what is read, the constant and its
// file.
var formatRow = regexp.MustCompile("(?m)^\\| [^|]+ \\| (\\d+) \\| ([\\d, ]+) \\| `(\\w+)` in (\\S+) \\|$")

// TestVersions compares the formats that docs/files.md lists with the code.
func TestVersions(t *testing.T) {
	repo, err := repository()
	require.NoError(t, err)
	page := repo.file(versionsFile)
	require.NotNil(t, page)
	rows := formatRow.FindAllStringSubmatch(string(page.text), -1)
	require.Len(t, rows, 4)
	for _, row := range rows {
		writes, reads, constant, file := row[1], row[2], row[3], row[4]
		f := repo.file(file)
		require.NotNil(t, f, file)
		declared := regexp.MustCompile(`(?m)^\s*(?:const )?` + constant +
			`\s+= (\d+)\b`).FindStringSubmatch(string(f.text))
		require.NotNil(t, declared, "%s declares no %s", file, constant)
		require.Equal(t, declared[1], writes, "%s says that %s is", versionsFile, constant)
		newest, err := strconv.Atoi(writes)
		require.NoError(t, err)
		all := "1"
		for n := 2; n <= newest; n++ {
			all += ", " + strconv.Itoa(n)
		}
		require.Equal(t, all, reads, "%s: what is written and those before it", constant)
	}
}
