// Many proofs in a row, with callers that cancel and callers that leave: nothing may grow.
package curio

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	pb "cuzk/tests/clients/go/cuzkv1"
)

// inside counts the daemon's open files and its threads.
func (d *daemon) inside(t testing.TB) (files, threads int) {
	for name, count := range map[string]*int{"fd": &files, "task": &threads} {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/%s", d.cmd.Process.Pid, name))
		if err != nil {
			t.Fatal(err)
		}
		*count = len(entries)
	}
	return files, threads
}

// soaked sends count requests, four at a time, on connections of their own now and then. Every fifth is cancelled, every
// seventh loses its connection; those must not come back as anything else, and all others must be proved.
func soaked(t *testing.T, d *daemon, count int) {
	c := dial(t, d.target())
	defer c.conn.Close() // not when the test ends: what is open is compared with before
	tokens := make(chan struct{}, 4)
	for i := range count {
		tokens <- struct{}{}
		go func() {
			defer func() { <-tokens }()
			submit := winning(t)
			if i%10 == 3 {
				submit = window(t)
			}
			switch {
			case i%7 == 6:
				leave(t, d, submit, time.Duration(i%11)*20*time.Millisecond)
			case i%5 == 4:
				job := c.submitted(t, submit)
				time.Sleep(time.Duration(i%13) * 10 * time.Millisecond)
				c.cancel(t, job.JobId)
				if r := c.awaited(t, job.JobId, 0); r.Status != pb.AwaitProofResponse_CANCELLED && r.Status != pb.AwaitProofResponse_COMPLETED {
					t.Errorf("a cancelled job is %v: %s", r.Status, r.ErrorMessage)
				}
			default:
				if r, err := c.prove(t, submit); err != nil || r.Status != pb.AwaitProofResponse_COMPLETED {
					t.Errorf("proof %d: %v %v", i, r.GetStatus(), err)
				}
			}
		}()
	}
	for range cap(tokens) {
		tokens <- struct{}{}
	}
	eventually(t, "an empty queue", func() bool {
		for _, queue := range c.look(t).Queues {
			if queue.Pending+queue.InProgress > 0 {
				return false
			}
		}
		return true
	})
}

// leave calls Prove and closes the connection after a while.
func leave(t *testing.T, d *daemon, submit *pb.SubmitProofRequest, after time.Duration) {
	conn, err := grpcDial(d.target())
	if err != nil {
		t.Error(err)
		return
	}
	done := make(chan struct{})
	go func() {
		pb.NewProvingEngineClient(conn).Prove(context.Background(), &pb.ProveRequest{Submit: submit})
		close(done)
	}()
	time.Sleep(after)
	conn.Close()
	<-done
}

// CUZK_TEST_FULL: five hundred of them.
func TestSoak(t *testing.T) {
	warm, count := 20, 40
	if os.Getenv("CUZK_TEST_FULL") != "" {
		warm, count = 50, 500
	}
	// Results are kept for a while on purpose: for seconds here, so that as many go as come.
	d := start(t, "", toml{"srs": {`preload = ["winning-2k", "wpost-2k"]`}, "journal": {`retention = "10s"`}})
	soaked(t, d, warm)
	memory := d.memory(t)
	files, threads := d.inside(t)
	soaked(t, d, count)
	var filesNow, threadsNow int
	eventually(t, "the files and threads of before", func() bool {
		filesNow, threadsNow = d.inside(t)
		return filesNow <= files && threadsNow <= threads
	})
	grown := d.memory(t) - memory
	t.Logf("%d proofs: memory %d MiB, grown by %d KiB; %d files, %d threads, as before %d, %d", count, memory>>20, grown>>10,
		filesNow, threadsNow, files, threads)
	if grown > memory/50 {
		t.Errorf("memory grew from %d to %d bytes", memory, memory+grown)
	}
}
