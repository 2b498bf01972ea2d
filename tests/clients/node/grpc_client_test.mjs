// The basics of cuzk-daemon from @grpc/grpc-js: over TCP and a UNIX socket, proofs, status while they run, bad input, cancel,
// deadline, drain. Starts its own daemon.
//   CUZK_TEST_DAEMON, CUZK_TEST_PARAMS_DIR, CUZK_TEST_DATA: as the other tests of the daemon.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const setting = (name) => process.env[name] ?? assert.fail(`${name} is not set`);
const data = (name) => readFileSync(join(setting("CUZK_TEST_DATA"), name));
const here = dirname(fileURLToPath(import.meta.url));
const proto = grpc.loadPackageDefinition(
  loader.loadSync(join(here, "../../../proto/cuzk.proto"), { keepCase: true, longs: Number, enums: String, defaults: true }),
).cuzk.v1;
const max = 256 << 20;
const options = { "grpc.max_send_message_length": max, "grpc.max_receive_message_length": max };

function startDaemon(listen) {
  const dir = mkdtempSync(join(tmpdir(), "cuzk-node-"));
  listen ??= `unix://${dir}/s`;
  writeFileSync(join(dir, "cuzk.toml"), `
[daemon]
listen = "${listen}"
state_dir = "${dir}/state"
[srs]
param_cache = "${setting("CUZK_TEST_PARAMS_DIR")}"
allow_test_params = true
preload = ["wpost-2k"]
[memory]
safety_margin = "64MiB"
[logging]
file = "${dir}/log"
`);
  const child = spawn(setting("CUZK_TEST_DAEMON"), ["-c", join(dir, "cuzk.toml")], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => child.once("exit", (code, signal) => done({ code, signal })));
  const ready = new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (more) => {
      text += more;
      const found = /cuzk-daemon ready, serving on (\S+)\n/.exec(text);
      if (found) done(found[1]);
    });
    ended.then(() => fail(new Error(`the daemon ended before it was ready:\n${text}`)));
  });
  return { child, dir, ready, ended };
}

const call = (client, method, request, seconds = 1800) =>
  new Promise((done, fail) =>
    client[method](request, { deadline: Date.now() + 1000 * seconds }, (error, answer) => (error ? fail(error) : done(answer))));

let count = 0;
const window = () => ({
  request_id: `wdpost-1000-node-${process.pid}-${++count}`,
  proof_kind: "WINDOW_POST_PARTITION",
  registered_proof: 5,
  priority: "HIGH",
  miner_id: 1000,
  randomness: Buffer.from(JSON.parse(data("window-2k/v1.info.json")).randomness, "hex"),
  vanilla_proofs: [data("window-2k/v1-sector-1.vproof"), data("window-2k/v1-sector-2.vproof")],
});

let tcp, client;
before(async () => {
  tcp = startDaemon("127.0.0.1:0");
  client = new proto.ProvingEngine(`dns:///${await tcp.ready}`, grpc.credentials.createInsecure(), options);
});
after(async () => {
  client?.close();
  if (tcp.child.exitCode === null) tcp.child.kill("SIGTERM");
  const end = await tcp.ended;
  rmSync(tcp.dir, { recursive: true, force: true });
  assert.deepEqual(end, { code: 0, signal: null });
});

test("ten proofs at once, status beside them", async () => {
  const proofs = Promise.all(Array.from({ length: 10 }, () => call(client, "Prove", { submit: window() })));
  for (let i = 0; i < 10; i++) {
    const status = await call(client, "GetStatus", {}, 5);
    assert.ok(status.queues.some((queue) => queue.proof_kind === "window-post"));
  }
  for (const { result } of await proofs) {
    assert.equal(result.status, "COMPLETED", result.error_message);
    assert.equal(result.proof.length, 192);
  }
});

test("a large message", async () => {
  const submit = { ...window(), vanilla_proofs: [Buffer.alloc(40 << 20)] };
  await assert.rejects(call(client, "Prove", { submit }), { code: grpc.status.INVALID_ARGUMENT });
});

test("bad input is said", async () => {
  const submit = { ...window(), randomness: Buffer.alloc(31) };
  await assert.rejects(call(client, "Prove", { submit }), (error) => {
    assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
    assert.match(error.details, /randomness/);
    return true;
  });
});

test("submit, await, cancel, unknown", async () => {
  const { job_id } = await call(client, "SubmitProof", window());
  const result = await call(client, "AwaitProof", { job_id });
  assert.equal(result.status, "COMPLETED");
  assert.equal((await call(client, "CancelProof", { job_id })).was_running, false);
  await assert.rejects(call(client, "AwaitProof", { job_id: "tea" }), { code: grpc.status.NOT_FOUND });
});

test("a deadline that is too short", async () => {
  const blockers = Array.from({ length: 6 }, () => call(client, "Prove", { submit: window() }));
  await assert.rejects(call(client, "Prove", { submit: window() }, 0.02), { code: grpc.status.DEADLINE_EXCEEDED });
  await Promise.all(blockers);
});

test("UNIX socket, and a drain", async () => {
  const local = startDaemon();
  const address = await local.ready;
  const c = new proto.ProvingEngine(`unix:${address.slice("unix://".length)}`, grpc.credentials.createInsecure(), options);
  assert.equal((await call(c, "Prove", { submit: window() })).result.status, "COMPLETED");
  const running = Promise.all(Array.from({ length: 4 }, () => call(c, "Prove", { submit: window() })));
  for (;;) { // all four are there
    const { queues } = await call(c, "GetStatus", {}, 5);
    const queue = queues.find((one) => one.proof_kind === "window-post");
    if (queue.pending + queue.in_progress >= 1) break;
  }
  local.child.kill("SIGTERM");
  const ends = await Promise.allSettled([running]);
  for (const end of ends)
    if (end.status === "rejected") assert.equal(end.reason.code, grpc.status.UNAVAILABLE);
  assert.deepEqual(await local.ended, { code: 0, signal: null });
  assert.equal(existsSync(join(local.dir, "s")), false);
  c.close();
  rmSync(local.dir, { recursive: true, force: true });
});
