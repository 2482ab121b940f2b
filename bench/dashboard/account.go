package dashboard

import "fmt"

// Account is the component. Frames counts the frames that it has seen.
type Account struct{ Balance, Frames int64 }

const (
	first       = 1000 // balance of a new account
	opened      = 8    // accounts in a frame
	accountSize = 16
)

// trade is what a frame does to accounts next to each other.
func trade(a []Account, frame int) {
	for i := 0; i+1 < len(a); i += 2 {
		amount := int64(i*7+frame*5)&31 - 15
		a[i].Balance -= amount
		a[i+1].Balance += amount
		a[i].Frames++
		a[i+1].Frames++
	}
	if len(a)%2 == 1 {
		a[len(a)-1].Frames++
	}
}

// totals is a report.
type totals struct {
	accounts        int
	balance, frames int64
	rich            int // with more than a new account
}

// add adds accounts to a report.
func (t *totals) add(a []Account) {
	t.accounts += len(a)
	for i := range a {
		t.balance += a[i].Balance
		t.frames += a[i].Frames
		if a[i].Balance > first {
			t.rich++
		}
	}
}

// check compares a report with what is known of the state before a frame, with n accounts at first.
func (t totals) check(n, frame int) error {
	accounts := n + opened*frame
	if t.accounts != accounts || t.balance != first*int64(accounts) || t.frames != int64(frame)*int64(accounts) {
		return fmt.Errorf("the report before frame %d has %d accounts with %d in all and %d frames, want %d with %d and %d",
			frame, t.accounts, t.balance, t.frames, accounts, first*int64(accounts), int64(frame)*int64(accounts))
	}
	if frame > 0 && accounts > 1 && (t.rich <= 0 || t.rich >= accounts) {
		return fmt.Errorf("the report before frame %d has %d rich accounts of %d: nobody trades", frame, t.rich, accounts)
	}
	return nil
}
