// The public inputs of a PoSt or SnapDeals partition of 2 KiB sectors, from public values alone and with nothing of cuzk: a JSON
// array of decimal numbers.
//
//   node public_inputs.mjs INFO.json winning
//   node public_inputs.mjs INFO.json window PARTITION 1.0.0|1.2.0
//   node public_inputs.mjs INFO.json snap
//
// INFO.json: randomness and sectors (sector, comm_r), or comm_r_old, comm_r_new, comm_d_new; all hexadecimal.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const NODES = 64n, SECTORS_PER_PARTITION = 2, CHALLENGES = 10, WINNING_CHALLENGES = 66;
const field = (hex) => BigInt('0x' + Buffer.from(hex, 'hex').reverse().toString('hex'));
const le64 = (n) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(n)); return b; };
const challenge = (info, sector, index) => createHash('sha256')
  .update(Buffer.from(info.randomness, 'hex')).update(le64(sector)).update(le64(index)).digest().readBigUInt64LE(0) % NODES;

const winning = (info) => {
  const [s] = info.sectors;
  return Array.from({ length: WINNING_CHALLENGES }, (_, j) => [field(s.comm_r), challenge(info, s.sector, j)]).flat();
};
const window = (info, partition, api) => {
  const first = partition * SECTORS_PER_PARTITION;
  const groups = info.sectors.slice(first, first + SECTORS_PER_PARTITION).map((s, i) => [
    field(s.comm_r),
    ...Array.from({ length: CHALLENGES }, (_, n) => challenge(info, s.sector, api === '1.2.0' ? n : CHALLENGES * (first + i) + n)),
  ]);
  while (groups.length < SECTORS_PER_PARTITION) groups.push(groups.at(-1));
  return groups.flat();
};
const snap = (info) => [1n, field(info.comm_r_old), field(info.comm_d_new), field(info.comm_r_new)];

// As the command line has them; partition and api only for window.
export const publicInputs = (info, kind, partition = 0, api = '1.2.0') =>
  kind === 'winning' ? winning(info) : kind === 'window' ? window(info, partition, api) : snap(info);

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [path, kind, partition, api] = process.argv.slice(2);
  console.log(JSON.stringify(publicInputs(JSON.parse(readFileSync(path, 'utf8')), kind, Number(partition), api).map(String)));
}
