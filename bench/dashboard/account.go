package dashboard

import "fmt"

// Account is the component. Frames counts the frames that it has seen.
type Account struct{ Balance, Frames int64 }

const (
	newBalance = 1000 // of an account that is opened
	opened     = 8    // accounts in a frame
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
	rich            int   // with more than a new account
	seen            int64 // frames of the first account
	behind          int   // accounts that have seen another number of frames
}

// add adds accounts to a report.
func (t *totals) add(a []Account) {
	if t.accounts == 0 && len(a) > 0 {
		t.seen = a[0].Frames
	}
	t.accounts += len(a)
	for i := range a {
		t.balance += a[i].Balance
		t.frames += a[i].Frames
		if a[i].Balance > newBalance {
			t.rich++
		}
		if a[i].Frames != t.seen {
			t.behind++
		}
	}
}

// frame returns the frame before which the report was made, by the accounts that are open: n at
// first.
func (t *totals) frame(n int) int { return (t.accounts - n) / opened }

// check compares a report with what is known of the state before some frame from first to last,
// with n accounts at first.
func (t *totals) check(n, first, last int) error {
	frame := t.frame(n)
	if frame < first || frame > last {
		return fmt.Errorf("the report has %d accounts, as before frame %d, want one of before frames %d to %d",
			t.accounts, frame, first, last)
	}
	return t.checkFrame(n, frame)
}

// checkFrame compares a report with what is known of the state before a frame.
func (t *totals) checkFrame(n, frame int) error {
	accounts := n + opened*frame
	if t.accounts != accounts || t.balance != newBalance*int64(accounts) || t.frames != int64(frame)*int64(accounts) ||
		t.behind != 0 {
		return fmt.Errorf("the report before frame %d has %d accounts with %d in all and %d frames, %d of them not as the first, want %d with %d and %d",
			frame, t.accounts, t.balance, t.frames, t.behind, accounts, newBalance*int64(accounts),
			int64(frame)*int64(accounts))
	}
	if frame > 0 && accounts > 1 && (t.rich <= 0 || t.rich >= accounts) {
		return fmt.Errorf("the report before frame %d has %d rich accounts of %d: nobody trades",
			frame, t.rich, accounts)
	}
	return nil
}
