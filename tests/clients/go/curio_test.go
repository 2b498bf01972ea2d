// What Curio does, day by day. No failure may reach it except for bad input and for a daemon that was killed.
package curio

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	pb "cuzk/tests/clients/go/cuzkv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func TestUnixSocket(t *testing.T) {
	d := start(t, "", toml{"srs": {`preload = ["wpost-2k"]`}})
	for _, target := range []string{d.target(), "unix:" + filepath.Join(d.dir, "s")} {
		dial(t, target).must(t, window(t))
	}
}

// Different WindowPoSt partitions of one deadline come at the same time under the same id.
func TestAP03_TwoRequestsOneId(t *testing.T) {
	c := dial(t, shared(t).target())
	one, two := window(t), window(t)
	two.RequestId, two.PartitionIndex = one.RequestId, 1
	two.VanillaProofs = [][]byte{data(t, "window-2k/v1-sector-3.vproof")}
	var results [2]*pb.AwaitProofResponse
	var wait sync.WaitGroup
	for i, submit := range []*pb.SubmitProofRequest{one, two} {
		wait.Go(func() {
			result, err := c.prove(t, submit)
			if err != nil {
				t.Errorf("Prove: %v", err)
				return
			}
			completed(t, submit, result)
			results[i] = result
		})
	}
	wait.Wait()
	if results[0] != nil && results[1] != nil && results[0].JobId == results[1].JobId {
		t.Errorf("two different requests became one job, %s", results[0].JobId)
	}
}

// The same request, ten times on two connections, while it runs and after it has ended, is one job.
func TestAP03_RetryJoins(t *testing.T) {
	d := shared(t)
	clients := []client{dial(t, d.target()), dial(t, d.target())}
	before := clients[0].look(t).TotalProofsCompleted
	submit := window(t)
	var results [11]*pb.AwaitProofResponse
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			result, err := clients[i%2].prove(t, submit)
			if err != nil {
				t.Errorf("Prove: %v", err)
				return
			}
			results[i] = result
		})
	}
	wait.Wait()
	results[10] = clients[0].must(t, submit)
	for _, result := range results {
		if result == nil || result.JobId != results[10].JobId || !bytes.Equal(result.Proof, results[10].Proof) {
			t.Errorf("a retry was another job than %s: %v", results[10].JobId, result)
		}
	}
	if after := clients[0].look(t).TotalProofsCompleted; after != before+1 {
		t.Errorf("one job was counted %d times", after-before)
	}
}

// A caller that loses its connection and comes back finds its job where it was.
func TestCallerGoneAndBack(t *testing.T) {
	d := shared(t)
	submit := porep(t, c1Rust(t))
	first, err := grpcDial(d.target())
	if err != nil {
		t.Fatal(err)
	}
	go pb.NewProvingEngineClient(first).Prove(context.Background(), &pb.ProveRequest{Submit: submit})
	c := dial(t, d.target())
	var id string
	eventually(t, "the job", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), statusTime)
		defer cancel()
		r, err := c.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: submit.RequestId, TimeoutMs: 1})
		if err == nil {
			id = r.JobId
		}
		return err == nil
	})
	first.Close()
	time.Sleep(300 * time.Millisecond) // the daemon has seen it go
	if r := c.awaited(t, id, 1); r.Status != pb.AwaitProofResponse_TIMEOUT {
		t.Fatalf("the job did not run on without its caller: %v", r.Status)
	}
	done := make(chan *pb.AwaitProofResponse, 1)
	go func() {
		r, err := c.prove(t, submit)
		if err != nil {
			t.Errorf("the retry: %v", err)
		}
		done <- r
	}()
	time.Sleep(300 * time.Millisecond) // the retry has joined
	if !c.cancel(t, id) {
		t.Error("the job was not running")
	}
	if r := <-done; r.GetJobId() != id || r.GetStatus() != pb.AwaitProofResponse_CANCELLED {
		t.Errorf("the retry got %v of job %q, not that job %q", r.GetStatus(), r.GetJobId(), id)
	}
}

func grpcDial(target string) (*grpc.ClientConn, error) {
	return grpc.NewClient(target, insecureOption, grpc.WithDefaultCallOptions(
		grpc.MaxCallRecvMsgSize(messageMax), grpc.MaxCallSendMsgSize(messageMax)))
}

