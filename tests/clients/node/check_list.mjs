// Checks a list of proofs with groth16_check.mjs against public inputs that are derived here: for callers that are not
// Node.js programs.
//
//   node check_list.mjs LIST.json      exit code 0 if each is what it should be, 7 if not
//
// LIST.json: an array of {name, key, proof, valid, inputs}: key is a path, proof hexadecimal, valid what is expected, and
// inputs {c1, partition} or {info, kind, partition, api} as the other programs of this folder read them.
import { readFileSync } from 'node:fs';
import { inputsOfC1, isValid, readKey } from './groth16_check.mjs';
import { publicInputs } from './public_inputs.mjs';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const keys = new Map();
const list = read(process.argv[2]);
let wrong = 0;
for (const { name, key, proof, valid, inputs } of list) {
  if (!keys.has(key)) keys.set(key, readKey(key));
  const values = inputs.c1 ? inputsOfC1(read(inputs.c1), inputs.partition)
    : publicInputs(read(inputs.info), inputs.kind, inputs.partition, inputs.api);
  const found = isValid(keys.get(key), Buffer.from(proof, 'hex'), values);
  if (found !== valid) wrong++;
  console.log(`${found === valid ? 'ok' : 'FAILED'}: ${name}: ${found ? 'valid' : 'invalid'}`);
}
console.log(`${list.length} proofs, ${wrong} not as expected`);
process.exit(list.length > 0 && wrong === 0 ? 0 : 7);
