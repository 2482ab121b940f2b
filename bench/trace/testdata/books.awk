# The books of a trace of the AOSP form, kept in an awk array by the names in
# the text: an answer that has nothing to do with the Go code of this package.
# Prints one "name value" a line, with the names of the columns of STATS.csv.
#
#	awk -f books.awk trace.txt

function put(name, n) {
	sum += n; total += n
	if (n > biggest) biggest = n
	if (n == 0) zero++
	blocks++
	size[name] = n
}

function lose(name) {
	if (!(name in size)) { print "line " NR ": " name " is not live"; bad = 1; exit 1 }
	sum -= size[name]; blocks--
	delete size[name]
}

function fresh(name) {
	if (name in size) { print "line " NR ": " name " is live"; bad = 1; exit 1 }
}

{ kind[$2]++; tids[$1] = 1 }

$2 == "malloc"   { if ($3 == "0x0") failed++; else { fresh($3); put($3, $4) } }
$2 == "calloc"   { if ($3 == "0x0") failed++; else { fresh($3); put($3, $4 * $5) } }
$2 == "memalign" { if ($3 == "0x0") failed++; else { fresh($3); put($3, $5); if ($4 > align) align = $4 } }
$2 == "realloc" {
	if ($3 == "0x0") {
		if ($4 != "0x0" && $5 == 0) lose($4); else failed++
	} else {
		if ($4 != "0x0") lose($4)
		fresh($3); put($3, $5)
	}
}
$2 == "free" { if ($3 == "0x0") nulls++; else lose($3) }

{
	if (sum > peak) peak = sum
	if (blocks > most) most = blocks
}

END {
	if (bad) exit 1
	for (t in tids) threads++
	printf "ops %d\n", NR
	printf "malloc %d\ncalloc %d\nrealloc %d\n", kind["malloc"], kind["calloc"], kind["realloc"]
	printf "memalign %d\nfree %d\n", kind["memalign"], kind["free"]
	printf "free_null %d\nfailed %d\nzero_size %d\n", nulls, failed, zero
	printf "peak_live_bytes %.0f\npeak_live_blocks %d\n", peak, most
	printf "end_live_bytes %.0f\nend_live_blocks %d\n", sum, blocks
	printf "total_bytes %.0f\nmax_request %d\nmax_align %d\nthreads %d\n", total, biggest, align, threads
}
