package ecs_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

func TestEach(t *testing.T) {
	v := newViewed(t)
	q := ecs.NewQuery(v.w, ecs.Write(v.position), ecs.Read(v.velocity), ecs.Optional(ecs.Read(v.stun)))
	n, stunned, sum := 0, 0, 0.0
	ecs.Each1(q, v.position, func(e ecs.Entity, p *ecstest.Position) {
		require.True(t, v.velocity.Enabled(e))
		require.Same(t, v.position.Get(e), p)
		p.X = 1
		n++
	})
	require.Equal(t, q.Count(), n)
	ecs.Each2(q, v.position, v.stun, func(e ecs.Entity, p *ecstest.Position, s *ecstest.Stun) {
		require.Same(t, v.stun.Get(e), s)
		sum += p.X
		if s != nil {
			stunned++
		}
	})
	require.Equal(t, n/2, stunned)
	require.Equal(t, float64(n), sum)
}
