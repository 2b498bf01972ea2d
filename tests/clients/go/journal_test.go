package curio

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	pb "cuzk/tests/clients/go/cuzkv1"

	"google.golang.org/grpc/codes"
)

// A daemon with a journal is killed while it proves: it starts again, proves what SubmitProof had acknowledged under the
// old id, the Prove whose caller was cut off is joined by the same request, and after one more start results are what
// they were.
func TestSH04_JournalOutlivesKill(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	d := start(t, "", toml{
		"srs":     {`preload = ["wpost-2k"]`},
		"journal": {fmt.Sprintf("path = %q", journal), `retention = "1h"`},
	})
	c := dial(t, d.target())
	small := window(t)
	first := c.awaited(t, c.submitted(t, small).JobId, 0)
	completed(t, small, first)

	queued, cut := window(t), window(t)
	for range 3 {
		c.submitted(t, window(t)) // seconds of work before those that count
	}
	acknowledged := c.submitted(t, queued)
	done := make(chan error, 1)
	go func() {
		_, err := c.prove(t, cut)
		done <- err
	}()
	eventually(t, "the Prove, and its bytes on disk", func() bool {
		if !d.says("(" + cut.RequestId + ")") {
			return false
		}
		for _, queue := range c.look(t).Queues {
			if queue.ProofKind == "window-post" && queue.Pending+queue.InProgress >= 2 {
				files, err := filepath.Glob(journal + ".spool/*")
				return err == nil && len(files) == int(queue.Pending+queue.InProgress)
			}
		}
		return false
	})
	d.cmd.Process.Kill()
	refused(t, <-done, codes.Unavailable)
	<-d.ended

	again := launch(t, d.dir)
	again.await(t, "cuzk-daemon ready, serving on")
	if !again.says("jobs taken up again") || again.says(" 0 jobs taken up again") || again.says(" 0 results kept") {
		t.Errorf("the daemon does not say what it found:\n%s", again.words())
	}
	joined := c.must(t, cut)
	if !again.says("the same request again joins it") {
		t.Errorf("the Prove was not joined:\n%s", again.words())
	}
	proved := c.awaited(t, acknowledged.JobId, 0)
	completed(t, queued, proved)
	if old := c.awaited(t, first.JobId, 0); !bytes.Equal(old.Proof, first.Proof) {
		t.Error("a result is not what it was")
	}
	again.cmd.Process.Signal(syscall.SIGKILL)
	<-again.ended

	third := launch(t, d.dir)
	defer third.stop(t)
	third.await(t, "cuzk-daemon ready, serving on")
	for _, want := range []*pb.AwaitProofResponse{first, joined, proved} {
		got := c.awaited(t, want.JobId, 0)
		if got.Status != want.Status || !bytes.Equal(got.Proof, want.Proof) || got.TotalMs != want.TotalMs {
			t.Errorf("job %s: %v, %d ms, not %v, %d ms", want.JobId, got.Status, got.TotalMs, want.Status, want.TotalMs)
		}
	}
	if last := c.must(t, cut); last.JobId != joined.JobId || !bytes.Equal(last.Proof, joined.Proof) {
		t.Error("the same request once more was not answered with the same proof")
	}
	eventually(t, "nothing is left of the bytes", func() bool {
		files, err := filepath.Glob(journal + ".spool/*")
		return err == nil && len(files) == 0
	})
}

// Under a journal, many submits at once are each acknowledged when they are on disk; all are there after a kill.
func TestSH04_JournalManySubmits(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	d := start(t, "", toml{
		"srs":     {`preload = ["wpost-2k"]`},
		"journal": {fmt.Sprintf("path = %q", journal)},
	})
	c := dial(t, d.target())
	const count = 12
	ids := make(chan string, count)
	for range count {
		go func() {
			response, err := c.SubmitProof(context.Background(), window(t))
			if err != nil {
				t.Errorf("SubmitProof: %v", err)
			}
			ids <- response.GetJobId()
		}()
	}
	var jobs []string
	for range count {
		jobs = append(jobs, <-ids)
	}
	d.cmd.Process.Kill()
	<-d.ended
	again := launch(t, d.dir)
	defer again.stop(t)
	again.await(t, "cuzk-daemon ready, serving on")
	for _, id := range jobs {
		if result := c.awaited(t, id, 0); result.Status != pb.AwaitProofResponse_COMPLETED || len(result.Proof) != 192 {
			t.Errorf("job %s: %v %q", id, result.Status, result.ErrorMessage)
		}
	}
}
