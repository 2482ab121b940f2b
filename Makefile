.PHONY: run check test short race debug purego windows bench fuzz ci deep

run:
	go run ./bench
check:
	bash .ci/check
test:
	go test ./... ./arrowalloc/... ./bench/... ./fuzz/... ./publish/...
short:
	go test -short ./... ./arrowalloc/... ./bench/... ./fuzz/... ./publish/...
race:
	go test -race ./... ./arrowalloc/... ./bench/... ./fuzz/... ./publish/...
debug:
	go test -tags quarry_debug ./... ./arrowalloc/... ./bench/... ./fuzz/... ./publish/...
purego:
	go test -tags purego ./... ./arrowalloc/... ./bench/... ./fuzz/... ./publish/...
windows:
	bash internal/windows/run
bench:
	go test -run '^$$' -bench . ./...
ci:
	bash .ci/run
deep:
	bash .ci/deep
