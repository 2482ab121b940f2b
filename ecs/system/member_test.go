package system_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }
type health struct{ Points int64 }
type stun struct{ Until int64 }

// frame is one 60th of a second.
const frame = time.Second / 60

// stage is a world with systems and four types, closed by the test.
type stage struct {
	t        *testing.T
	w        *ecs.World
	systems  *system.Systems
	log      *bytes.Buffer
	position ecs.Component[position]
	velocity ecs.Component[velocity]
	health   ecs.Component[health]
	stun     ecs.Component[stun]
	seen     []string // what members of journal did
}

func newStage(t *testing.T, options ...system.Option) *stage {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	log := &bytes.Buffer{}
	options = append([]system.Option{
		system.Logger(slog.New(slog.NewTextHandler(log, nil))), system.Jobs(job.Workers(2))}, options...)
	s := &stage{t: t, w: w, log: log, systems: system.New(w, options...),
		position: ecs.Register[position](w), velocity: ecs.Register[velocity](w),
		health: ecs.Register[health](w), stun: ecs.Register[stun](w, ecs.Enableable)}
	t.Cleanup(func() {
		require.NoError(t, s.systems.Close())
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	})
	return s
}

// step runs a frame that must not fail.
func (s *stage) step() {
	s.t.Helper()
	require.NoError(s.t, s.systems.Step(frame))
}

// take returns what was seen since it was called last.
func (s *stage) take() string {
	text := strings.Join(s.seen, " ")
	s.seen = s.seen[:0]
	return text
}

func (s *stage) note(format string, args ...any) {
	s.seen = append(s.seen, fmt.Sprintf(format, args...))
}

// update returns a system that notes its name in each update.
func (s *stage) update() system.System {
	return system.Func(func(x *system.State) { s.note("%s", x.Name()) })
}

// journal is a system that notes all that happens to it.
type journal struct {
	s       *stage
	inside  func(x *system.State) // called in Update
	refused error                 // of Create
}

func (j *journal) Create(x *system.State) error {
	j.s.note("create:%s", x.Name())
	return j.refused
}
func (j *journal) Start(x *system.State) { j.s.note("start:%s", x.Name()) }
func (j *journal) Update(x *system.State) {
	j.s.note("%s", x.Name())
	if j.inside != nil {
		j.inside(x)
	}
}
func (j *journal) Stop(x *system.State)    { j.s.note("stop:%s", x.Name()) }
func (j *journal) Destroy(x *system.State) { j.s.note("destroy:%s", x.Name()) }

func names(states []*system.State) (list []string) {
	for _, s := range states {
		list = append(list, s.Name())
	}
	return list
}