// Cancelling what waits, what runs, what has ended, what does not exist, and twice.
func TestAP01_Cancel(t *testing.T) {
	d := start(t, "", toml{"srs": {`preload = ["wpost-2k"]`}, "synthesis": {"partition_workers = 1"}})
	c := dial(t, d.target())
	running := c.submitted(t, porep(t, c1Rust(t))) // keeps the only permit while its parameters load, and after
	waiting := c.submitted(t, porep(t, c1Go(t)))
	await := make(chan *pb.AwaitProofResponse, 2)
	for _, id := range []string{running.JobId, waiting.JobId} {
		go func() { await <- c.awaited(t, id, 0) }()
	}
	time.Sleep(100 * time.Millisecond)
	c.cancel(t, waiting.JobId)
	if r := <-await; r.JobId != waiting.JobId || r.Status != pb.AwaitProofResponse_CANCELLED {
		t.Errorf("the waiting job: %v %v", r.JobId, r.Status)
	}
	c.cancel(t, running.JobId)
	if r := <-await; r.JobId != running.JobId || r.Status != pb.AwaitProofResponse_CANCELLED {
		t.Errorf("the running job: %v %v", r.JobId, r.Status)
	}
	if c.cancel(t, running.JobId) {
		t.Error("a cancelled job was running")
	}
	submit := window(t)
	ended := c.must(t, submit)
	if c.cancel(t, ended.JobId) {
		t.Error("an ended job was running")
	}
	if r := c.awaited(t, ended.JobId, 0); r.Status != pb.AwaitProofResponse_COMPLETED || !bytes.Equal(r.Proof, ended.Proof) {
		t.Errorf("the result of an ended job is lost: %v", r.Status)
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	_, err := c.CancelProof(ctx, &pb.CancelProofRequest{JobId: "no such job"})
	refused(t, err, codes.NotFound, "no such job")
}

// The deadline of a call is kept, and the time of an await; the job goes on and its result can be fetched.
func TestAP02_AP07_Deadlines(t *testing.T) {
	c := dial(t, shared(t).target())
	submit := porep(t, c1Rust(t))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := c.proveIn(ctx, submit)
	refused(t, err, codes.DeadlineExceeded)
	job := c.submitted(t, submit) // the same request: it is still there, and runs without a caller now
	for _, ms := range []uint64{1, 300} {
		if r := c.awaited(t, job.JobId, ms); r.Status != pb.AwaitProofResponse_TIMEOUT || r.JobId != job.JobId {
			t.Errorf("await of %d ms: %v", ms, r.Status)
		}
	}
	done := make(chan *pb.AwaitProofResponse, 2)
	for _, ms := range []uint64{0, math.MaxUint64} {
		go func() { done <- c.awaited(t, job.JobId, ms) }()
	}
	time.Sleep(200 * time.Millisecond)
	select {
	case r := <-done:
		t.Errorf("an await without limit came back at once: %v", r.Status)
	default:
	}
	c.cancel(t, job.JobId)
	for range 2 {
		if r := <-done; r.Status != pb.AwaitProofResponse_CANCELLED {
			t.Errorf("await: %v", r.Status)
		}
	}
	ctx, cancel = context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	_, err = c.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: "no such job"})
	refused(t, err, codes.NotFound, "no such job")
}

// A result that nobody waited for is fetched by id, by two at once, on a new connection.
func TestAP06_ResultAfterReconnect(t *testing.T) {
	d := shared(t)
	job := dial(t, d.target()).submitted(t, window(t))
	c := dial(t, d.target())
	if r := c.awaited(t, job.JobId, 0); r.Status != pb.AwaitProofResponse_COMPLETED {
		t.Fatalf("the job: %v %q", r.Status, r.ErrorMessage)
	}
	late := dial(t, d.target())
	for range 2 {
		if r := late.awaited(t, job.JobId, 0); r.Status != pb.AwaitProofResponse_COMPLETED || len(r.Proof) != 192 {
			t.Errorf("the result is lost: %v", r.Status)
		}
	}
}

// body is a packed SubmitProofRequest without its id; any number of calls under different ids share it without a copy.
type body []byte

func bodyOf(t testing.TB, submit *pb.SubmitProofRequest) body {
	message, err := proto.Marshal(again(submit, ""))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

type joined mem.BufferSlice

type joiningCodec struct{ proto encoding.CodecV2 }

func (c joiningCodec) Marshal(v any) (mem.BufferSlice, error) {
	if parts, ok := v.(joined); ok {
		return mem.BufferSlice(parts), nil
	}
	return c.proto.Marshal(v)
}
func (c joiningCodec) Unmarshal(data mem.BufferSlice, v any) error { return c.proto.Unmarshal(data, v) }
func (c joiningCodec) Name() string                                { return "proto" }

// proveBody is Prove with the message given in parts: ProveRequest{submit: {request_id, body}}.
func (c client) proveBody(ctx context.Context, id string, rest body, options ...grpc.CallOption) (*pb.AwaitProofResponse, error) {
	inner := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), id)
	head := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.BytesType), uint64(len(inner)+len(rest)))
	message := joined{mem.SliceBuffer(append(head, inner...)), mem.SliceBuffer(rest)}
	var response pb.ProveResponse
	options = append(options, grpc.ForceCodecV2(joiningCodec{encoding.GetCodecV2("proto")}))
	err := c.conn.Invoke(ctx, "/cuzk.v1.ProvingEngine/Prove", message, &response, options...)
	return response.Result, err
}

