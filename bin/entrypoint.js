#!/usr/bin/env node
'use strict';
// The image's entry point: `cloud-operator`, but manifests of a cloud-controller-manager give an image its flags only, or a path of its program first,
// or what /go-runner takes where the image that they were written for has that as its entry point.
const [first = ''] = process.argv.slice(2);
const program = /(^|\/)([a-z]+-)?cloud-controller-manager$/.test(first);
if (/^--?(log-file|also-stdout|redirect-stderr)(=|$)/.test(first)) {
  require('./log-runner.js');
} else {
  if (program) process.argv.splice(2, 1);
  if (program || first.startsWith('-')) process.argv.splice(2, 0, 'controller-manager');
  require('./cloud-operator.js');
}
