#!/usr/bin/env node
'use strict';
// Runs the command on Node 24 or newer: on the host's own, else on the copy that npm installed beside the project.
const { spawn } = require('node:child_process');
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { homedir } = require('node:os');
const { join } = require('node:path');

const MINIMUM = 24;
const main = join(__dirname, '..', 'lib', 'operator', 'cli', 'main.js');

function bundledNode() {
  try {
    return join(require.resolve(`node-${process.platform}-${process.arch}/package.json`), '..', 'bin', 'node');
  } catch {
    return undefined;
  }
}

function fail(message) {
  process.stderr.write(`cloud-operator: ${message}\n`);
  process.exit(2);
}

// Compiled code is kept on disk, for the worker processes too: the Pulumi SDK loads in half of the time.
process.env.NODE_COMPILE_CACHE ??= join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cloud-operator', 'compile');

if (!existsSync(main)) fail('not compiled yet; run `npm ci && npx projen compile` in the project first');
if (Number(process.versions.node.split('.')[0]) >= MINIMUM) {
  enableCompileCache();
  require(main);
} else {
  const node = bundledNode();
  if (node === undefined || !existsSync(node)) {
    fail(
      `needs Node ${MINIMUM} or newer (this is ${process.version}); install it, or run \`npm install\` on Linux to get a copy beside the project`,
    );
  }
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C reaches the child by itself, as a member of the terminal's process group; twice would mean "at once".
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
