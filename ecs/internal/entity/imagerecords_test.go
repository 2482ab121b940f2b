package entity_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
)

// admission is the slow twin of the checks of records: one record after another, on maps.
type admission struct {
	to    map[entity.Location]entity.Location // what the rows of a file get
	taken map[entity.Location]bool
}

// rowsOf makes rows, and their twin.
func rowsOf(blocks []rowBlock) (*entity.ImageRows, *admission) {
	rows, twin := new(entity.ImageRows), &admission{map[entity.Location]entity.Location{}, map[entity.Location]bool{}}
	for _, b := range blocks {
		rows.Add(b.from, b.to, b.n)
		for row := range b.n {
			twin.to[at(b.from, row)] = at(b.to, row)
		}
	}
	return rows, twin
}

// rowBlock is a row block of a file, of n rows.
type rowBlock struct{ from, to, n int }

func at(rowBlock, row int) entity.Location { return entity.Location(rowBlock<<entity.RowBits + row) }

// word is what admitWord returns, with the first index that it refuses, or -1, and what the records
// are then.
func (a *admission) word(list []entity.Record) (alive uint64, bad int, after []entity.Record) {
	after = slices.Clone(list)
	for i := range after {
		x := &after[i]
		to, ok := a.to[x.Location]
		switch {
		case x.Version()%2 == 0 && x.Location == entity.Nowhere:
			continue
		case x.Version()%2 == 0 || !ok || a.taken[x.Location]:
			return 0, i, nil
		}
		a.taken[x.Location] = true
		x.Location = to
		alive |= 1 << i
	}
	return alive, -1, after
}

// randomBlocks makes row blocks with many ends within a word, and some that move.
func randomBlocks(dice *rand.Rand) (blocks []rowBlock) {
	number, move := 1, dice.IntN(3) == 0
	for range 1 + dice.IntN(5) {
		b := rowBlock{number, number, 1 + dice.IntN(200)}
		if dice.IntN(3) == 0 {
			b.n = []int{1, 63, 64, 65, 127, 128, 1 << entity.RowBits}[dice.IntN(7)]
		}
		if move && dice.IntN(2) == 0 {
			b.to = number + 100
		}
		blocks = append(blocks, b)
		number += 1 + dice.IntN(2)
	}
	return blocks
}

// TestRecordsByRuns: words of runs, and of what only looks like one, are admitted as record by
// record: in order, with a location that comes twice or is skipped, of a row that is not there,
// with rows of two blocks, dead or partly dead, with a location though dead.
func TestRecordsByRuns(t *testing.T) {
	versions := []uint32{1, 3, 5, math.MaxUint32, math.MaxUint32 - 2}
	accepted, refused := 0, 0
	for turn := range uint64(4_000) {
		dice := rand.New(rand.NewPCG(turn, 3))
		blocks := randomBlocks(dice)
		rows, twin := rowsOf(blocks)
		var order []entity.Location // of rows
		for _, b := range blocks {
			for row := range b.n {
				order = append(order, at(b.from, row))
			}
		}
		if dice.IntN(4) == 0 {
			from := dice.IntN(len(order))
			order = slices.Concat(order[from:], order[:from])
		}
		if dice.IntN(8) == 0 {
			slices.Reverse(order)
		}
		for word := 0; len(order) > 0; word++ {
			list := make([]entity.Record, 64)
			for i := 0; i < 64; {
				n := min(64-i, 1+dice.IntN(90))
				if dice.IntN(4) > 0 {
					for ; n > 0 && len(order) > 0; n, i = n-1, i+1 {
						list[i], order = entity.MakeRecord(versions[dice.IntN(len(versions))], order[0]), order[1:]
					}
				} else if dice.IntN(2) == 0 {
					break
				}
				for range n {
					list[i] = entity.MakeRecord(2*dice.Uint32N(math.MaxInt32), entity.Nowhere)
					i++
				}
			}
			x, other := &list[dice.IntN(64)], list[dice.IntN(64)]
			switch dice.IntN(200) {
			case 0:
				*x = other
			case 1:
				x.Location++
			case 2:
				x.Location--
			case 3:
				*x = entity.MakeRecord(x.Version()^1, x.Location)
			case 4:
				x.Location ^= 1 << dice.IntN(32)
			case 5:
				i := dice.IntN(63)
				list[i], list[i+1] = list[i+1], list[i]
			}
			input := slices.Clone(list)
			alive, bad, after := twin.word(list)
			got, err := rows.AdmitWord(list, 64*word)
			context := fmt.Sprintf("turn %d, word %d of %v, blocks %v", turn, word, input, blocks)
			if bad >= 0 {
				refused++
				require.ErrorContains(t, err, fmt.Sprintf("index %d ", 64*word+bad), context)
				break
			}
			accepted++
			require.NoError(t, err, context)
			require.Equal(t, alive, got, context)
			require.Equal(t, after, list, context)
			require.Equal(t, len(twin.taken), rows.Taken(), context)
		}
	}
	t.Logf("%d words accepted, %d refused", accepted, refused)
	require.Greater(t, min(accepted, refused), 500)
}

