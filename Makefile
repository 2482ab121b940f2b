.PHONY: run test short race debug purego windows bench fuzz ci

run:
	go run ./bench
test:
	go test ./... ./bench/... ./fuzz/...
short:
	go test -short ./... ./bench/... ./fuzz/...
race:
	go test -race ./... ./bench/... ./fuzz/...
debug:
	go test -tags quarry_debug ./... ./bench/... ./fuzz/...
purego:
	go test -tags purego ./... ./bench/... ./fuzz/...
windows:
	bash internal/windows/run
bench:
	go test -run '^$$' -bench . ./...
ci:
	bash .ci/run
