import { OperatorError } from '../operator/base/errors';

/** The programs that the project runs besides Node: which version is built or downloaded, which others are good enough, and where each comes from. */
export type ToolName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kubectl'
  | 'pulumi'
  | 'moto'
  | 'aws-cloud-controller-manager'
  | 'kubelet'
  | 'kube-proxy'
  | 'kube-scheduler'
  | 'agnhost'
  | 'kubernetes-e2e';

export interface Tool {
  name: ToolName;
  /** The version that is downloaded or built, as in `tools/<module>/go.mod`; with a leading `v`. */
  version: string;
  /** Names a binary explicitly; a bad one is an error, never passed over. */
  variable: string;
  /** Its file on PATH, where that has another name. */
  executable?: string;
  /** Only some tests need it: made only when it is asked for by name. */
  onRequest?: true;
  /** Arguments that make it print its version; a Python program has none, and is asked for the version of its package. */
  versionArguments: string[];
  /** Versions found elsewhere that will do: from `minimum` on, same major. Absent = any that runs. */
  minimum?: string;
  /** What it is for, in words for a person who waits for it. */
  purpose: string;
  build: GoBuild | PythonInstall;
  /** Where the official release is, for a Go platform such as `linux/amd64`; undefined where there is none. */
  release(os: string, arch: string): Release | undefined;
}

export interface GoBuild {
  kind: 'Go';
  /** Folder under tools/ with the pinned go.mod. */
  module: string;
  package: string;
  linkerFlags: string;
  /** Minutes on two cores with an empty Go cache (measured). */
  minutes: number;
}

/** From PyPI, or what pip is told to take in its place. */
export interface PythonInstall {
  kind: 'Python';
  /** Folder under tools/ with the pinned requirements.txt. */
  folder: string;
  package: string;
  /** Its program. */
  script: string;
  /** Minutes without pip's cache (measured). */
  minutes: number;
}

export interface Release {
  /** `dl.k8s.io`, `github.com`: the key under which a test puts another server. */
  host: string;
  /** Path of the file on that host. */
  path: string;
  /** Path of the file with its SHA-256: only the sum, or lines of `<sum>  <file name>`. */
  checksumPath: string;
  /** For a .tar.gz: the binary inside. */
  member?: string;
}

const KUBERNETES_VERSION = 'v1.35.4';
const ETCD_VERSION = 'v3.6.6';
const PULUMI_VERSION = 'v3.274.1';
const AWS_CCM_VERSION = 'v1.35.0';
/** What the tests of KUBERNETES_VERSION ask for. */
const AGNHOST_VERSION = 'v2.59';

const KUBERNETES_LINKER_FLAGS = [
  '-s -w',
  `-X k8s.io/component-base/version.gitVersion=${KUBERNETES_VERSION}`,
  '-X k8s.io/component-base/version.gitMajor=1',
  `-X k8s.io/component-base/version.gitMinor=${KUBERNETES_VERSION.split('.')[1] ?? ''}`,
  `-X k8s.io/client-go/pkg/version.gitVersion=${KUBERNETES_VERSION}`,
].join(' ');

interface KubernetesTool {
  name: ToolName;
  variable: string;
  purpose: string;
  minutes: number;
  minimum?: string;
  versionArguments?: string[];
  onRequest?: true;
}

/** @param module folder under tools/ whose go.mod it is built by */
function kubernetesTool(tool: KubernetesTool, module = 'kubernetes'): Tool {
  return {
    versionArguments: ['--version'],
    ...tool,
    version: KUBERNETES_VERSION,
    build: {
      kind: 'Go',
      module,
      package: `k8s.io/kubernetes/cmd/${tool.name}`,
      linkerFlags: KUBERNETES_LINKER_FLAGS,
      minutes: tool.minutes,
    },
    release: (os, arch) => {
      if (os !== 'linux' && tool.name !== 'kubectl') return undefined;
      const path = `/release/${KUBERNETES_VERSION}/bin/${os}/${arch}/${tool.name}`;
      return { host: 'dl.k8s.io', path, checksumPath: `${path}.sha256` };
    },
  };
}

const ETCD: Tool = {
  name: 'etcd',
  version: ETCD_VERSION,
  variable: 'CLOUD_OPERATOR_ETCD',
  versionArguments: ['--version'],
  minimum: 'v3.6.0',
  purpose: "stores the development cluster's objects",
  build: { kind: 'Go', module: 'etcd', package: '.', linkerFlags: '-s -w', minutes: 1 },
  release: (os, arch) => {
    if (os !== 'linux') return undefined;
    const folder = `/etcd-io/etcd/releases/download/${ETCD_VERSION}`;
    const stem = `etcd-${ETCD_VERSION}-${os}-${arch}`;
    return { host: 'github.com', path: `${folder}/${stem}.tar.gz`, checksumPath: `${folder}/SHA256SUMS`, member: `${stem}/etcd` };
  },
};

