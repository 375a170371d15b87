// Loaded into the operator before anything else: on SIGUSR2 its wall clock is off by the milliseconds in the file named by FAULTS_CLOCK.
import { readFileSync } from 'node:fs';
import process from 'node:process';

const RealDate = Date;
const realNow = Date.now;
let offset = 0;

function read() {
  try {
    offset = Number(readFileSync(process.env.FAULTS_CLOCK, 'utf8')) || 0;
  } catch {
    offset = 0; // nobody has set it yet
  }
}

RealDate.now = () => realNow() + offset;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [RealDate.now()] : given, newTarget),
  apply: () => new RealDate(RealDate.now()).toString(),
});
read();
process.on('SIGUSR2', read);
