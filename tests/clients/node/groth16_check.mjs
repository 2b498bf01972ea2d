// Checks proofs of one partition with @noble/curves, which shares nothing with cuzk: key and proof are decoded here, the
// public inputs are read off a C1 output here or come as a JSON array of decimal numbers (public_inputs.mjs), and the pairing
// is noble's.
//
//   node groth16_check.mjs KEY PROOF C1.json|INPUTS.json PARTITION [each]      exit code 0 valid, 7 invalid
//
// each: and no longer valid when any one of the inputs is another number.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { bls12_381 as bls } from '@noble/curves/bls12-381.js';

const be = (bytes) => BigInt('0x' + Buffer.from(bytes).toString('hex'));
const le = (bytes) => be(Uint8Array.from(bytes).reverse());
const { G1, G2, fields, pairing, pairingBatch } = bls;

const g1 = (b) => { const p = G1.ProjectivePoint.fromAffine({ x: be(b.subarray(0, 48)), y: be(b.subarray(48, 96)) }); p.assertValidity(); return p; };
const g2 = (b) => {
  const f = (o) => ({ c1: be(b.subarray(o, o + 48)), c0: be(b.subarray(o + 48, o + 96)) });
  const p = G2.ProjectivePoint.fromAffine({ x: fields.Fp2.create(f(0)), y: fields.Fp2.create(f(96)) });
  p.assertValidity();
  return p;
};

export const readKey = (path) => {
  const vk = readFileSync(path);
  const ic = Array.from({ length: vk.readUInt32BE(864) }, (_, i) => g1(vk.subarray(868 + 96 * i)));
  return { alpha: g1(vk.subarray(0)), beta2: g2(vk.subarray(192)), gamma2: g2(vk.subarray(384)), delta2: g2(vk.subarray(672)), ic };
};

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
export const inputsOfC1 = (c1, partition) => {
  const inputs = [c1.replica_id, c1.comm_d, c1.comm_r].map(le);
  for (const p of Object.values(c1.vanilla_proofs)[0][partition]) {
    const columns = [...p.replica_column_proofs.drg_parents, ...p.replica_column_proofs.exp_parents];
    inputs.push(leaf(p.comm_d_proofs), ...columns.map((c) => leaf(c.inclusion_proof)), BigInt(p.labeling_proofs[0].node),
      leaf(p.comm_r_last_proof), leaf(p.replica_column_proofs.c_x.inclusion_proof));
  }
  return inputs;
};

const readProof = (bytes) => {
  if (bytes.length !== 192) throw new Error(`a proof has 192 bytes, not ${bytes.length}`);
  const proof = { a: G1.ProjectivePoint.fromHex(bytes.subarray(0, 48)), b: G2.ProjectivePoint.fromHex(bytes.subarray(48, 144)),
    c: G1.ProjectivePoint.fromHex(bytes.subarray(144, 192)) };
  for (const p of Object.values(proof)) p.assertValidity();
  return proof;
};
const combine = (key, inputs) => {
  if (inputs.length + 1 !== key.ic.length) throw new Error(`the key wants ${key.ic.length - 1} inputs, not ${inputs.length}`);
  return inputs.reduce((p, x, i) => (x === 0n ? p : p.add(key.ic[i + 1].multiply(x))), key.ic[0]);
};

// Whether the 192 bytes are a proof under the key for these inputs.
export const isValid = (key, bytes, inputs) => {
  const p = combine(key, inputs);
  let proof;
  try { proof = readProof(bytes); } catch (error) { console.log(`not a proof: ${error.message}`); return false; }
  const product = pairingBatch([{ g1: proof.a.negate(), g2: proof.b }, { g1: key.alpha, g2: key.beta2 },
    { g1: p, g2: key.gamma2 }, { g1: proof.c, g2: key.delta2 }]);
  return fields.Fp12.eql(product, fields.Fp12.ONE);
};

// Places of inputs that could be greater by one without the equation of a valid proof failing: there should be none.
export const unnoticed = (key, bytes, inputs) => {
  const { Fp12 } = fields, proof = readProof(bytes), p = combine(key, inputs);
  const others = [[proof.a.negate(), proof.b], [key.alpha, key.beta2], [proof.c, key.delta2]]
    .map(([one, two]) => pairing(one, two, false)).reduce((x, y) => Fp12.mul(x, y));
  const holds = (sum) => Fp12.eql(Fp12.finalExponentiate(Fp12.mul(others, pairing(sum, key.gamma2, false))), Fp12.ONE);
  if (!holds(p)) throw new Error('the proof is not valid to begin with');
  return inputs.map((_, i) => i).filter((i) => holds(p.add(key.ic[i + 1])));
};

const main = ([keyPath, proofPath, inputsPath, partitionText, each]) => {
  const key = readKey(keyPath), partition = Number(partitionText);
  const given = JSON.parse(readFileSync(inputsPath, 'utf8'));
  const inputs = Array.isArray(given) ? given.map(BigInt) : inputsOfC1(given, partition);
  const proof = readFileSync(proofPath).subarray(192 * partition, 192 * partition + 192);
  let valid = isValid(key, proof, inputs);
  if (valid && each === 'each') {
    const places = unnoticed(key, proof, inputs);
    console.log(`${inputs.length} inputs changed, unnoticed: ${places.join(' ') || 'none'}`);
    valid = places.length === 0;
  }
  console.log(valid ? 'valid' : 'invalid');
  process.exit(valid ? 0 : 7);
};
if (import.meta.url === pathToFileURL(process.argv[1]).href) main(process.argv.slice(2));
