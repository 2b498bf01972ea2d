package curio

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	pb "cuzk/tests/clients/go/cuzkv1"

	"google.golang.org/protobuf/proto"
)

const (
	miner          = 1000
	sealProof      = 5 // StackedDrg2KiBV1_1
	winPost        = 0
	windowPost     = 5
	windowPostV1_2 = 10
	updateProof    = 0 // StackedDrg2KiBV1
	sectorSize     = 2048
)

func data(t testing.TB, name string) []byte {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join(setting(t, "CUZK_TEST_DATA"), name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

var numbers atomic.Uint64

// fresh gives a request id that no other request has.
func fresh(kind string) string {
	return fmt.Sprintf("%s-%d-%d-%d", kind, miner, os.Getpid(), numbers.Add(1))
}

// c1Rust is the wrapped C1 output as the Rust writer has it: the wrapper of Curio round the untouched bytes.
func c1Rust(t testing.TB) []byte { return data(t, "porep-2k/c1-wrapped.json") }

type wrapper struct {
	SectorNum  uint64
	Phase1Out  []byte
	SectorSize uint64
}

// c1Go is the same after a passage through Go structures: keys in another order, the wrapper written anew.
func c1Go(t testing.TB) []byte {
	var wrapped wrapper
	var inner map[string]any
	if err := json.Unmarshal(c1Rust(t), &wrapped); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(wrapped.Phase1Out, &inner); err != nil {
		t.Fatal(err)
	}
	again, err := json.MarshalIndent(inner, "", " ") // keys sorted
	if err != nil {
		t.Fatal(err)
	}
	wrapped.Phase1Out = again
	out, err := json.Marshal(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func porep(t testing.TB, c1 []byte) *pb.SubmitProofRequest {
	return &pb.SubmitProofRequest{RequestId: fresh("porep"), ProofKind: pb.ProofKind_POREP_SEAL_COMMIT,
		SectorSize: sectorSize, RegisteredProof: sealProof, Priority: pb.Priority_NORMAL, VanillaProof: c1,
		SectorNumber: 1, MinerId: miner}
}

type postInfo struct {
	Randomness string
}

func randomness(t testing.TB, name string) []byte {
	var info postInfo
	if err := json.Unmarshal(data(t, name), &info); err != nil {
		t.Fatal(err)
	}
	out, err := hex.DecodeString(info.Randomness)
	if err != nil || len(out) != 32 {
		t.Fatalf("%s: no randomness", name)
	}
	return out
}

// window is a WindowPoSt of the first two sectors: the quickest proof there is.
func window(t testing.TB) *pb.SubmitProofRequest {
	return &pb.SubmitProofRequest{RequestId: fresh("wdpost"), ProofKind: pb.ProofKind_WINDOW_POST_PARTITION,
		RegisteredProof: windowPost, Priority: pb.Priority_HIGH, MinerId: miner,
		Randomness:    randomness(t, "window-2k/v1.info.json"),
		VanillaProofs: [][]byte{data(t, "window-2k/v1-sector-1.vproof"), data(t, "window-2k/v1-sector-2.vproof")}}
}

func winning(t testing.TB) *pb.SubmitProofRequest {
	return &pb.SubmitProofRequest{RequestId: fresh("winpost"), ProofKind: pb.ProofKind_WINNING_POST,
		RegisteredProof: winPost, Priority: pb.Priority_CRITICAL, MinerId: miner,
		Randomness:    randomness(t, "winning-2k/info.json"),
		VanillaProofs: [][]byte{data(t, "winning-2k/sector-1.vproof")}}
}

func snap(t testing.TB) *pb.SubmitProofRequest {
	var info map[string]any
	if err := json.Unmarshal(data(t, "snap-2k/info.json"), &info); err != nil {
		t.Fatal(err)
	}
	commitment := func(name string) []byte {
		text, _ := info[name].(string)
		out, err := hex.DecodeString(text)
		if err != nil || len(out) != 32 {
			t.Fatalf("snap-2k/info.json: no %s", name)
		}
		return out
	}
	return &pb.SubmitProofRequest{RequestId: fresh("snap"), ProofKind: pb.ProofKind_SNAP_DEALS_UPDATE,
		RegisteredProof: updateProof, Priority: pb.Priority_NORMAL, MinerId: miner, SectorNumber: 1,
		CommROld: commitment("comm_r_old"), CommRNew: commitment("comm_r_new"), CommDNew: commitment("comm_d_new"),
		VanillaProofs: [][]byte{data(t, "snap-2k/partition-0.vproof")}}
}

// again is the same request under another id.
func again(submit *pb.SubmitProofRequest, id string) *pb.SubmitProofRequest {
	copy := proto.Clone(submit).(*pb.SubmitProofRequest)
	copy.RequestId = id
	return copy
}

// padded makes a C1 output of about this size out of a small one: white space is allowed in JSON.
func padded(c1 []byte, size int) []byte {
	end := bytes.LastIndexByte(c1, '}')
	out := make([]byte, 0, size)
	out = append(out, c1[:end]...)
	out = append(out, bytes.Repeat([]byte(" "), max(0, size-len(c1)))...)
	return append(out, c1[end:]...)
}

// porepKey is the key of the PoRep parameters that the daemon has.
func porepKey(t testing.TB) string {
	keys, _ := filepath.Glob(filepath.Join(setting(t, "CUZK_TEST_PARAMS_DIR"), "*stacked-proof-of-replication*.vk"))
	if len(keys) != 1 {
		t.Fatalf("there are %d keys of a PoRep, not one", len(keys))
	}
	return keys[0]
}

// verified demands that the tool accepts a PoRep proof, as Curio verifies each in Go.
func verified(t testing.TB, proof []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "proof")
	if err := os.WriteFile(file, proof, 0o600); err != nil {
		t.Fatal(err)
	}
	c1 := filepath.Join(setting(t, "CUZK_TEST_DATA"), "porep-2k/c1-wrapped.json")
	out, err := exec.Command(setting(t, "CUZK_TEST_TOOL"), "verify", "--allow-test-params", "--c1", c1, "--miner-id",
		fmt.Sprint(miner), "--vk", porepKey(t), "--proof", file).CombinedOutput()
	if err != nil {
		t.Errorf("the proof does not verify: %v\n%s", err, out)
	}
}
