package fileformat

import (
	"encoding/binary"
	"testing"

	"quarry/ecs/internal/worldfile"

	"github.com/stretchr/testify/require"
)

// TestPlan: offsets are those of the drawing, for sizes around each boundary.
func TestPlan(t *testing.T) {
	sizes := []int64{0, 1, 63, 64, 65, sumEvery - 1, sumEvery, sumEvery + 1, granuleBytes - headerBytes, granuleBytes,
		granuleBytes + 1, 5*granuleBytes - 1}
	for s := range sums {
		for _, size := range sizes {
			for _, other := range []int64{0, 100, 3 << 20} {
				var n [sums]int64
				for i := range n {
					n[i] = other
				}
				n[s] = size
				p := planOf(n)
				end := int64(headerBytes)
				for i := range sections {
					require.GreaterOrEqual(t, p.at[i], end)
					require.Less(t, p.at[i]-end, alignOf(i), "no more than needed")
					require.Zero(t, p.at[i]%alignOf(i))
					if end = p.at[i] + p.n[i]; i == firstBulk+worldfile.ImageRecords {
						require.Zero(t, (p.at[i+1]-p.at[i])%granuleBytes, "records fill granules")
						end = p.at[i+1]
					}
				}
				require.Equal(t, p.total, p.at[sums]+p.n[sums])
				mibs := 0
				for part := range worldfile.ImageBulk {
					mibs += int(up(n[firstBulk+part], sumEvery) / sumEvery)
				}
				require.EqualValues(t, 4*mibs+4, p.n[sums])
			}
		}
	}
}

// TestSumIndex: each MiB of each part has a place of its own among the sums.
func TestSumIndex(t *testing.T) {
	var n [sums]int64
	n[firstBulk+worldfile.ImageRows], n[firstBulk+worldfile.ImageRecords], n[firstBulk+worldfile.ImageEntries] = 2*
		granuleBytes, sumEvery+1, 1
	p := planOf(n)
	next := 0
	for part, mibs := range []int{4, 2, 1} {
		require.Equal(t, mibs, p.sumsOf(part))
		for mib := range mibs {
			require.Equal(t, next, p.sumIndex(part, mib))
			next++
		}
	}
	require.EqualValues(t, 4*next+4, p.n[sums])
}

// fakeHeader is the header of a fake image's file.
func fakeHeader(size [worldfile.ImageBulk]int) (h header, page []byte) {
	img := fakeImage(1, size)
	h.plan = planOf(lengthsOf(img))
	for s := range h.sums {
		h.sums[s] = crc(img.Meta[s])
	}
	return h, h.encode()
}

// seal gives a header the checksum of its bytes.
func seal(page []byte) []byte {
	binary.LittleEndian.PutUint32(page[headerSumAt:], crc(page[:headerSumAt]))
	return page
}

func TestHeaderRoundTrip(t *testing.T) {
	for _, size := range [][worldfile.ImageBulk]int{{}, small, mixed, {mostBytes, mostBytes, mostBytes}} {
		h, page := fakeHeader(size)
		again, err := decode(page)
		require.NoError(t, err)
		require.Equal(t, h, again)
	}
}

// TestHeaderIsCanonical changes each byte of a header in some ways, with the right checksum: what
// is then accepted differs in the checksum or the length of a section, and nowhere else.
func TestHeaderIsCanonical(t *testing.T) {
	h, page := fakeHeader(mixed)
	sum, length := 0, 0
	for at := range headerSumAt {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := append([]byte(nil), page...)
			bad[at] ^= flip
			again, err := decode(seal(bad))
			if err != nil {
				require.ErrorIs(t, err, worldfile.ErrImage)
				continue
			}
			require.NotEqual(t, h.own, again.own)
			again.own = h.own
			if again.sums != h.sums {
				sum++
				again.sums = h.sums
			} else {
				length++
				place := (at - tableAt) % entryBytes
				require.True(t, place >= 16 && place < 24, "byte %d", at)
				require.NotEqual(t, h.n, again.n)
				again.n = h.n
			}
			require.Equal(t, h, again, "byte %d", at)
		}
	}
	require.Equal(t, 3*sumBytes*firstBulk, sum)
	require.Positive(t, length, "where the next section begins at the same offset all the same")
}

// TestHeaderIsRefused: the reason is in the text.
func TestHeaderIsRefused(t *testing.T) {
	le := binary.LittleEndian
	entry := func(page []byte, s int) []byte { return page[tableAt+s*entryBytes:] }
	for name, c := range map[string]struct {
		change func(page []byte)
		says   string
	}{
		"magic":    {func(p []byte) { p[0] = 'q' }, "it does not begin as one, but with 71 71 75"},
		"format":   {func(p []byte) { le.PutUint32(p[8:], 2) }, "it has format 2, this version reads format 1"},
		"reserved": {func(p []byte) { p[12] = 1 }, "byte 12 of the header is 01, in format 1 it is 00"},
		"total":    {func(p []byte) { le.PutUint64(p[16:], 7) }, "it has 7 bytes by its header"},
		"granule":  {func(p []byte) { le.PutUint32(p[24:], 4096) }, "byte 25 of the header is 10, in format 1 it is 00"},
		"offset":   {func(p []byte) { le.PutUint64(entry(p, 1)[8:], 1<<63) }, "section tables is at byte 9223372036854775808"},
		"length":   {func(p []byte) { le.PutUint64(entry(p, 2)[16:], mostBytes+1) }, "section ids has 70368744177665 bytes, at most"},
		"huge":     {func(p []byte) { le.PutUint64(entry(p, 8)[16:], 1<<64-1) }, "section entries has 18446744073709551615 bytes, at most"},
		"granules": {func(p []byte) { le.PutUint64(entry(p, 6)[16:], granuleBytes+4096) }, "section rows has 2101248 bytes, which are no multiple"},
		"longer":   {func(p []byte) { entry(p, 3)[16] += 64 }, "section sparse is at byte"},
		"sums":     {func(p []byte) { entry(p, sums)[16] += 4 }, "byte 368 of the header"},
		"kind":     {func(p []byte) { entry(p, 6)[0] = 9 }, "byte 256 of the header is 09, in format 1 it is 07"},
	} {
		_, page := fakeHeader(mixed)
		c.change(page)
		_, err := decode(seal(page))
		require.ErrorIs(t, err, worldfile.ErrImage, name)
		require.ErrorContains(t, err, c.says, name)
	}
	_, page := fakeHeader(mixed)
	page[40]++
	_, err := decode(page)
	require.ErrorContains(t, err, "the header is damaged: its checksum is ")
}

// FuzzHeader: for any page with a right checksum, sections that are accepted lie in order and are
// those that encode would write.
func FuzzHeader(f *testing.F) {
	for _, size := range [][worldfile.ImageBulk]int{{}, small, mixed} {
		_, page := fakeHeader(size)
		f.Add(page[:tableAt+sections*entryBytes])
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		page := make([]byte, headerBytes)
		copy(page, said)
		h, err := decode(seal(page))
		if err != nil {
			require.ErrorIs(t, err, worldfile.ErrImage)
			return
		}
		end := int64(headerBytes)
		for s := range sections {
			require.GreaterOrEqual(t, h.at[s], end)
			require.GreaterOrEqual(t, h.n[s], int64(0))
			end = h.at[s] + h.n[s]
		}
		require.Equal(t, end, h.total)
		require.Equal(t, page, h.encode())
	})
}
