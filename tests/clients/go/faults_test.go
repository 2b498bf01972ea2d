// Bad input, hostile peers, and the daemon's own beginning and end.
package curio

import (
	"bytes"
	"context"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pb "cuzk/tests/clients/go/cuzkv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

// What is wrong is said, and where, before anything is queued.
func TestIN_BadInput(t *testing.T) {
	d := shared(t)
	c := dial(t, d.target())
	c1 := c1Rust(t)
	cases := []struct {
		name   string
		change func() *pb.SubmitProofRequest
		parts  []string
	}{
		{"IN-05 nothing at all", func() *pb.SubmitProofRequest { return &pb.SubmitProofRequest{} }, []string{"proof_kind"}},
		{"IN-05 empty C1", func() *pb.SubmitProofRequest { return porep(t, nil) }, []string{"vanilla_proof"}},
		{"IN-05 no sectors", func() *pb.SubmitProofRequest { w := window(t); w.VanillaProofs = nil; return w }, []string{"vanilla_proofs"}},
		{"IN-05 one empty sector", func() *pb.SubmitProofRequest {
			w := window(t)
			w.VanillaProofs = [][]byte{{}}
			return w
		}, nil},
		{"IN-01 half a C1", func() *pb.SubmitProofRequest { return porep(t, c1[:len(c1)/2]) }, []string{"C1"}},
		{"IN-01 a C1 without its end", func() *pb.SubmitProofRequest { return porep(t, c1[:len(c1)-1]) }, []string{"C1"}},
		{"IN-01 half a sector", func() *pb.SubmitProofRequest {
			w := window(t)
			w.VanillaProofs[1] = w.VanillaProofs[1][:100]
			return w
		}, nil},
		{"IN-04 beyond the field", func() *pb.SubmitProofRequest {
			w := window(t)
			w.VanillaProofs[0] = bytes.Clone(w.VanillaProofs[0])
			copy(w.VanillaProofs[0][len(w.VanillaProofs[0])-40:], bytes.Repeat([]byte{0xff}, 32))
			return w
		}, nil},
		{"IN-07 hostile length", func() *pb.SubmitProofRequest {
			w := window(t)
			w.VanillaProofs[0] = bytes.Clone(w.VanillaProofs[0])
			copy(w.VanillaProofs[0], bytes.Repeat([]byte{0xff}, 8))
			return w
		}, nil},
		{"IN-09 kind 0", func() *pb.SubmitProofRequest { w := window(t); w.ProofKind = 0; return w }, []string{"proof_kind"}},
		{"IN-09 kind 5", func() *pb.SubmitProofRequest { w := window(t); w.ProofKind = 5; return w }, []string{"proof_kind"}},
		{"IN-09 kind -1", func() *pb.SubmitProofRequest { w := window(t); w.ProofKind = -1; return w }, []string{"proof_kind"}},
		{"IN-10 PoRep as a list", func() *pb.SubmitProofRequest {
			p := porep(t, nil)
			p.VanillaProofs = [][]byte{c1}
			return p
		}, []string{"vanilla_proof"}},
		{"IN-10 PoSt as one", func() *pb.SubmitProofRequest {
			w := window(t)
			w.VanillaProof, w.VanillaProofs = w.VanillaProofs[0], nil
			return w
		}, []string{"vanilla_proofs"}},
		{"IN-10 snap without commitments", func() *pb.SubmitProofRequest {
			w := window(t)
			w.ProofKind, w.RegisteredProof, w.Randomness = pb.ProofKind_SNAP_DEALS_UPDATE, 0, nil
			return w
		}, nil},
		{"registered proof", func() *pb.SubmitProofRequest { w := window(t); w.RegisteredProof = 99; return w }, []string{"registered"}},
		{"sector size", func() *pb.SubmitProofRequest { p := porep(t, c1); p.SectorSize = 4096; return p }, []string{"sector_size"}},
		{"randomness", func() *pb.SubmitProofRequest { w := window(t); w.Randomness = nil; return w }, []string{"randomness"}},
		{"wrong miner", func() *pb.SubmitProofRequest { p := porep(t, c1); p.MinerId = 1001; return p }, []string{"replica"}},
		{"a bad challenge", func() *pb.SubmitProofRequest {
			w := window(t)
			w.Randomness = bytes.Repeat([]byte{1}, 32)
			return w
		}, []string{"challenge"}},
	}
	before := c.look(t)
	for _, one := range cases {
		t.Run(one.name, func(t *testing.T) {
			_, err := c.prove(t, one.change())
			refused(t, err, codes.InvalidArgument, one.parts...)
			if err != nil {
				t.Logf("%s", status.Convert(err).Message())
			}
		})
	}
	if _, err := c.Prove(context.Background(), &pb.ProveRequest{}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("Prove without submit: %v", err)
	}
	if after := c.look(t); after.TotalProofsCompleted != before.TotalProofsCompleted {
		t.Error("bad input was proved")
	}
	odd := window(t)
	odd.Priority = 99 // taken as the kind's own, and logged
	c.must(t, odd)
}

// Messages up to Curio's limit are taken, larger ones are refused with the limit.
func TestIN02_MessageSizes(t *testing.T) {
	d := shared(t)
	c := dial(t, d.target(), grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(1<<30)))
	for _, mib := range []float64{3.9, 4.1, 51, 129, 255} {
		junk := append([]byte("?"), bytes.Repeat([]byte(" "), int(mib*(1<<20)))...)
		_, err := c.proveBody(context.Background(), fresh("porep"), bodyOf(t, porep(t, junk)))
		refused(t, err, codes.InvalidArgument, "C1") // taken, and read
	}
	body := bodyOf(t, porep(t, bytes.Repeat([]byte(" "), 257<<20)))
	_, err := c.proveBody(context.Background(), fresh("porep"), body)
	refused(t, err, codes.ResourceExhausted, "268435456")
	c.must(t, window(t)) // on the same connection
}

