// The acceptance tests of cuzk-daemon from the side of its main client: a Go program set up as Curio is (grpc-go, no TLS,
// dns:/// and unix: targets, messages up to 256 MiB, one connection, up to ten Prove calls at once, GetStatus with five
// seconds). This file starts daemons and makes clients; input_test.go makes requests; the others are the cases.
package curio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	pb "cuzk/tests/clients/go/cuzkv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

const (
	messageMax   = 256 << 20
	statusTime   = 5 * time.Second
	proveTime    = 30 * time.Minute
	startTime    = 5 * time.Minute
	smallCircuit = "wpost-2k"
)

func setting(t testing.TB, name string) string {
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: tests/clients/CMakeLists.txt tells the settings; ctest -R go_clients makes them", name)
	}
	return value
}

// ---- daemons ----

type daemon struct {
	cmd     *exec.Cmd
	dir     string
	address string // as "listening on" says
	mu      sync.Mutex
	log     []string
	changed chan struct{}
	ended   chan struct{}
}

// options of a test daemon, as lines of TOML by section
type toml map[string][]string

func (d *daemon) config() string { return filepath.Join(d.dir, "cuzk.toml") }

func writeConfig(dir, listen, params string, more toml) error {
	sections := toml{
		"daemon":  {fmt.Sprintf("listen = %q", listen), fmt.Sprintf("state_dir = %q", filepath.Join(dir, "state"))},
		"srs":     {fmt.Sprintf("param_cache = %q", params), "allow_test_params = true"},
		"memory":  {`safety_margin = "64MiB"`},
		"logging": {fmt.Sprintf("file = %q", filepath.Join(dir, "log")), `level = "debug"`},
	}
	for section, lines := range more {
		sections[section] = append(sections[section], lines...)
	}
	var text strings.Builder
	for section, lines := range sections {
		fmt.Fprintf(&text, "[%s]\n%s\n", section, strings.Join(lines, "\n"))
	}
	return os.WriteFile(filepath.Join(dir, "cuzk.toml"), []byte(text.String()), 0o600)
}

// launch starts a daemon with the configuration in dir, and follows what it says.
func launch(t testing.TB, dir string) *daemon {
	d := &daemon{dir: dir, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	d.cmd = exec.Command(setting(t, "CUZK_TEST_DAEMON"), "-c", d.config())
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.cmd.Stderr = os.Stderr
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go d.follow(out)
	return d
}

func (d *daemon) follow(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		d.mu.Lock()
		d.log = append(d.log, lines.Text())
		if _, address, found := strings.Cut(lines.Text(), "listening on "); found {
			d.address = address
		}
		d.mu.Unlock()
		select {
		case d.changed <- struct{}{}:
		default:
		}
	}
	d.cmd.Wait()
	close(d.ended)
}

func (d *daemon) says(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, line := range d.log {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}

func (d *daemon) await(t testing.TB, text string) {
	t.Helper()
	late := time.After(startTime)
	for !d.says(text) {
		select {
		case <-d.changed:
		case <-d.ended:
			if !d.says(text) {
				t.Fatalf("the daemon ended without saying %q:\n%s", text, d.words())
			}
		case <-late:
			t.Fatalf("the daemon does not say %q:\n%s", text, d.words())
		}
	}
}

func (d *daemon) words() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := max(0, len(d.log)-60)
	return strings.Join(d.log[from:], "\n")
}

// target is the daemon's address as a grpc-go target.
func (d *daemon) target() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if strings.HasPrefix(d.address, "unix:") {
		return d.address
	}
	return "dns:///" + d.address
}

// memory is what the daemon uses: anonymous and shared bytes.
func (d *daemon) memory(t testing.TB) (bytes int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		for _, name := range []string{"RssAnon:", "RssShmem:"} {
			if rest, found := strings.CutPrefix(line, name); found {
				fmt.Sscan(rest, &kib)
				bytes += kib << 10
			}
		}
	}
	return bytes
}

// stop ends the daemon as a service manager does, and expects a clean end.
func (d *daemon) stop(t testing.TB) {
	t.Helper()
	d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.ended:
	case <-time.After(2 * time.Minute):
		d.cmd.Process.Kill()
		t.Fatalf("the daemon did not stop:\n%s", d.words())
	}
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the daemon's exit code is %d (%s):\n%s", code, d.cmd.ProcessState, d.words())
	}
}

// start gives a daemon that is ready and is stopped when the test ends. listen "": a UNIX socket of its own.
func start(t testing.TB, listen string, more toml) *daemon {
	t.Helper()
	dir := t.TempDir()
	if listen == "" {
		listen = "unix://" + filepath.Join(dir, "s")
	}
	if err := writeConfig(dir, listen, setting(t, "CUZK_TEST_PARAMS_DIR"), more); err != nil {
		t.Fatal(err)
	}
	d := launch(t, dir)
	t.Cleanup(func() {
		select {
		case <-d.ended:
		default:
			d.stop(t)
		}
		if t.Failed() {
			t.Logf("the daemon's last words:\n%s", d.words())
		}
	})
	d.await(t, "cuzk-daemon ready, serving on")
	return d
}

// One daemon serves most cases: loading the large parameters takes seconds. TestMain stops it.
var common struct {
	once    sync.Once
	d       *daemon
	dir     string
	idle    *grpc.ClientConn // pings, and says nothing: see TestAP09
	idleFor time.Time
	links   links
}

