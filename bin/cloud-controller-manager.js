#!/usr/bin/env node
'use strict';
// `cloud-operator controller-manager` under the name that manifests of a cloud-controller-manager use.
process.argv.splice(2, 0, 'controller-manager');
require('./cloud-operator.js');