// TestRecordsAtEachPlace puts a run of each length to each place of a word, its rows to each place
// of the bits, and then each single change into it.
func TestRecordsAtEachPlace(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 31, 32, 33, 63, 64} {
		for first := 0; first <= 64; first += 1 + first%4 {
			for place := 0; place <= 64-n; place += max(1, (64-n)/3) {
				blocks := []rowBlock{{1, 1, 1 + first}, {2, 2, n}}
				if first == 0 {
					blocks = blocks[1:]
				}
				sound := make([]entity.Record, 64)
				for i := range n {
					sound[place+i] = entity.MakeRecord(1, at(2, i))
				}
				rows, _ := rowsOf(blocks)
				alive, err := rows.AdmitWord(slices.Clone(sound), 0)
				require.NoError(t, err)
				require.Equal(t, ^uint64(0)>>(64-n)<<place, alive)
				require.Equal(t, n, rows.Taken())
				_, err = rows.AdmitWord(slices.Clone(sound), 64)
				require.ErrorContains(t, err, fmt.Sprintf("index %d leads to row 0 of row block 2", 64+place), "again")

				for i := place; i < place+n; i += max(1, n/8) {
					for _, change := range []entity.Record{
						entity.MakeRecord(1, sound[i].Location+1), entity.MakeRecord(1, at(2, n)),
						entity.MakeRecord(1, at(3, 0)), entity.MakeRecord(1, at(2, (i-place+1)%n)),
						entity.MakeRecord(1, entity.Nowhere), entity.MakeRecord(0, sound[i].Location),
						entity.MakeRecord(2, sound[i].Location), entity.MakeRecord(3, sound[i].Location),
					} {
						list := slices.Clone(sound)
						list[i] = change
						rows, twin := rowsOf(blocks)
						alive, bad, after := twin.word(list)
						got, err := rows.AdmitWord(list, 0)
						if bad >= 0 {
							require.ErrorContains(t, err, fmt.Sprintf("index %d ", bad))
							continue
						}
						require.NoError(t, err)
						require.Equal(t, alive, got)
						require.Equal(t, after, list)
					}
				}
			}
		}
	}
}

// TestRecordsOfStores admits the records of whole stores, with blocks of reservations, after random
// calls, and refuses them after each kind of change.
func TestRecordsOfStores(t *testing.T) {
	for turn := range uint64(25) {
		dice := rand.New(rand.NewPCG(turn, 4))
		s := newStore(t)
		var ids []entity.ID
		for range 1 + dice.IntN(3) {
			list := make([]entity.ID, 1+dice.IntN(2*blockSize))
			if dice.IntN(3) == 0 {
				require.NoError(t, s.Reserve(list))
				n := dice.IntN(len(list))
				revive(t, s, list[:n])
				list = list[:n]
			} else {
				require.NoError(t, s.MakeRoom(len(list)))
				s.TakeRows(1, list)
			}
			ids = append(ids, list...)
		}
		if len(ids) == 0 {
			continue
		}
		for range dice.IntN(20) {
			if at := dice.IntN(len(ids)); len(ids) > 1 {
				give(t, s, ids[at])
				ids = slices.Delete(ids, at, at+1)
			}
		}
		if dice.IntN(4) == 0 {
			dice.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		}
		var blocks []rowBlock
		for from := ids; len(from) > 0; {
			n := min(len(from), 1+dice.IntN(1<<entity.RowBits))
			number := len(blocks) + 1
			s.MoveRows(from[:n], at(number, 0))
			blocks, from = append(blocks, rowBlock{number, number, n}), from[n:]
		}
		admitted := func() error {
			rows, _ := rowsOf(blocks)
			return s.Admit(rows)
		}
		require.NoError(t, admitted(), "turn %d", turn)
		verify(t, s, len(ids))
		for range 20 {
			e, other := ids[dice.IntN(len(ids))], ids[dice.IntN(len(ids))]
			r := s.Find(e)
			old := *r
			same := false
			switch dice.IntN(5) {
			case 0:
				r.Location, same = s.Find(other).Location, e == other
			case 1:
				r.Location = at(len(blocks), blocks[len(blocks)-1].n)
			case 2:
				r.Location = entity.Nowhere
			case 3:
				*r = entity.MakeRecord(old.Version()+1, old.Location)
			case 4:
				*r = entity.MakeRecord(old.Version()+1, entity.Nowhere)
			}
			require.Equal(t, same, admitted() == nil, "turn %d: %v is %v, was %v", turn, e, *r, old)
			*r = old
		}
		blocks[len(blocks)-1].n++
		require.ErrorContains(t, admitted(), "records are alive, there are", "a row more")
		blocks[len(blocks)-1].n--
		for i := range blocks {
			blocks[i].to += 7
		}
		require.NoError(t, admitted(), "moved")
		for i := range blocks {
			blocks[i].from += 7
		}
		require.NoError(t, admitted(), "where they are by now")
	}
}

// BenchmarkAdmit checks records that memory has, a thousand rows to a row block: alive and in
// order, alive and in the reverse order, and dead.
func BenchmarkAdmit(b *testing.B) {
	const n = 1 << 20
	var blocks []rowBlock
	for number := range n / 1024 {
		blocks = append(blocks, rowBlock{number + 1, number + 1, 1024})
	}
	order := make([]entity.Record, 0, n)
	for _, x := range blocks {
		for row := range x.n {
			order = append(order, entity.MakeRecord(1, at(x.from, row)))
		}
	}
	reverse := slices.Clone(order)
	slices.Reverse(reverse)
	rows, _ := rowsOf(blocks)
	for name, list := range map[string][]entity.Record{
		"order": order, "reverse": reverse, "dead": make([]entity.Record, n),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rows.Forget()
				for word := range n / 64 {
					if _, err := rows.AdmitWord(list[64*word:64*word+64], 64*word); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}
