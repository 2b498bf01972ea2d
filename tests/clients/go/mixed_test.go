// Jobs of every kind at once, their proofs checked by an implementation that shares nothing with the daemon: @noble/curves,
// through the programs of tests/clients/node, which derive the public inputs themselves.
package curio

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	pb "cuzk/tests/clients/go/cuzkv1"
)

// statement is what a proof is checked for: see check_list.mjs.
type statement struct {
	Name   string         `json:"name"`
	Key    string         `json:"key"`
	Proof  string         `json:"proof"`
	Valid  bool           `json:"valid"`
	Inputs map[string]any `json:"inputs"`
}

type job struct {
	submit *pb.SubmitProofRequest
	statement
}

func path(t testing.TB, name string) string { return filepath.Join(setting(t, "CUZK_TEST_DATA"), name) }

func porepJob(t testing.TB, writer string, c1 []byte) job {
	return job{porep(t, c1), statement{Name: "porep of " + writer, Key: porepKey(t),
		Inputs: map[string]any{"c1": path(t, "porep-2k/c1.json"), "partition": 0}}}
}

func snapJob(t testing.TB) job {
	return job{snap(t), statement{Name: "snap", Key: path(t, "snap-2k/snap-2k.vk"),
		Inputs: map[string]any{"info": path(t, "snap-2k/info.json"), "kind": "snap"}}}
}

func winningJob(t testing.TB) job {
	return job{winning(t), statement{Name: "winning", Key: path(t, "winning-2k/winning-2k.vk"),
		Inputs: map[string]any{"info": path(t, "winning-2k/info.json"), "kind": "winning"}}}
}

// windowJob is partition 0, of two sectors, or 1, of one, under a registered proof of either generation.
func windowJob(t testing.TB, generation string, partition uint32) job {
	submit, api := window(t), "1.0.0"
	if generation == "v1_2" {
		submit.RegisteredProof, api = windowPostV1_2, "1.2.0"
	}
	submit.PartitionIndex, submit.VanillaProofs = partition, nil
	for sector := 2*partition + 1; sector <= min(2*partition+2, 3); sector++ {
		submit.VanillaProofs = append(submit.VanillaProofs, data(t, fmt.Sprintf("window-2k/%s-sector-%d.vproof", generation, sector)))
	}
	return job{submit, statement{Name: fmt.Sprintf("window %s partition %d", generation, partition),
		Key: path(t, "window-2k/window-2k.vk"),
		Inputs: map[string]any{"info": path(t, "window-2k/"+generation+".info.json"), "kind": "window",
			"partition": partition, "api": api}}}
}

// checked demands that every statement is found to be what it should be.
func checked(t testing.TB, statements []statement) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("the proofs are not checked: Node.js is not installed")
	}
	file := filepath.Join(t.TempDir(), "list.json")
	text, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("../node/install").CombinedOutput(); err != nil {
		t.Fatalf("the packages of tests/clients/node: %v\n%s", err, out)
	}
	out, err := exec.Command("node", "../node/check_list.mjs", file).CombinedOutput()
	if err != nil || strings.Count(string(out), "ok: ") != len(statements) {
		t.Errorf("@noble/curves: %v\n%s", err, out)
	}
}

// Twenty at once on one connection: PoReps from both writers of C1 outputs, one of them with the sector size left to the
// daemon, and every kind and partition that Curio asks for at this size.
func TestTwentyOfEveryKind(t *testing.T) {
	c := dial(t, shared(t).target())
	rust, golang := porepJob(t, "the Rust writer", c1Rust(t)), porepJob(t, "the Go writer", c1Go(t))
	rust.submit.SectorSize = 0
	if string(rust.submit.VanillaProof) == string(golang.submit.VanillaProof) {
		t.Fatal("both writers give the same bytes")
	}
	jobs := []job{rust, snapJob(t)}
	for range 3 {
		for _, generation := range []string{"v1", "v1_2"} {
			for partition := range uint32(2) {
				jobs = append(jobs, windowJob(t, generation, partition))
			}
		}
		jobs = append(jobs, winningJob(t))
	}
	jobs = append(jobs, winningJob(t), snapJob(t), golang)
	if len(jobs) != 20 {
		t.Fatalf("%d jobs", len(jobs))
	}
	statements := make([]statement, len(jobs))
	ids := map[string]bool{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i, j := range jobs {
		wait.Go(func() {
			result, err := c.prove(t, j.submit)
			if err != nil {
				t.Errorf("Prove %s: %v", j.Name, err)
				return
			}
			completed(t, j.submit, result)
			if result.SynthesisMs > result.TotalMs || result.GpuComputeMs > result.TotalMs {
				t.Errorf("times of parts exceed the whole: %v", result)
			}
			if j.submit.ProofKind == pb.ProofKind_POREP_SEAL_COMMIT {
				verified(t, result.Proof)
			}
			mu.Lock()
			defer mu.Unlock()
			statements[i] = j.statement
			statements[i].Proof, statements[i].Valid = hex.EncodeToString(result.Proof), true
			ids[result.JobId] = true
		})
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	if len(ids) != len(jobs) {
		t.Errorf("%d requests were %d jobs", len(jobs), len(ids))
	}
	other := statements[2] // the first window partition's proof, for the second's inputs: the check refuses what is wrong
	other.Name, other.Inputs, other.Valid = "a proof of another partition", statements[3].Inputs, false
	checked(t, append(statements, other))
}
