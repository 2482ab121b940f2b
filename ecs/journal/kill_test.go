package journal_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// killedFolder is the environment variable that makes the test a program that journals there.
const killedFolder = "QUARRY_TEST_JOURNAL"

// rebaseEach is how often the program makes a commit by Rebase, which has the state of the one
// before.
const rebaseEach = 97

// TestJournalKilled: a program that journals, and prints which commits were acknowledged, is killed
// at any moment, again and again. The commits that it printed are there: the world is that of a
// commit no older than the last that was acknowledged, entirely, and goes on from there.
// QUARRY_LONG kills 1,000 times.
func TestJournalKilled(t *testing.T) {
	if folder := os.Getenv(killedFolder); folder != "" {
		journalAloud(folder)
		return
	}
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("there are no processes here")
	}
	kills := 20
	switch {
	case os.Getenv("QUARRY_LONG") != "":
		kills = 1000
	case testing.Short():
		kills = 5
	}
	folder := filepath.Join(t.TempDir(), "village")
	var model villagers
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	model.register(w)
	number, cut, bases := uint64(0), 0, map[uint64]bool{}
	for kill := range kills {
		said := killAloud(t, folder, time.Duration(rand.IntN(40_000))*time.Microsecond)
		var m villagers
		j, err := journal.Open(folder, m.register)
		require.NoError(t, err, "kill %d", kill)
		opened := j.Opened()
		require.GreaterOrEqual(t, opened.Commit, max(said, number), "kill %d: %+v", kill, opened)
		for number < opened.Commit {
			number++
			if number%rebaseEach != 0 {
				model.frame(number)
			}
		}
		require.NoError(t, m.w.Verify())
		require.Equal(t, model.w.Hash(), m.w.Hash(), "kill %d: %+v", kill, opened)
		if opened.Cut > 0 {
			cut++
		}
		bases[opened.Base] = true
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())
	}
	require.Positive(t, number)
	t.Logf("%d kills: %d commits, %d logs were cut, %d bases", kills, number, cut, len(bases))
}

// killAloud runs the program and kills it some time after it printed something, and returns the
// last commit that it printed as acknowledged.
func killAloud(t *testing.T, folder string, after time.Duration) (said uint64) {
	child := exec.Command(os.Args[0], "-test.run=^TestJournalKilled$")
	child.Env = append(os.Environ(), killedFolder+"="+folder)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Skip("this program cannot start itself: ", err)
	}
	defer func() { _ = child.Wait() }() // it was killed
	started := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		digits, ok := strings.CutPrefix(lines.Text(), "acknowledged ")
		require.True(t, ok, "%s", lines.Text())
		if said, err = strconv.ParseUint(digits, 10, 64); err != nil {
			break // the kill cut it
		}
		if !started {
			started = true
			time.AfterFunc(after, func() { _ = child.Process.Kill() })
		}
	}
	require.True(t, started, "the program said nothing")
	return said
}

// journalAloud journals until it is killed.
func journalAloud(folder string) {
	var m villagers
	policy := []journal.Option{
		journal.SyncEach(), journal.SyncEvery(2 * time.Millisecond), journal.SyncEvery(time.Microsecond),
	}
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	j, err := journal.Open(folder, m.register, policy[rand.IntN(len(policy))],
		journal.CompactAt(int64(20_000+rand.IntN(200_000))))
	fail(err)
	said := j.Acknowledged()
	fmt.Println("acknowledged", said)
	for number := j.Opened().Commit + 1; ; number++ {
		if number%rebaseEach == 0 {
			fail(j.Rebase())
		} else {
			m.frame(number)
			fail(j.Commit())
		}
		if now := j.Acknowledged(); now > said {
			said = now
			fmt.Println("acknowledged", said)
		}
	}
}