const PULUMI: Tool = {
  name: 'pulumi',
  version: PULUMI_VERSION,
  variable: 'CLOUD_OPERATOR_PULUMI',
  versionArguments: ['version'],
  // The state endpoint speaks what this release line asks for; the SDK itself would accept any 3.x.
  minimum: 'v3.274.0',
  purpose: 'runs the stack updates',
  build: {
    kind: 'Go',
    module: 'pulumi',
    package: 'github.com/pulumi/pulumi/pkg/v3/cmd/pulumi',
    linkerFlags: `-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${PULUMI_VERSION}`,
    minutes: 5,
  },
  release: (os, arch) => {
    if (os === 'windows') return undefined;
    const folder = '/releases/sdk';
    return {
      host: 'get.pulumi.com',
      path: `${folder}/pulumi-${PULUMI_VERSION}-${os}-${arch === 'amd64' ? 'x64' : arch}.tar.gz`,
      checksumPath: `${folder}/pulumi-${PULUMI_VERSION.slice(1)}-checksums.txt`,
      member: 'pulumi/pulumi',
    };
  },
};

const MOTO: Tool = {
  name: 'moto',
  version: 'v5.2.5',
  variable: 'CLOUD_OPERATOR_MOTO',
  executable: 'moto_server',
  onRequest: true,
  versionArguments: [],
  minimum: 'v5.2.0',
  purpose: 'a simulated AWS API, for tests',
  build: { kind: 'Python', folder: 'moto', package: 'moto', script: 'moto_server', minutes: 1 },
  release: () => undefined,
};

const AWS_CCM: Tool = {
  name: 'aws-cloud-controller-manager',
  version: AWS_CCM_VERSION,
  variable: 'CLOUD_OPERATOR_AWS_CLOUD_CONTROLLER_MANAGER',
  onRequest: true,
  versionArguments: ['--version'],
  minimum: AWS_CCM_VERSION,
  purpose: 'what people run on AWS today, to measure against',
  build: {
    kind: 'Go',
    module: 'cloud-provider-aws',
    package: 'k8s.io/cloud-provider-aws/cmd/aws-cloud-controller-manager',
    linkerFlags: `-s -w -X k8s.io/component-base/version.gitVersion=${AWS_CCM_VERSION}`,
    minutes: 5,
  },
  // Images alone are released.
  release: () => undefined,
};

const E2E_MODULE = 'kubernetes-e2e';

/** For upstream's tests on real kubelets. */
const E2E_TOOLS: readonly Tool[] = [
  ...(
    [
      { name: 'kubelet', variable: 'CLOUD_OPERATOR_KUBELET', purpose: "runs the Pods of upstream's tests", minutes: 5 },
      { name: 'kube-proxy', variable: 'CLOUD_OPERATOR_KUBE_PROXY', purpose: "Services on the nodes of upstream's tests", minutes: 1 },
      { name: 'kube-scheduler', variable: 'CLOUD_OPERATOR_KUBE_SCHEDULER', purpose: "places the Pods of upstream's tests", minutes: 1 },
    ] as const
  ).map((tool) => kubernetesTool({ ...tool, minimum: 'v1.35.0', onRequest: true }, E2E_MODULE)),
  {
    name: 'agnhost',
    version: AGNHOST_VERSION,
    variable: 'CLOUD_OPERATOR_AGNHOST',
    onRequest: true,
    versionArguments: ['--version'],
    minimum: AGNHOST_VERSION,
    purpose: "what runs in the Pods of upstream's tests",
    build: {
      kind: 'Go',
      module: E2E_MODULE,
      package: 'k8s.io/kubernetes/test/images/agnhost',
      linkerFlags: `-s -w -X main.Version=${AGNHOST_VERSION.slice(1)}`,
      minutes: 1,
    },
    release: () => undefined, // images alone
  },
  {
    ...kubernetesTool({
      name: 'kubernetes-e2e',
      variable: 'CLOUD_OPERATOR_KUBERNETES_E2E',
      purpose: "upstream's own tests of load balancers",
      minutes: 3,
      minimum: 'v1.35.0',
      onRequest: true,
    }),
    build: { kind: 'Go', module: E2E_MODULE, package: '.', linkerFlags: KUBERNETES_LINKER_FLAGS, minutes: 3 },
    release: () => undefined, // ours has the network group alone
  },
];

/** In the order in which they are made. */
export const TOOLS: readonly Tool[] = [
  ETCD,
  kubernetesTool({
    name: 'kube-apiserver',
    variable: 'CLOUD_OPERATOR_KUBE_APISERVER',
    purpose: "the development cluster's API server",
    minutes: 6,
    minimum: 'v1.35.0',
  }),
  kubernetesTool({
    name: 'kube-controller-manager',
    variable: 'CLOUD_OPERATOR_KUBE_CONTROLLER_MANAGER',
    purpose: 'namespace deletion and garbage collection in the development cluster',
    minutes: 2,
    minimum: 'v1.35.0',
  }),
  kubernetesTool({
    name: 'kubectl',
    variable: 'CLOUD_OPERATOR_KUBECTL',
    purpose: 'the commands of the demo and of people',
    minutes: 1,
    versionArguments: ['version', '--client'],
  }),
  PULUMI,
  MOTO,
  AWS_CCM,
  ...E2E_TOOLS,
];

/** Those that are made when none is named. */
export const USUAL_TOOL_NAMES: readonly ToolName[] = TOOLS.filter(({ onRequest }) => onRequest === undefined).map(({ name }) => name);

/** @throws OperatorError Invalid for a name that is not in the catalogue */
export function toolNamed(name: string): Tool {
  const tool = TOOLS.find((candidate) => candidate.name === name);
  if (tool === undefined)
    throw new OperatorError('Invalid', `there is no tool named "${name}"`, { remedy: `use ${TOOLS.map((tool) => tool.name).join(', ')}` });
  return tool;
}
