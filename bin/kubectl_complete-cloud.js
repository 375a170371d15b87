#!/usr/bin/env node
'use strict';
// kubectl asks this for what can follow `kubectl cloud …`, as it asks plugins made with cobra: one candidate on each line, last a directive.
process.argv.splice(2, 0, '__complete', '--kubectl', '--');
require('./cloud-operator.js');
