package layout_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/lint"
	"quarry/layout"
)

func TestNil(t *testing.T) {
	number := reflect.TypeFor[int32]()
	lint.CheckNil(t,
		lint.NilPanics("Fields: type", "layout: Fields: ", func() { layout.Fields(nil, number) }),
		lint.NilReturns("Fields: marked", func(t *testing.T) {
			require.Equal(t, []layout.Field{{Size: 4}}, layout.Fields(number, nil))
		}),
		lint.NilPanics("PointerFree", "layout: PointerFree: ", func() { _ = layout.PointerFree(nil) }),
	)
}
