#!/usr/bin/env node
'use strict';
// Runs a task of the project (`npm run demo`, `npm test`, …) on a fresh clone too: installs the dependencies first when they are missing or outdated.
const { spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { delimiter, join } = require('node:path');

const root = join(__dirname, '..');
const [task, ...args] = process.argv.slice(2);
const lock = createHash('sha256').update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
const stamp = join(root, 'node_modules', '.installed-from');
const bin = join(root, 'node_modules', '.bin');
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` };

function run(command, commandArgs) {
  const { status, signal, error } = spawnSync(command, commandArgs, { cwd: root, stdio: 'inherit', env });
  if (error !== undefined) {
    process.stderr.write(`${command}: ${error.message}\n`);
    process.exit(1);
  }
  if (signal !== null) process.exit(130);
  if (status !== 0) process.exit(status);
}

// Ctrl-C goes to the whole process group: the task ends in order, and this waits for it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
if (!existsSync(join(bin, 'projen')) || !existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  process.stdout.write('Installing the dependencies (npm ci): about a minute, once.\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, lock);
}
run('projen', [task, ...args]);
