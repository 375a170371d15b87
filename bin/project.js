#!/usr/bin/env node
'use strict';
// Runs a task of the project (`npm run demo`, `npm test`, …) on a fresh clone too: installs the dependencies first when they are missing or outdated.
const { spawnSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { homedir } = require('node:os');
const { delimiter, join } = require('node:path');

const root = join(__dirname, '..');
const [task, ...args] = process.argv.slice(2);
const bin = join(root, 'node_modules', '.bin');
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const env = {
  NODE_COMPILE_CACHE: join(cache, 'cloud-operator', 'compile'),
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
};

/** True when what npm has installed, by its own record, is what package-lock.json asks for. */
function installed() {
  const packagesOf = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8')).packages;
  try {
    const there = packagesOf('node_modules', '.package-lock.json');
    const wanted = Object.entries(packagesOf('package-lock.json')).filter(([path, { optional }]) => path !== '' && optional !== true);
    return wanted.every(([path, { version }]) => there[path]?.version === version);
  } catch {
    return false;
  }
}

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
if (!installed()) {
  process.stdout.write('Installing the dependencies (npm ci): about a minute, once.\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}
run('projen', [task, ...args]);
