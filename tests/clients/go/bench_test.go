// cuzk-bench against a server of grpc-go: its own HTTP/2 client meets another's server, and answers that no healthy daemon
// gives.
package curio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "cuzk/tests/clients/go/cuzkv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

type double struct {
	pb.UnimplementedProvingEngineServer
	server *grpc.Server
	calls  atomic.Int32
	prove  func(n int32, submit *pb.SubmitProofRequest) (*pb.AwaitProofResponse, error)
}

func (d *double) Prove(_ context.Context, r *pb.ProveRequest) (*pb.ProveResponse, error) {
	result, err := d.prove(d.calls.Add(1), r.Submit)
	return &pb.ProveResponse{Result: result}, err
}

func (d *double) GetStatus(context.Context, *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	return &pb.GetStatusResponse{UptimeSeconds: 7, PinnedMemoryBytes: 1 << 30}, nil
}

func (d *double) GetMetrics(context.Context, *pb.GetMetricsRequest) (*pb.GetMetricsResponse, error) {
	return &pb.GetMetricsResponse{PrometheusText: strings.Repeat("cuzk_long 1\n", 200000)}, nil
}

// serve answers on a UNIX socket and on TCP; gives both addresses.
func (d *double) serve(t *testing.T) (string, string) {
	setting(t, "CUZK_TEST_BENCH")
	path := filepath.Join(t.TempDir(), "s")
	local, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	network, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.server = grpc.NewServer(grpc.MaxRecvMsgSize(messageMax))
	pb.RegisterProvingEngineServer(d.server, d)
	healthpb.RegisterHealthServer(d.server, health.NewServer())
	go d.server.Serve(local)
	go d.server.Serve(network)
	t.Cleanup(d.server.Stop)
	return "unix://" + path, network.Addr().String()
}

// bench runs cuzk-bench and gives its exit code, its JSON and its errors.
func bench(t *testing.T, args ...string) (int, map[string]any, string) {
	t.Helper()
	var out, errors bytes.Buffer
	cmd := exec.Command(setting(t, "CUZK_TEST_BENCH"), append(args, "--json", "--state-dir", t.TempDir())...)
	cmd.Stdout, cmd.Stderr = &out, &errors
	cmd.Run()
	var report map[string]any
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("cuzk-bench %v: %v\n%s%s", args, err, out.Bytes(), errors.Bytes())
	}
	return cmd.ProcessState.ExitCode(), report, errors.String()
}

func windowArgs(t *testing.T) []string {
	folder := filepath.Join(setting(t, "CUZK_TEST_DATA"), "window-2k")
	return []string{"-t", "wpost", "--registered-proof", "5", "--miner-id", "1000", "--randomness",
		fmt.Sprintf("%x", randomness(t, "window-2k/v1.info.json")), "--vanilla", filepath.Join(folder, "v1-sector-1.vproof"),
		"--vanilla", filepath.Join(folder, "v1-sector-2.vproof")}
}

func good() *pb.AwaitProofResponse {
	return &pb.AwaitProofResponse{JobId: "j", Status: pb.AwaitProofResponse_COMPLETED, Proof: make([]byte, 192), QueueWaitMs: 40}
}

// The request arrives as it was described, each under an id of its own, no more at once than asked for.
func TestBenchRequests(t *testing.T) {
	want := window(t)
	var now, most atomic.Int32
	seen := make(chan string, 100)
	d := &double{prove: func(n int32, s *pb.SubmitProofRequest) (*pb.AwaitProofResponse, error) {
		at := now.Add(1)
		for old := most.Load(); at > old && !most.CompareAndSwap(old, at); old = most.Load() {
		}
		defer now.Add(-1)
		time.Sleep(20 * time.Millisecond)
		seen <- s.RequestId
		if s.ProofKind != want.ProofKind || s.RegisteredProof != want.RegisteredProof || s.MinerId != miner ||
			!bytes.Equal(s.Randomness, want.Randomness) || len(s.VanillaProofs) != 2 ||
			!bytes.Equal(s.VanillaProofs[1], want.VanillaProofs[1]) {
			return nil, status.Error(codes.InvalidArgument, "another request")
		}
		return good(), nil
	}}
	local, network := d.serve(t)
	for _, address := range []string{local, network, "http://" + network, "dns:///" + network} {
		most.Store(0)
		code, report, errors := bench(t, append([]string{"batch", "-a", address, "-c", "20", "-j", "5"}, windowArgs(t)...)...)
		if code != 0 || report["completed"] != 20.0 || report["queue_wait_mean_seconds"] != 0.04 {
			t.Errorf("%s: exit code %d, %v\n%s", address, code, report, errors)
		}
		if most.Load() != 5 {
			t.Errorf("%s: %d at once", address, most.Load())
		}
	}
	ids := map[string]bool{}
	for range 80 {
		ids[<-seen] = true
	}
	if len(ids) != 80 {
		t.Errorf("80 requests had %d ids", len(ids))
	}
	code, report, _ := bench(t, append([]string{"-a", local, "single", "--request-id", "mine"}, windowArgs(t)...)...)
	if id := <-seen; code != 0 || id != "mine" || report["job_id"] != "j" {
		t.Errorf("single: %d %q %v", code, id, report)
	}
}