// Peers that speak something else, or nothing, disturb nobody.
func TestAP10_OddPeers(t *testing.T) {
	d := shared(t)
	address := strings.TrimPrefix(d.target(), "dns:///")
	c := dial(t, d.target())
	noise := make([]byte, 4096)
	rand.Read(noise)
	for name, words := range map[string][]byte{
		"HTTP/1.1":            []byte("GET /status HTTP/1.1\r\nHost: x\r\n\r\n"),
		"TLS":                 {0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3},
		"noise":               noise,
		"silence":             nil,
		"half a preface":      []byte("PRI * HTTP/2.0\r\n"),
		"a preface and noise": append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), noise...),
	} {
		peer, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		peer.Write(words)
		defer peer.Close()
	}
	for range 500 {
		peer, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close()
	}
	c.look(t)
	c.must(t, window(t))
}

func TestAP11_HealthAndReflection(t *testing.T) {
	c := dial(t, shared(t).target())
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	for _, service := range []string{"", "cuzk.v1.ProvingEngine", "window-post", "porep-c2"} {
		r, err := health.NewHealthClient(c.conn).Check(ctx, &health.HealthCheckRequest{Service: service})
		if err != nil || r.Status != health.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v %v", service, r, err)
		}
	}
	_, err := health.NewHealthClient(c.conn).Check(ctx, &health.HealthCheckRequest{Service: "tea"})
	refused(t, err, codes.NotFound)
	watch, err := health.NewHealthClient(c.conn).Watch(ctx, &health.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := watch.Recv(); err != nil || r.Status != health.HealthCheckResponse_SERVING {
		t.Errorf("watching: %v %v", r, err)
	}
	stream, err := reflection.NewServerReflectionClient(c.conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	stream.Send(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_ListServices{}})
	list, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, service := range list.GetListServicesResponse().GetService() {
		names = append(names, service.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "cuzk.v1.ProvingEngine") {
		t.Errorf("the services: %v", names)
	}
	stream.Send(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{
		FileContainingSymbol: "cuzk.v1.ProvingEngine"}})
	file, err := stream.Recv()
	if err != nil || len(file.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Fatalf("reflection: %v %v", file, err)
	}
	// The server's file is the one that the client was generated from.
	var theirs descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(file.GetFileDescriptorResponse().FileDescriptorProto[0], &theirs); err != nil {
		t.Fatal(err)
	}
	ours := protodesc.ToFileDescriptorProto(pb.File_cuzk_proto)
	theirs.SourceCodeInfo = nil
	if !proto.Equal(ours, &theirs) {
		t.Errorf("the protocol differs: run tests/clients/go/generate\n%v\n%v", ours, &theirs)
	}
}

