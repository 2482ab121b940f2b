package life_test

import (
	"strings"
	"testing"

	"quarry/bench/life"
)

func TestParseRule(t *testing.T) {
	for text, want := range map[string]string{
		"B3/S23":             "B3/S23",
		"b3/s23":             "B3/S23",
		"S23/B3":             "B3/S23",
		"23/3":               "B3/S23",
		" B36/S32 ":          "B36/S23",
		"B2/S":               "B2/S",
		"B/S":                "B/S",
		"/2":                 "B2/S",
		"B12345678/S8765432": "B12345678/S2345678",
		"B1/S0":              "B1/S0",
	} {
		rule, err := life.ParseRule(text)
		if err != nil || rule.String() != want {
			t.Errorf("ParseRule(%q): got %v, %v want %v", text, rule, err, want)
		}
	}
}

func TestParseRuleRefuses(t *testing.T) {
	for _, text := range []string{"", "B3", "B3S23", "B9/S23", "B3/S23/4", "B33/S23", "B3/S23:T10,10",
		"Life", "B03/S23"} {
		if rule, err := life.ParseRule(text); err == nil || !strings.Contains(err.Error(), "expected a rule") {
			t.Errorf("ParseRule(%q): got %v, %v want an error", text, rule, err)
		}
	}
}

func TestConway(t *testing.T) {
	for n := range 9 {
		if got, want := life.Conway.Births(n), n == 3; got != want {
			t.Errorf("Births(%d): got %v want %v", n, got, want)
		}
		if got, want := life.Conway.Survives(n), n == 2 || n == 3; got != want {
			t.Errorf("Survives(%d): got %v want %v", n, got, want)
		}
	}
}
