package lint

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestNilTakers(t *testing.T) {
	const source = `package p

type (
	Option func(*T)
	T      struct{}
	Plain  [4]int
	List   []Option
	G[V any] struct{ base }
)

func New(options ...Option)                      {}
func Several(l List)                             {}
func Generic[V any](v V, n int, p Plain, t T)    {}
func Values[V any](v []V, g G[V])                {}
func Any(v any)                                  {}
func Pointer(_ int, p, q *T)                     {}
func Raw(p unsafe.Pointer)                       {}
func inner(p *T)                                 {}
func (t *T) Each(f func() bool)                  {}
func (t *T) Receiver()                           {}
func (g *G[V]) Free(v *V)                        {}
func (o hidden) Free(v *T)                       {}
func (b base) Free(v *T)                         {}
`
	takers, err := nilTakers(fstest.MapFS{
		"p.go":      {Data: []byte(source)},
		"again.go":  {Data: []byte("package p\n\nfunc Any(v any) {}\n")},
		"p_test.go": {Data: []byte("package p\n\nfunc Tested(v any) {}\n")},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"Any", "G.Free", "New", "Pointer", "Raw", "Several", "T.Each", "base.Free"}, takers)

	_, err = nilTakers(fstest.MapFS{"p.go": {Data: []byte("package p\n\nfunc F(v net.Conn) {}\n")}})
	require.ErrorContains(t, err, "F: foreign in internal/lint/nil.go does not say whether a net.Conn may be nil")
	_, err = nilTakers(fstest.MapFS{"p_test.go": {Data: []byte("package p\n")}})
	require.ErrorIs(t, err, fs.ErrNotExist)
}