// What goes wrong is counted and said, and the exit code is not 0.
func TestBenchFailures(t *testing.T) {
	d := &double{prove: func(n int32, s *pb.SubmitProofRequest) (*pb.AwaitProofResponse, error) {
		switch n % 4 {
		case 1:
			return nil, status.Error(codes.ResourceExhausted, "the queue is full: 100 %, ünder load")
		case 2:
			return &pb.AwaitProofResponse{JobId: "j", Status: pb.AwaitProofResponse_FAILED, ErrorMessage: "a card is lost"}, nil
		case 3:
			return &pb.AwaitProofResponse{JobId: "j", Status: pb.AwaitProofResponse_COMPLETED}, nil // without a proof
		}
		return good(), nil
	}}
	local, _ := d.serve(t)
	code, report, errors := bench(t, append([]string{"batch", "-a", local, "-c", "8"}, windowArgs(t)...)...)
	if code != 1 || report["completed"] != 2.0 || report["failed"] != 6.0 {
		t.Errorf("exit code %d, %v", code, report)
	}
	if !strings.Contains(errors, "RESOURCE_EXHAUSTED: the queue is full: 100 %, ünder load") {
		t.Errorf("the errors: %q", errors)
	}
	d.calls.Store(1)
	if code, _, errors := bench(t, append([]string{"single", "-a", local}, windowArgs(t)...)...); code != 1 ||
		!strings.Contains(errors, "a card is lost") {
		t.Errorf("exit code %d, %q", code, errors)
	}
}

// A call that gets no answer ends with its time; a server that goes is told as such.
func TestBenchDeadlineAndLoss(t *testing.T) {
	hold := make(chan struct{})
	d := &double{prove: func(n int32, s *pb.SubmitProofRequest) (*pb.AwaitProofResponse, error) {
		<-hold
		return good(), nil
	}}
	local, _ := d.serve(t)
	defer close(hold)
	code, _, errors := bench(t, append([]string{"single", "-a", local, "--timeout", "1"}, windowArgs(t)...)...)
	if code != 1 || !strings.Contains(errors, "DEADLINE_EXCEEDED") {
		t.Errorf("exit code %d, %q", code, errors)
	}
	go func() {
		for d.calls.Load() < 4 {
			time.Sleep(10 * time.Millisecond)
		}
		d.server.Stop()
	}()
	code, report, errors := bench(t, append([]string{"batch", "-a", local, "-c", "10", "-j", "3"}, windowArgs(t)...)...)
	if code != 1 || report["failed"] != 10.0 || !strings.Contains(errors, "connection") {
		t.Errorf("exit code %d, %v, %q", code, report, errors)
	}
}

func TestBenchLooks(t *testing.T) {
	d := &double{}
	local, network := d.serve(t)
	if code, report, _ := bench(t, "status", "-a", network); code != 0 || report["uptime_seconds"] != 7.0 {
		t.Errorf("status: %d %v", code, report)
	}
	code, report, _ := bench(t, "metrics", "-a", local)
	if text, _ := report["prometheus_text"].(string); code != 0 || len(text) != 200000*len("cuzk_long 1\n") {
		t.Errorf("metrics: %d, %d bytes", code, len(text))
	}
	if code, _, errors := bench(t, "preload", "-a", local, "-i", "porep-32g"); code != 1 || !strings.Contains(errors, "UNIMPLEMENTED") {
		t.Errorf("preload: %d %q", code, errors)
	}
	if code, report, _ := bench(t, "wait", "-a", local); code != 0 || report["ready"] != true {
		t.Errorf("wait: %d %v", code, report)
	}
}
