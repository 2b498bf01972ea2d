// The basics of cuzk-daemon from @grpc/grpc-js: over TCP and a UNIX socket, proofs, status while they run, bad input, cancel,
// deadline, drain. Starts its own daemon.
//   CUZK_TEST_DAEMON, CUZK_TEST_PARAMS_DIR, CUZK_TEST_DATA: as the other tests of the daemon.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

import { inputsOfC1, isValid, readKey } from "./groth16_check.mjs";
import { publicInputs } from "./public_inputs.mjs";

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

// A kind of job: a request, the key that its proof is checked with, and the public inputs, which are derived here.
const path = (name) => join(setting("CUZK_TEST_DATA"), name);
const info = (name) => JSON.parse(data(name));
const fresh = () => ({ request_id: `mixed-1000-node-${process.pid}-${++count}`, miner_id: 1000 });
const windowJob = (name, api, registered_proof, partition_index) => ({
  name: `window ${name} partition ${partition_index}`,
  key: path("window-2k/window-2k.vk"),
  inputs: () => publicInputs(info(`window-2k/${name}.info.json`), "window", partition_index, api),
  submit: () => ({
    ...window(),
    registered_proof,
    partition_index,
    vanilla_proofs: (partition_index ? [3] : [1, 2]).map((i) => data(`window-2k/${name}-sector-${i}.vproof`)),
  }),
});
const porepKey = () => {
  const folder = setting("CUZK_TEST_PARAMS_DIR");
  const found = readdirSync(folder).filter((name) => /stacked-proof-of-replication.*\.vk$/.test(name));
  assert.equal(found.length, 1);
  return join(folder, found[0]);
};
const kinds = {
  porep: {
    name: "porep",
    get key() { return porepKey(); },
    inputs: () => inputsOfC1(info("porep-2k/c1.json"), 0),
    submit: () => ({
      ...fresh(), proof_kind: "POREP_SEAL_COMMIT", registered_proof: 5, sector_number: 1, priority: "NORMAL",
      vanilla_proof: data("porep-2k/c1-wrapped.json"),
    }),
  },
  snap: {
    name: "snap",
    key: path("snap-2k/snap-2k.vk"),
    inputs: () => publicInputs(info("snap-2k/info.json"), "snap"),
    submit: () => {
      const { comm_r_old, comm_r_new, comm_d_new } = info("snap-2k/info.json");
      const bytes = (hex) => Buffer.from(hex, "hex");
      return {
        ...fresh(), proof_kind: "SNAP_DEALS_UPDATE", registered_proof: 0, vanilla_proofs: [data("snap-2k/partition-0.vproof")],
        comm_r_old: bytes(comm_r_old), comm_r_new: bytes(comm_r_new), comm_d_new: bytes(comm_d_new),
      };
    },
  },
  winning: {
    name: "winning",
    key: path("winning-2k/winning-2k.vk"),
    inputs: () => publicInputs(info("winning-2k/info.json"), "winning"),
    submit: () => ({
      ...fresh(), proof_kind: "WINNING_POST", registered_proof: 0, priority: "CRITICAL",
      randomness: Buffer.from(info("winning-2k/info.json").randomness, "hex"), vanilla_proofs: [data("winning-2k/sector-1.vproof")],
    }),
  },
  v1: [0, 1].map((k) => windowJob("v1", "1.0.0", 5, k)),
  v1_2: [0, 1].map((k) => windowJob("v1_2", "1.2.0", 10, k)),
};

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

test("twenty jobs of every kind at once, status beside them", async () => {
  const { porep, snap, winning, v1, v1_2 } = kinds;
  const partitions = [...v1, ...v1_2];
  const jobs = [porep, snap, ...partitions, winning, winning, ...partitions, winning, winning, ...partitions, snap, porep];
  assert.equal(jobs.length, 20);
  const proofs = Promise.all(jobs.map((job) => call(client, "Prove", { submit: job.submit() })));
  for (let i = 0; i < 10; i++) {
    const status = await call(client, "GetStatus", {}, 5);
    assert.ok(status.queues.some((queue) => queue.proof_kind === "window-post"));
  }
  const results = (await proofs).map(({ result }) => result);
  const keys = new Map(jobs.map(({ key }) => [key, readKey(key)]));
  results.forEach((result, i) => {
    assert.equal(result.status, "COMPLETED", result.error_message);
    assert.ok(isValid(keys.get(jobs[i].key), result.proof, jobs[i].inputs()), `the proof of ${jobs[i].name}, job ${i}`);
  });
  assert.equal(new Set(results.map(({ job_id }) => job_id)).size, 20);
  const [first, second] = v1.map((job) => jobs.indexOf(job)); // one key, other inputs
  assert.ok(!isValid(keys.get(jobs[first].key), results[first].proof, jobs[second].inputs()), "a proof of another partition");
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