// Ten uploads of 60 MB beside a proof that runs: GetStatus keeps its five seconds, and all ten are taken as good input.
func TestAP15_StatusDuringUploads(t *testing.T) {
	d := shared(t)
	uploads, watcher := dial(t, d.target()), dial(t, d.target())
	busy := uploads.submitted(t, porep(t, c1Rust(t)))
	defer uploads.cancel(t, busy.JobId)
	big := bodyOf(t, porep(t, padded(c1Rust(t), 60<<20)))
	var ids []string
	var wait sync.WaitGroup
	for range 10 {
		id := fresh("porep")
		ids = append(ids, id)
		wait.Go(func() { // cancelled by us, below, not refused as bad input
			result, err := uploads.proveBody(context.Background(), id, big)
			if err != nil || result.GetStatus() != pb.AwaitProofResponse_CANCELLED {
				t.Errorf("%s: %v %v", id, result.GetStatus(), err)
			}
		})
	}
	var times []time.Duration
	pending := func() (n uint32) {
		begun := time.Now()
		for _, queue := range watcher.look(t).Queues {
			if queue.ProofKind == "porep-c2" {
				n = queue.Pending + queue.InProgress
			}
		}
		times = append(times, time.Since(begun))
		return n
	}
	for end := time.Now().Add(2 * time.Minute); pending() < 11; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the ten large requests are not in the queue")
		}
	}
	for range 20 {
		pending()
	}
	for _, id := range ids {
		uploads.cancel(t, id)
	}
	wait.Wait()
	slices.Sort(times)
	t.Logf("GetStatus during the uploads: %d calls, p50 %v, p99 %v, max %v", len(times), times[len(times)/2],
		times[len(times)*99/100], times[len(times)-1])
}

// Status, metrics, eviction and loading on demand tell the truth.
func TestAP12_AP14_StatusAndMetrics(t *testing.T) {
	d := start(t, "", toml{"srs": {`preload = ["wpost-2k"]`}})
	c := dial(t, d.target())
	circuit := func() *pb.SRSStatus {
		for _, srs := range c.look(t).LoadedSrs {
			if srs.CircuitId == smallCircuit && srs.Tier != pb.SRSStatus_COLD {
				return srs
			}
		}
		return nil
	}
	if srs := circuit(); srs == nil || srs.SizeBytes < 1<<20 || srs.RefCount != 0 {
		t.Errorf("the loaded parameters: %v", srs)
	}
	c.must(t, window(t))
	bad := window(t)
	bad.Randomness = make([]byte, 31)
	_, err := c.prove(t, bad)
	refused(t, err, codes.InvalidArgument, "randomness")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	metrics, err := c.GetMetrics(ctx, &pb.GetMetricsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cuzk_proofs_completed_total 1\n", `cuzk_proofs_completed{proof_kind="window_post"} 1` + "\n",
		"cuzk_uptime_seconds ", "cuzk_queue_depth 0\n", "cuzk_running_jobs 0\n", "cuzk_gpu_workers ",
		`cuzk_proof_duration_seconds_count{proof_kind="window_post"} 1` + "\n"} {
		if !bytes.Contains([]byte(metrics.PrometheusText), []byte(line)) {
			t.Errorf("the metrics lack %q:\n%s", line, metrics.PrometheusText)
		}
	}
	evicted, err := c.EvictSRS(ctx, &pb.EvictSRSRequest{CircuitId: smallCircuit})
	if err != nil || !evicted.WasLoaded || evicted.FreedBytes < 1<<20 {
		t.Errorf("EvictSRS: %v %v", evicted, err)
	}
	if srs := circuit(); srs != nil {
		t.Errorf("after the eviction: %v", srs)
	}
	loaded, err := c.PreloadSRS(ctx, &pb.PreloadSRSRequest{CircuitId: smallCircuit})
	if err != nil || loaded.AlreadyLoaded {
		t.Errorf("PreloadSRS: %v %v", loaded, err)
	}
	loaded, err = c.PreloadSRS(ctx, &pb.PreloadSRSRequest{CircuitId: smallCircuit})
	if err != nil || !loaded.AlreadyLoaded {
		t.Errorf("PreloadSRS again: %v %v", loaded, err)
	}
	_, err = c.PreloadSRS(ctx, &pb.PreloadSRSRequest{CircuitId: "porep-3k"})
	if err == nil {
		t.Error("a circuit that does not exist was loaded")
	}
	status := c.look(t)
	if status.TotalProofsCompleted != 1 || len(status.Gpus) == 0 || len(status.Queues) < 4 {
		t.Errorf("the status: %v", status)
	}
}
