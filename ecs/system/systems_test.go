package system_test

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// Systems, states, groups, points and rates return to a program what they were made of.
func TestWhatSystemsAreMadeOf(t *testing.T) {
	s := newStage(t)
	x := s.systems.Add("x", s.update())
	require.Same(t, s.w, s.systems.World())
	require.Same(t, s.w, x.World())
	require.Same(t, s.w, s.systems.Scheduler().World())
	require.Same(t, s.systems, x.Systems())
	require.Same(t, x, s.systems.Find("x"))
	require.Same(t, s.systems.Find("root"), s.systems.Root().State())
	require.Equal(t, []string{"Initialization", "Simulation", "Presentation"}, names(s.systems.Root().Systems()))
	require.Nil(t, (*system.Group)(nil).State())
	require.Nil(t, system.NewGroup().State())
	require.Equal(t, "command point", system.NewPoint().String())
	require.Equal(t, "command point", (*system.Point)(nil).String())
	require.Equal(t, time.Second, system.NewFixed(time.Second, 1).Step())
	require.Equal(t, []error{system.ErrPanic}, (&system.PanicError{Value: "no error"}).Unwrap())
}

// In print, disabled systems are marked, and closed systems are reported as closed.
func TestString(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	systems := system.New(w)
	systems.Add("x", system.Func(func(*system.State) {})).Disable()
	require.Contains(t, systems.String(), " x ", "before it updates as well")
	require.NoError(t, systems.Step(0))
	require.Contains(t, systems.String(), "\n    x                        system               0, disabled\n")
	require.Equal(t, 1, strings.Count(systems.String(), "disabled"))
	require.NoError(t, systems.Close())
	require.Equal(t, "systems that are closed\n", systems.String())
	require.NoError(t, w.Close())
}

// Without Logger, warnings go to the logger that is the default when they come up.
func TestWarningsOfTheDefaultLogger(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	systems := system.New(w)
	systems.Add("x", system.Func(func(*system.State) {}), system.After("nobody"))
	var said bytes.Buffer
	defer log.SetFlags(log.Flags()) // the default of slog takes these of log as well
	defer log.SetOutput(log.Writer())
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	require.NoError(t, systems.Step(0))
	require.Equal(t, 1, strings.Count(said.String(), "level=WARN"))
	require.Contains(t, said.String(), "nobody")
	require.NoError(t, systems.Close())
	require.NoError(t, w.Close())
}
