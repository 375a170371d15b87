#!/usr/bin/env node
'use strict';
// `kubectl cloud …`: kubectl runs this as a plugin, where it finds it in the PATH. It is the same program, called by that name in its help and messages.
process.env.CLOUD_OPERATOR_CALLED = 'kubectl cloud';
require('./cloud-operator.js');
