// Checks a proof of one partition with @noble/curves, which shares nothing with cuzk: key and proof are decoded here, the
// public inputs are read off a C1 output here or come as a JSON array of decimal numbers (public_inputs.mjs), and the pairing
// is noble's.
//
//   node groth16_check.mjs KEY PROOF C1.json|INPUTS.json PARTITION      exit code 0 valid, 7 invalid
import { readFileSync } from 'node:fs';
import { bls12_381 as bls } from '@noble/curves/bls12-381.js';

const [keyPath, proofPath, inputsPath, partitionText] = process.argv.slice(2);
const partition = Number(partitionText);
const be = (bytes) => BigInt('0x' + Buffer.from(bytes).toString('hex'));
const le = (bytes) => be(Uint8Array.from(bytes).reverse());
const { G1, G2, fields, pairingBatch } = bls;

const g1 = (b) => { const p = G1.ProjectivePoint.fromAffine({ x: be(b.subarray(0, 48)), y: be(b.subarray(48, 96)) }); p.assertValidity(); return p; };
const g2 = (b) => {
  const f = (o) => ({ c1: be(b.subarray(o, o + 48)), c0: be(b.subarray(o + 48, o + 96)) });
  const p = G2.ProjectivePoint.fromAffine({ x: fields.Fp2.create(f(0)), y: fields.Fp2.create(f(96)) });
  p.assertValidity();
  return p;
};

const vk = readFileSync(keyPath);
const key = { alpha: g1(vk.subarray(0)), beta2: g2(vk.subarray(192)), gamma2: g2(vk.subarray(384)), delta2: g2(vk.subarray(672)) };
const count = vk.readUInt32BE(864);
const ic = Array.from({ length: count }, (_, i) => g1(vk.subarray(868 + 96 * i)));

// The vector of a PoRep partition: replica_id, comm_d, comm_r; then per challenge the node, its 14 parents, and the node three
// times.
const merkle = (m) => Object.values(m.data)[0];
const elements = (m) => {
  const body = merkle(m);
  return ['path', 'base_proof', 'sub_proof', 'top_proof'].filter((k) => body[k]).flatMap((k) => body[k].path);
};
const leaf = (m) => {
  let at = 0n, weight = 1n;
  for (const e of elements(m)) { at += BigInt(e.index) * weight; weight *= BigInt(e.hashes.length + 1); }
  return at;
};
const inputsOfC1 = (c1) => {
  const inputs = [c1.replica_id, c1.comm_d, c1.comm_r].map(le);
  for (const p of Object.values(c1.vanilla_proofs)[0][partition]) {
    const columns = [...p.replica_column_proofs.drg_parents, ...p.replica_column_proofs.exp_parents];
    inputs.push(leaf(p.comm_d_proofs), ...columns.map((c) => leaf(c.inclusion_proof)), BigInt(p.labeling_proofs[0].node),
      leaf(p.comm_r_last_proof), leaf(p.replica_column_proofs.c_x.inclusion_proof));
  }
  return inputs;
};
const given = JSON.parse(readFileSync(inputsPath, 'utf8'));
const inputs = Array.isArray(given) ? given.map(BigInt) : inputsOfC1(given);
if (inputs.length + 1 !== count) throw new Error(`key wants ${count - 1} inputs, "${inputsPath}" gives ${inputs.length}`);

let valid = false;
try {
  const bytes = readFileSync(proofPath).subarray(192 * partition, 192 * partition + 192);
  const a = G1.ProjectivePoint.fromHex(bytes.subarray(0, 48));
  const b = G2.ProjectivePoint.fromHex(bytes.subarray(48, 144));
  const c = G1.ProjectivePoint.fromHex(bytes.subarray(144, 192));
  for (const p of [a, b, c]) p.assertValidity();
  let p = ic[0];
  inputs.forEach((x, i) => { if (x !== 0n) p = p.add(ic[i + 1].multiply(x)); });
  const product = pairingBatch([
    { g1: a.negate(), g2: b }, { g1: key.alpha, g2: key.beta2 }, { g1: p, g2: key.gamma2 }, { g1: c, g2: key.delta2 }]);
  valid = fields.Fp12.eql(product, fields.Fp12.ONE);
} catch (error) {
  console.log(`not a proof: ${error.message}`);
}
console.log(valid ? 'valid' : 'invalid');
process.exit(valid ? 0 : 7);
