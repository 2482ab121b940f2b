module quarry/bench

go 1.26

require quarry v0.0.0

replace quarry => ../
