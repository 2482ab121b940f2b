package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inlined are functions that loops over rows and changes of one entity count on the
// compiler to inline, by package. Several cost nearly what its budget of 80 allows: a
// field more, or another compiler, and each call is some 25 instructions longer.
var inlined = map[string][]string{
	"bitmask": {"FindRun", "(*Word).ClaimOne", "(*Word).FreeOne"},
	"internal/store": {"(*Store).Row", "(*Store).Full", "(*Store).Tail", "(*Store).LastRow", "(*Store).Push",
		"(*Store).Pop", "Row.Element", "CopyPairs", "PointerTo"},
	doorOfAlloc: {"Universe", "Face"},
	"ecs/internal/entity": {"(*Store).Find", "(*Store).Free", "(*Store).Move", "(*Store).Locate", "(*reservations).of",
		"(*RecordsView).Record", "(*Record).Is", "(*LookupTable).At", "(*LookupTable).Find", "(*LookupTable).ColumnAt", "(*ColumnAddress).ValueAt",
		"(*Store).release",
		"(*EnableBits).Set", "(*EnableBits).Has", "(*EnableBits).HasAt", "(*EnableBits).On", "(*EnableBits).Words"},
	"ecs/internal/table": {"(*Metadata).MarkLast", "(*Metadata).Mark", "(*Metadata).OrderLast", "(*Metadata).Version",
		"(*Metadata).Versions", "(*Metadata).Bits", "(*Metadata).Carry",
		"(*Tables).OwnerOf", "Owner.RowAt", "Owner.Row", "Place.Slot", "Place.Flags", "IDAt"},
	"ecs/internal/sparse": {"(*Set).Find", "(*SetView).Of", "(*Set).Full", "(*Set).Mark"},
	"ecs/internal/value": {"HeaderAt", "HeaderOf", "(*Header).Len", "(*Header).SetLen", "(*Shape).Cap",
		"(*Spill).Elements", "(*Spill).Bytes", "(*Buffers).Free"},
	"ecs/internal/world": {"RawBuffer.Header", "RawBuffer.Writable", "(*World).ArchetypeAt", "(*World).CheckUnlocked"},
	"ecs/internal/query": {"idleScan", "lock", "(*Scan).MoveTo", "MakeRows"},
	"ecs": {"Component[go.shape.struct {}].Slice", "Component[go.shape.struct {}].Get",
		"Component[go.shape.struct {}].Mut", "Direct[go.shape.struct {}].Get", "Direct[go.shape.struct {}].Locate",
		"Direct[go.shape.struct {}].At", "loop.Next", "loop.Rows", "loop.Close",
		"Component[go.shape.struct {}].Add", "handle.Has", "handle.Remove", "enableHandle.Enable",
		"enableHandle.Disable", "Rows.Each", "eachBit",
		"(*World).inner", "worldFrom"},
	door: {"World", "Archetype", "Change", "At", "Batch", "CheckChange", "Conflicts", "Filters", "Join", "Locked",
		"Number", "PinSince", "EndBorrows", "Writes"},
}

// TestInlined compiles all of them by one command, so none is compiled twice.
func TestInlined(t *testing.T) {
	arguments := []string{"build", "-gcflags=-m"}
	for pkg := range inlined {
		arguments = append(arguments, "./"+pkg)
	}
	out, err := goTool(t, nil, arguments...)
	require.NoError(t, err, out)
	said := map[string]string{} // by package
	for part := range strings.SplitSeq("\n"+out, "\n# "+root+"/") {
		pkg, text, _ := strings.Cut(part, "\n")
		said[pkg] = text + "\n"
	}
	for pkg, names := range inlined {
		for _, name := range names {
			if !strings.Contains(said[pkg], ": can inline "+name+"\n") {
				t.Errorf("%s: the compiler no longer inlines %s; go build -gcflags=-m=2 ./%[1]s says why", pkg, name)
			}
		}
	}
}