// Once the address is bound, a request waits for the parameters of its circuit; one whose parameters cannot be had fails
// at once, and says which file is missing where.
func TestST12_ST20_LoadingAndMissing(t *testing.T) {
	params := t.TempDir()
	small, err := filepath.Glob(filepath.Join(setting(t, "CUZK_TEST_PARAMS_DIR"), "*proof-of-spacetime-fallback*"))
	if err != nil || len(small) == 0 {
		t.Fatal("no parameters of a PoSt")
	}
	for _, file := range small {
		if err := os.Symlink(file, filepath.Join(params, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := writeConfig(dir, "unix://"+filepath.Join(dir, "s"), params, nil); err != nil {
		t.Fatal(err)
	}
	d := launch(t, dir)
	defer d.stop(t)
	d.await(t, "listening on")
	c := dial(t, d.target())
	c.must(t, window(t)) // not loaded before: loaded for it
	begun := time.Now()
	result, err := c.prove(t, porep(t, c1Rust(t)))
	if err != nil || result.Status != pb.AwaitProofResponse_FAILED ||
		!strings.Contains(result.ErrorMessage, "v28-stacked-proof-of-replication") || !strings.Contains(result.ErrorMessage, params) {
		t.Errorf("missing parameters: %v %v %q", err, result.GetStatus(), result.GetErrorMessage())
	}
	t.Logf("missing parameters were said after %v: %s", time.Since(begun), result.GetErrorMessage())
	entries, err := os.ReadDir(params)
	if err != nil || len(entries) < len(small) {
		t.Fatal("files are gone")
	}
	for _, entry := range entries {
		if strings.Contains(entry.Name(), "stacked") {
			t.Errorf("parameters were made: %s", entry.Name())
		}
	}
	c.must(t, window(t))
}

// SIGTERM: what runs ends well, what is new is told to go elsewhere, WinningPoSt is still served, the socket goes.
func TestSH01_SH03_Drain(t *testing.T) {
	d := start(t, "", toml{"srs": {`preload = ["winning-2k", "wpost-2k", "porep-2k"]`}})
	c := dial(t, d.target())
	running := porep(t, c1Rust(t))
	done := make(chan error, 1)
	go func() {
		result, err := c.prove(t, running)
		if err == nil {
			completed(t, running, result)
		}
		done <- err
	}()
	eventually(t, "the proof is under way", func() bool {
		for _, queue := range c.look(t).Queues {
			if queue.InProgress > 0 {
				return true
			}
		}
		return false
	})
	d.cmd.Process.Signal(syscall.SIGTERM)
	d.await(t, "draining")
	_, err := c.prove(t, window(t))
	refused(t, err, codes.Unavailable)
	c.must(t, winning(t))
	if err := <-done; err != nil {
		t.Errorf("the running proof was lost: %v", err)
	}
	select {
	case <-d.ended:
	case <-time.After(time.Minute):
		t.Fatal("the daemon does not end")
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "s")); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// kill -9 while a proof runs: its caller is told; a new daemon starts at once on the same socket; the same client goes on.
func TestSH04_KillAndRestart(t *testing.T) {
	preload := toml{"srs": {`preload = ["wpost-2k"]`}}
	d := start(t, "", preload)
	c := dial(t, d.target())
	var jobs []string
	jobs = append(jobs, c.submitted(t, porep(t, c1Rust(t))).JobId)
	done := make(chan error, 1)
	go func() {
		_, err := c.prove(t, porep(t, c1Go(t)))
		done <- err
	}()
	eventually(t, "both jobs", func() bool {
		for _, queue := range c.look(t).Queues {
			if queue.ProofKind == "porep-c2" && queue.Pending+queue.InProgress == 2 {
				return true
			}
		}
		return false
	})
	d.cmd.Process.Kill()
	refused(t, <-done, codes.Unavailable)
	<-d.ended
	again := launch(t, d.dir)
	defer again.stop(t)
	again.await(t, "cuzk-daemon ready, serving on")
	if !again.says("was killed") {
		t.Errorf("the new daemon does not tell how the last one ended:\n%s", again.words())
	}
	eventually(t, "the client has the daemon again", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), statusTime)
		defer cancel()
		_, err := c.GetStatus(ctx, &pb.GetStatusRequest{}, grpc.WaitForReady(true))
		return err == nil
	})
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	for _, id := range jobs {
		_, err := c.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: id})
		refused(t, err, codes.NotFound)
	}
	c.must(t, window(t))
}