func shared(t testing.TB) *daemon {
	t.Helper()
	common.once.Do(func() {
		dir, err := os.MkdirTemp("", "cuzk-go-")
		if err != nil {
			t.Fatal(err)
		}
		common.dir = dir
		preload := toml{"srs": {`preload = ["winning-2k", "wpost-2k", "porep-2k"]`}}
		if err := writeConfig(dir, "127.0.0.1:0", setting(t, "CUZK_TEST_PARAMS_DIR"), preload); err != nil {
			t.Fatal(err)
		}
		common.d = launch(t, dir)
	})
	if common.d == nil {
		t.Fatal("the shared daemon could not be started")
	}
	common.d.await(t, "cuzk-daemon ready, serving on")
	if common.idle == nil {
		idle, err := grpc.NewClient(common.d.target(), insecureOption, grpc.WithStatsHandler(&common.links),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second, PermitWithoutStream: true}))
		if err != nil {
			t.Fatal(err)
		}
		common.idle, common.idleFor = idle, time.Now()
		client{pb.NewProvingEngineClient(idle), idle}.look(t)
	}
	return common.d
}

// links counts the connections that a client has had.
type links struct{ begun, ended atomic.Int32 }

func (l *links) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (l *links) HandleRPC(context.Context, stats.RPCStats)                         {}
func (l *links) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (l *links) HandleConn(_ context.Context, event stats.ConnStats) {
	switch event.(type) {
	case *stats.ConnBegin:
		l.begun.Add(1)
	case *stats.ConnEnd:
		l.ended.Add(1)
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if d := common.d; d != nil {
		d.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.ended:
		case <-time.After(2 * time.Minute):
			d.cmd.Process.Kill()
			<-d.ended
		}
		if end := d.cmd.ProcessState.ExitCode(); end != 0 {
			fmt.Printf("FAIL: the shared daemon's exit code is %d (%s)\n%s\n", end, d.cmd.ProcessState, d.words())
			code = 1
		}
		os.RemoveAll(common.dir)
	}
	os.Exit(code)
}

// ---- clients ----

var insecureOption = grpc.WithTransportCredentials(insecure.NewCredentials())

type client struct {
	pb.ProvingEngineClient
	conn *grpc.ClientConn
}

// dial gives a client with Curio's settings.
func dial(t testing.TB, target string, more ...grpc.DialOption) client {
	t.Helper()
	options := append([]grpc.DialOption{
		insecureOption,
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageMax), grpc.MaxCallSendMsgSize(messageMax)),
	}, more...)
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return client{pb.NewProvingEngineClient(conn), conn}
}

func (c client) prove(t testing.TB, submit *pb.SubmitProofRequest) (*pb.AwaitProofResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), proveTime)
	defer cancel()
	return c.proveIn(ctx, submit)
}

func (c client) proveIn(ctx context.Context, submit *pb.SubmitProofRequest) (*pb.AwaitProofResponse, error) {
	response, err := c.Prove(ctx, &pb.ProveRequest{Submit: submit})
	if err != nil {
		return nil, err
	}
	return response.GetResult(), nil
}

// must demands what Curio demands: COMPLETED with a proof.
func (c client) must(t testing.TB, submit *pb.SubmitProofRequest) *pb.AwaitProofResponse {
	t.Helper()
	result, err := c.prove(t, submit)
	if err != nil {
		t.Fatalf("Prove %s: %v", submit.RequestId, err)
	}
	completed(t, submit, result)
	return result
}

func completed(t testing.TB, submit *pb.SubmitProofRequest, result *pb.AwaitProofResponse) {
	t.Helper()
	if result.GetStatus() != pb.AwaitProofResponse_COMPLETED || len(result.GetProof()) != 192 {
		t.Fatalf("Prove %s: %v, %d bytes, %q", submit.RequestId, result.GetStatus(), len(result.GetProof()),
			result.GetErrorMessage())
	}
	if result.JobId == "" || result.TotalMs == 0 {
		t.Errorf("Prove %s: job id %q, total_ms %d", submit.RequestId, result.JobId, result.TotalMs)
	}
}

func (c client) look(t testing.TB) *pb.GetStatusResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	response, err := c.GetStatus(ctx, &pb.GetStatusRequest{})
	if err != nil {
		t.Fatalf("GetStatus: %v", err)
	}
	return response
}

func (c client) cancel(t testing.TB, id string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	response, err := c.CancelProof(ctx, &pb.CancelProofRequest{JobId: id})
	if err != nil {
		t.Fatalf("CancelProof %s: %v", id, err)
	}
	return response.WasRunning
}

// submitted gives the job of a request that runs without a caller.
func (c client) submitted(t testing.TB, submit *pb.SubmitProofRequest) *pb.SubmitProofResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	response, err := c.SubmitProof(ctx, submit)
	if err != nil {
		t.Fatalf("SubmitProof %s: %v", submit.RequestId, err)
	}
	return response
}

func (c client) awaited(t testing.TB, id string, timeoutMs uint64) *pb.AwaitProofResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), proveTime)
	defer cancel()
	response, err := c.AwaitProof(ctx, &pb.AwaitProofRequest{JobId: id, TimeoutMs: timeoutMs})
	if err != nil {
		t.Fatalf("AwaitProof %s: %v", id, err)
	}
	return response
}

// refused demands a gRPC error of that code whose text holds all parts.
func refused(t testing.TB, err error, code codes.Code, parts ...string) {
	t.Helper()
	if status.Code(err) != code {
		t.Errorf("the answer is %v, not %v", err, code)
		return
	}
	for _, part := range parts {
		if !strings.Contains(status.Convert(err).Message(), part) {
			t.Errorf("%q does not say %q", status.Convert(err).Message(), part)
		}
	}
}

// eventually polls until the condition holds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	patience := 2 * time.Minute
	if os.Getenv("CUZK_TEST_FULL") != "" {
		patience = 15 * time.Minute
	}
	for end := time.Now().Add(patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("this never came: %s", what)
		}
	}
}
