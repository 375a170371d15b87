#!/usr/bin/env node
'use strict';
// What Kubernetes' images have as /go-runner (kube-log-runner): `[-log-file=…] [-also-stdout] [-redirect-stderr=false] program args…`, with the
// program's output appended to a file. GCE's static Pod and kops start a cloud-controller-manager that way.
const { spawn } = require('node:child_process');
const { openSync, writeSync } = require('node:fs');
const { join } = require('node:path');

const PROGRAM = /(^|\/)([a-z]+-)?cloud-controller-manager$/;
const BOOLEANS = { true: true, t: true, 1: true, false: false, f: false, 0: false };

/** Flags as Go's own package reads them: with one dash or two, and up to the first word that is none. */
function parse(words) {
  const flags = { 'log-file': '', 'also-stdout': false, 'redirect-stderr': true };
  const rest = [...words];
  while (/^-./.test(rest[0] ?? '') && rest[0] !== '--') {
    const word = rest.shift();
    const [, name, value] = /^--?([^=]*)(?:=(.*))?$/s.exec(word);
    if (!Object.hasOwn(flags, name)) fail(`flag provided but not defined: -${name}`, 2);
    if (name === 'log-file') flags[name] = value ?? rest.shift() ?? fail(`flag needs an argument: -${name}`, 2);
    else flags[name] = BOOLEANS[(value ?? 'true').toLowerCase()] ?? fail(`invalid boolean value "${value}" for -${name}`, 2);
  }
  if (rest[0] === '--') rest.shift();
  return { flags, command: rest };
}

function fail(message, code) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

function openLog(path) {
  try {
    return openSync(path, 'a', 0o644);
  } catch (error) {
    return fail(`failed to create log file ${path}: ${error.message}`, 1);
  }
}

/** A file is given to the program itself; only what has to be in two places passes through here. */
function start({ flags, command: [program, ...args] }) {
  const log = flags['log-file'] === '' ? undefined : openLog(flags['log-file']);
  const twice = log !== undefined && flags['also-stdout'];
  const out = twice ? 'pipe' : (log ?? 'inherit');
  // Without a file, standard error goes where standard output does.
  const err = flags['redirect-stderr'] ? (log === undefined ? 1 : out) : 'inherit';
  const [executable, before] = PROGRAM.test(program) ? [process.execPath, [join(__dirname, 'cloud-controller-manager.js')]] : [program, []];
  const child = spawn(executable, [...before, ...args], { stdio: ['inherit', out, err] });
  const copy = (chunk) => {
    process.stdout.write(chunk);
    writeSync(log, chunk);
  };
  child.stdout?.on('data', copy);
  child.stderr?.on('data', copy);
  return child;
}

const parsed = parse(process.argv.slice(2));
if (parsed.command.length === 0) fail('not enough arguments to run', 1);
// Before the program is there, or a signal at its very beginning would end this process alone.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGQUIT']) process.on(signal, () => child.kill(signal));
const child = start(parsed);
child.on('error', (error) => fail(`starting command: ${error.message}`, 1));
child.on('close', (code, signal) => {
  if (signal !== null) process.stderr.write(`running command: signal: ${signal}\n`);
  process.exitCode = code ?? 1;
});