// A second daemon on a live socket refuses and names the first, which goes on.
func TestST09_SecondDaemon(t *testing.T) {
	first := start(t, "", toml{"srs": {`preload = ["wpost-2k"]`}})
	dir := t.TempDir()
	if err := writeConfig(dir, "unix://"+filepath.Join(first.dir, "s"), setting(t, "CUZK_TEST_PARAMS_DIR"), nil); err != nil {
		t.Fatal(err)
	}
	second := launch(t, dir)
	<-second.ended
	if code := second.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("the second daemon's exit code is %d", code)
	}
	dial(t, first.target()).must(t, window(t))
}

// Many large requests against a short queue: those beyond it are refused with a hint when to come back, memory stays within
// the budget, and a WinningPoSt, whose seats are kept, is proved meanwhile. All share one body, so this process needs no
// memory for each. CUZK_TEST_FULL: a thousand of them.
func TestQueueIsBounded(t *testing.T) {
	const size, queue, budget = 50 << 20, 4, 2 << 30 // of which the parameters take 1.1 GiB
	count := 40
	if os.Getenv("CUZK_TEST_FULL") != "" {
		count = 1000
	}
	d := start(t, "", toml{"daemon": {"max_queue = 4"}, "srs": {`preload = ["winning-2k"]`}, "memory": {`total_budget = "2GiB"`}})
	c := dial(t, d.target())
	before := d.memory(t)
	body := bodyOf(t, porep(t, padded(c1Rust(t), size)))
	var ids []string
	var wait sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for range count {
		id := fresh("porep")
		ids = append(ids, id)
		wait.Go(func() {
			var trailer metadata.MD
			result, err := c.proveBody(context.Background(), id, body, grpc.Trailer(&trailer))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				answers[status.Code(err).String()]++
			} else {
				answers[result.Status.String()]++
			}
			if status.Code(err) == codes.ResourceExhausted && len(trailer.Get("grpc-retry-pushback-ms")) != 1 {
				t.Errorf("no hint when to try again: %v %v", err, trailer)
			}
		})
	}
	var most int64
	eventually(t, "all but a queue of them are answered", func() bool {
		most = max(most, d.memory(t))
		mu.Lock()
		defer mu.Unlock()
		ended := 0
		for _, n := range answers {
			ended += n
		}
		return ended >= count-queue
	})
	c.must(t, winning(t))
	for _, id := range ids { // those that were refused are unknown
		c.CancelProof(context.Background(), &pb.CancelProofRequest{JobId: id})
	}
	wait.Wait()
	t.Logf("memory %d MiB before, at most %d MiB; answers: %v", before>>20, most>>20, answers)
	if most > before+budget+64<<20 {
		t.Errorf("memory went up to %d MiB, the budget is %d MiB", most>>20, budget>>20)
	}
	// On a slow machine a few are proved while others still come; all else is refused, and the last are cancelled.
	taken := answers["COMPLETED"] + answers["CANCELLED"]
	if answers["ResourceExhausted"] < count/2 || answers["ResourceExhausted"]+taken != count || taken < queue {
		t.Errorf("answers: %v", answers)
	}
}

// A client that pings every ten seconds while it has nothing to say is not sent away: it was connected when the shared daemon
// was first used.
func TestAP09_Keepalive(t *testing.T) {
	shared(t)
	time.Sleep(time.Until(common.idleFor.Add(25 * time.Second)))
	client{pb.NewProvingEngineClient(common.idle), common.idle}.look(t)
	if begun, ended := common.links.begun.Load(), common.links.ended.Load(); begun != 1 || ended != 0 {
		t.Errorf("%d connections were made, %d ended, in %v", begun, ended, time.Since(common.idleFor))
	}
}
