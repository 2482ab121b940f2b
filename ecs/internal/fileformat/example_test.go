package fileformat

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// drawing returns the sections of a file, and the zeros between them, with offsets and bytes.
func drawing(p plan) string {
	var b strings.Builder
	line := func(at, n int64, what string) { fmt.Fprintf(&b, "%10s %10s  %s\n", comma(at), comma(n), what) }
	fmt.Fprintf(&b, "%10s %10s  %s\n", "offset", "bytes", "section")
	line(0, headerBytes, "header")
	end := int64(headerBytes)
	for s := range sections {
		if end < p.at[s] {
			line(end, p.at[s]-end, "zeros")
		}
		what := sectionNames[s]
		switch {
		case s == firstBulk+worldfile.ImageRows:
			what += fmt.Sprintf("     %d granules of 2 MiB", p.n[s]/granuleBytes)
		case s == firstBulk+worldfile.ImageRecords:
			what += fmt.Sprintf("  %s ids, 8 B each", comma(p.n[s]/8))
		case s == sums:
			what += fmt.Sprintf("     %d for each MiB of the three, 4 B each, and their own",
				(p.n[s]-sumBytes)/sumBytes)
		}
		line(p.at[s], p.n[s], what)
		end = p.at[s] + p.n[s]
	}
	return b.String()
}

// comma returns a number with a comma between thousands.
func comma(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// A world of 200,000 entities of 40 bytes, some of which have a sparse type of 8.
func examplePlan() plan {
	var n [sums]int64
	n[worldfile.ImageTypes], n[worldfile.ImageTables], n[worldfile.ImageIDs], n[worldfile.ImageNames],
		n[worldfile.ImageSparse], n[worldfile.ImageManaged] = 412, 5_240, 96, 20, 310, 1_210
	n[firstBulk+worldfile.ImageRows], n[firstBulk+worldfile.ImageRecords], n[firstBulk+worldfile.ImageEntries] = 5*
		granuleBytes, 200_001*8, 1_500*16
	return planOf(n)
}

func Example() {
	fmt.Print(drawing(examplePlan()))
	// Output:
	//     offset      bytes  section
	//          0      4,096  header
	//      4,096        412  types
	//      4,508         36  zeros
	//      4,544      5,240  tables
	//      9,784          8  zeros
	//      9,792         96  ids
	//      9,888         32  zeros
	//      9,920         20  names
	//      9,940         44  zeros
	//      9,984        310  sparse
	//     10,294         10  zeros
	//     10,304      1,210  managed
	//     11,514  2,085,638  zeros
	//  2,097,152 10,485,760  rows     5 granules of 2 MiB
	// 12,582,912  1,600,008  records  200,001 ids, 8 B each
	// 14,182,920    497,144  zeros
	// 14,680,064     24,000  entries
	// 14,704,064         56  sums     13 for each MiB of the three, 4 B each, and their own
}

// TestPagesHaveTheDrawing: the package comment and the page show what Example prints.
func TestPagesHaveTheDrawing(t *testing.T) {
	for path, prefix := range map[string]string{"../../image/doc.go": "//\t", "../../../docs/files.md": ""} {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			t.Skip("the source is not in the working directory: ", err)
		}
		require.NoError(t, err)
		want := ""
		for line := range strings.Lines(drawing(examplePlan())) {
			want += prefix + line
		}
		require.Contains(t, string(text), want, path)
	}
}
