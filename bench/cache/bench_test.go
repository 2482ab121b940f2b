package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkServe is 64 operations of one client on a cache of 32 MiB that is full, one of them
// timed by the client as in a run: for profiles.
//
//	go test -run '^$' -bench Serve/quarry$ -cpuprofile cpu.out ./bench/cache
func BenchmarkServe(b *testing.B) {
	sp := spec{Bytes: quickMiB << 20, Keys: quickMiB * keysPerMiB}
	in, err := newStream(sp.Keys, quickMiB*fillPerMiB)
	require.NoError(b, err)
	defer in.close()
	e := newEntries()
	for i := range contenders {
		c := &contenders[i]
		b.Run(c.name, func(b *testing.B) {
			s, err := c.open(bound{sp.Bytes, e.mean(), sessionTime})
			require.NoError(b, err)
			client := newClient(e, s, false)
			client.serve(in.draws)
			b.ReportAllocs()
			for at := 0; b.Loop(); at = (at + sampledBy) % (len(in.draws) - sampledBy) {
				client.serve(in.draws[at : at+sampledBy])
			}
			require.NoError(b, client.wrong)
			require.NoError(b, s.close())
		})
	}
}
