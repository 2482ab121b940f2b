package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sun's wheel has turned by 45 degrees, so the Earth is at 10 (cos 45, sin 45); its own has
// turned one and a half times, so the moon is nearer to the sun by 2, and the lander by 1 more.
// Mars has turned by 45 degrees on the sun's 45: what was at (3, 0) of it is at (0, 3).
func TestPlaces(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, 100))
	require.Equal(t, `sun      (0.000, 0.000)
  earth    (7.071, 7.071)
    moon     (5.657, 5.657)
      lander   (4.950, 4.950)
  mars     (14.142, 14.142)
    phobos   (14.142, 17.142)
      lander   (14.142, 18.142)
    deimos   (10.142, 14.142)
      lander   (10.142, 15.142)
`, out.String())
}
