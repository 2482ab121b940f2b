.PHONY: run check test short race debug purego windows bench fuzz ci deep

run:
	go run ./bench
check:
	bash .ci/check
test:
	go test ./... ./arrowalloc/... ./bench/... ./fuzz/...
short:
	go test -short ./... ./arrowalloc/... ./bench/... ./fuzz/...
race:
	go test -race ./... ./arrowalloc/... ./bench/... ./fuzz/...
debug:
	go test -tags quarry_debug ./... ./arrowalloc/... ./bench/... ./fuzz/...
purego:
	go test -tags purego ./... ./arrowalloc/... ./bench/... ./fuzz/...
windows:
	bash internal/windows/run
bench:
	go test -run '^$$' -bench . ./...
ci:
	bash .ci/run
deep:
	bash .ci/deep
