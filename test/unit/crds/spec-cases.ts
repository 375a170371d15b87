import {
  CloudInstanceKind,
  CloudLoadBalancerKind,
  CloudProviderKind,
  CloudRouteKind,
  CloudStackKind,
  type KindDefinition,
} from '../../../crds';

/** A spec that both the API server and `validateSpec` must refuse, with the field and the words of their answer. */
export interface BadSpec {
  title: string;
  kind: KindDefinition;
  spec: Record<string, unknown>;
  field: string;
  /** Part of the message; absent where the two have words of their own (limits and patterns of the schema). */
  message?: string;
}

const listener = { name: 'http', port: 80, nodePort: 30080 };
const balancer = { provider: 'local', listeners: [listener], local: {} };
const provider = { local: { endpoint: 'http://127.0.0.1:8080' } };
const awsBalancer = { provider: 'aws', listeners: [listener] };
const aws = (block: object, core: object = {}): Record<string, unknown> => ({ ...awsBalancer, ...core, aws: block });
const certificate = 'arn:aws:acm:eu-west-1:111122223333:certificate/1';
const route = { provider: 'local', destinationCIDR: '10.244.1.0/24', nodeName: 'node-1' };
const stack = { provider: 'local', kind: 'LoadBalancer', project: 'cloud-operator' };
const instance = { provider: 'local', nodeName: 'node-1' };

/** The smallest spec of every kind, which both must accept. */
export const SMALLEST: { kind: KindDefinition; spec: Record<string, unknown> }[] = [
  { kind: CloudLoadBalancerKind, spec: balancer },
  { kind: CloudProviderKind, spec: provider },
  { kind: CloudRouteKind, spec: route },
  { kind: CloudStackKind, spec: stack },
  { kind: CloudInstanceKind, spec: instance },
];

/** The smallest specs of the other clouds. */
export const SMALLEST_OF_CLOUDS: { kind: KindDefinition; spec: Record<string, unknown> }[] = [
  { kind: CloudLoadBalancerKind, spec: aws({}) },
  { kind: CloudProviderKind, spec: { aws: {} } },
];

/** Specs with everything in them. */
export const FULL: { kind: KindDefinition; spec: Record<string, unknown> }[] = [
  {
    kind: CloudLoadBalancerKind,
    spec: {
      provider: 'local',
      placement: { name: 'shared', namespace: 'edge' },
      listeners: [
        { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 },
        { name: 'dns-tcp', protocol: 'TCP', port: 53, nodePort: 30054, appProtocol: 'dns' },
      ],
      healthCheck: {
        protocol: 'HTTP',
        port: 10256,
        path: '/healthz',
        intervalSeconds: 5,
        timeoutSeconds: 2,
        healthyThreshold: 2,
        unhealthyThreshold: 3,
      },
      sourceRanges: ['10.0.0.0/8', '2001:db8::/32'],
      scheme: 'Internal',
      ipFamilies: ['IPv6', 'IPv4'],
      addresses: ['203.0.113.10', '2001:db8::10'],
      trafficPolicy: 'Local',
      sessionAffinity: { type: 'ClientIP', timeoutSeconds: 60 },
      updatePolicy: { approval: 'Manual', replace: 'Allow' },
      local: { engine: 'Node', healthCheckIntervalMs: 100, drainSeconds: 0, idleTimeoutSeconds: 60 },
    },
  },
  {
    kind: CloudProviderKind,
    spec: {
      default: true,
      region: 'here',
      loadBalancerClasses: ['example.com/internal'],
      nodeSelector: { 'example.com/pool': 'a' },
      driftInterval: '0s',
      sweepInterval: '0s',
      driftPolicy: 'Report',
      retireAfter: '8759h60m',
      routePeriod: '1m30s',
      freeze: true,
      policy: { namespaces: ['demo'], schemes: ['Public'], sharing: 'Namespaces', sharingNamespaces: ['edge'] },
      custom: { kind: 'example', parameters: { account: '1' } },
    },
  },
  {
    kind: CloudLoadBalancerKind,
    spec: {
      provider: 'aws',
      listeners: [{ protocol: 'TCP', ...listener }],
      scheme: 'Public',
      ipFamilies: ['IPv4', 'IPv6'],
      trafficPolicy: 'Cluster',
      aws: {
        type: 'Network',
        name: 'web-1',
        subnets: ['subnet-0a', 'public-b'],
        eipAllocationIDs: ['eipalloc-0a', 'eipalloc-0b'],
        ipv6Addresses: ['2001:db8::1', '2001:db8:1::1'],
        ipAddressType: 'DualStack',
        ipv6SourceNAT: { enabled: true, prefixes: ['auto_assigned'] },
        crossZone: true,
        deletionProtection: true,
        dnsClientRoutingPolicy: 'AvailabilityZoneAffinity',
        zonalShift: true,
        secondaryIPsPerSubnet: 1,
        minimumCapacityUnits: 3000,
        accessLogs: { enabled: true, bucket: 'logs', prefix: 'web' },
        tls: {
          certificateARNs: [certificate],
          ports: ['http', '443'],
          policy: 'ELBSecurityPolicy-TLS13-1-2-2021-06',
          alpnPolicy: 'HTTP2Preferred',
        },
        backendProtocol: 'SSL',
        tcpUDPListeners: true,
        listeners: [{ port: 80, tcpIdleTimeoutSeconds: 400, proxyProtocolV2: true }],
        targetGroup: {
          preserveClientIP: false,
          proxyProtocolV2: true,
          deregistrationDelaySeconds: 30,
          connectionTermination: true,
          unhealthyConnectionTermination: false,
          unhealthyDrainingIntervalSeconds: 60,
          stickiness: 'SourceIP',
          crossZone: 'Enabled',
          dnsFailover: { count: 1, percentage: 50 },
          unhealthyStateRouting: { count: 2 },
        },
        healthCheck: {
          protocol: 'HTTPS',
          port: 'traffic-port',
          path: '/up',
          successCodes: '200-399,404',
          intervalSeconds: 10,
          timeoutSeconds: 6,
          healthyThreshold: 2,
          unhealthyThreshold: 2,
        },
        securityGroups: {
          mode: 'Managed',
          prefixListIDs: ['pl-0a'],
          backendRules: 'Managed',
          privateLinkRules: 'Ignored',
          pathMTUDiscovery: false,
        },
        targetNodeLabels: { 'example.com/pool': 'edge' },
        tags: { team: 'edge' },
      },
    },
  },
  {
    kind: CloudLoadBalancerKind,
    spec: {
      provider: 'aws',
      listeners: [{ protocol: 'TCP', ...listener }],
      scheme: 'Internal',
      ipFamilies: ['IPv4'],
      trafficPolicy: 'Local',
      aws: {
        type: 'Classic',
        accessLogs: { enabled: true, bucket: 'logs', emitIntervalMinutes: 60 },
        securityGroups: { groups: ['sg-0a'], additionalGroupIDs: ['sg-0b'] },
        classic: { connectionDraining: true, connectionDrainingTimeoutSeconds: 20, connectionIdleTimeoutSeconds: 90, proxyProtocol: true },
      },
    },
  },
  {
    kind: CloudProviderKind,
    spec: {
      default: false,
      region: 'eu-west-1',
      driftInterval: '10m',
      sweepInterval: '1h',
      driftPolicy: 'Heal',
      retireAfter: '5m',
      routePeriod: '10s',
      freeze: false,
      aws: {
        vpcID: 'vpc-0a',
        clusterName: 'demo',
        legacyClusterTag: true,
        subnetIDs: ['subnet-0a'],
        fallbackSubnetID: 'subnet-0b',
        routeTableIDs: ['rtb-0a'],
        nodeIPFamilies: ['IPv6', 'IPv4'],
        nodeRules: 'PerService',
        networkSecurityGroups: 'None',
        classicSecurityGroupID: 'sg-0a',
        healthProbe: { mode: 'Shared', port: 10256, path: '/healthz' },
        nodeTags: { team: 'edge' },
        topologyInstanceTypes: '^p4d',
        credentialsSecretRef: { name: 'aws', accessKeyIDKey: 'id', secretAccessKeyKey: 'key', sessionTokenKey: 'token' },
        assumeRole: {
          roleARN: 'arn:aws:iam::111122223333:role/ccm',
          externalID: 'some-id',
          sessionName: 'ccm',
          sourceARN: 'arn:aws:eks:eu-west-1:111122223333:cluster/demo',
        },
        endpoints: [{ service: 'EC2', url: 'https://ec2.example', signingRegion: 'eu-west-1', signingName: 'ec2' }],
        useFIPSEndpoints: true,
        useDualStackEndpoints: true,
      },
    },
  },
];

/** What of AWS must be refused. */
const BAD_AWS: BadSpec[] = [
  ...[
    { eipAllocationIDs: ['eipalloc-1'] },
    { privateIPv4Addresses: ['10.0.0.1'] },
    { ipv6Addresses: ['fd00::1'] },
    { ipAddressType: 'DualStack' },
    { name: 'web' },
    { deletionProtection: true },
    { targetGroup: {} },
    { listeners: [{ port: 80 }] },
    { tcpUDPListeners: true },
  ].map((block) => {
    const [field = ''] = Object.keys(block);
    const scheme = field === 'privateIPv4Addresses' ? 'Internal' : 'Public';
    return {
      title: `${field} on a Classic load balancer`,
      kind: CloudLoadBalancerKind,
      spec: aws({ type: 'Classic', ...block }, { scheme }),
      field: `spec.aws.${field}`,
      message: `${field} needs type Network`,
    };
  }),
  {
    title: 'settings of Classic on a Network load balancer',
    kind: CloudLoadBalancerKind,
    spec: aws({ classic: { proxyProtocol: true } }),
    field: 'spec.aws.classic',
    message: 'classic needs type Classic',
  },
  {
    title: 'an internal load balancer with Elastic IPs',
    kind: CloudLoadBalancerKind,
    spec: aws({ eipAllocationIDs: ['eipalloc-1'] }, { scheme: 'Internal' }),
    field: 'spec.aws.eipAllocationIDs',
    message: 'need scheme Public',
  },
  {
    title: 'a public load balancer with private addresses',
    kind: CloudLoadBalancerKind,
    spec: aws({ privateIPv4Addresses: ['10.0.0.1'] }),
    field: 'spec.aws.privateIPv4Addresses',
    message: 'need scheme Internal',
  },
  {
    title: 'more Elastic IPs than subnets',
    kind: CloudLoadBalancerKind,
    spec: aws({ eipAllocationIDs: ['eipalloc-1', 'eipalloc-2'], subnets: ['subnet-1'] }),
    field: 'spec.aws.eipAllocationIDs',
    message: 'eipAllocationIDs must have one entry for each of subnets',
  },
  {
    title: 'IPv6 addresses without IPv6',
    kind: CloudLoadBalancerKind,
    spec: aws({ ipv6Addresses: ['fd00::1'], ipAddressType: 'IPv4' }),
    field: 'spec.aws.ipv6Addresses',
    message: 'need ipAddressType DualStack',
  },
  {
    title: 'an Elastic IP by its address',
    kind: CloudLoadBalancerKind,
    spec: aws({ eipAllocationIDs: ['203.0.113.1'] }),
    field: 'spec.aws.eipAllocationIDs[0]',
  },
  ...['web_1', '-web', 'web-', 'a'.repeat(33)].map((name) => ({
    title: `name "${name}"`,
    kind: CloudLoadBalancerKind,
    spec: aws({ name }),
    field: 'spec.aws.name',
  })),
  {
    title: 'a name that AWS keeps for itself',
    kind: CloudLoadBalancerKind,
    spec: aws({ name: 'internal-web' }),
    field: 'spec.aws.name',
    message: 'begins with internal-',
  },
  { title: 'TLS without a certificate', kind: CloudLoadBalancerKind, spec: aws({ tls: {} }), field: 'spec.aws.tls.certificateARNs' },
  {
    title: 'a certificate that is none',
    kind: CloudLoadBalancerKind,
    spec: aws({ tls: { certificateARNs: ['arn:aws:s3:::bucket'] } }),
    field: 'spec.aws.tls.certificateARNs[0]',
  },
  {
    title: 'access logs to nowhere',
    kind: CloudLoadBalancerKind,
    spec: aws({ accessLogs: {} }),
    field: 'spec.aws.accessLogs.bucket',
    message: 'need a bucket',
  },
  {
    title: 'access logs every seven minutes',
    kind: CloudLoadBalancerKind,
    spec: aws({ type: 'Classic', accessLogs: { bucket: 'b', emitIntervalMinutes: 7 } }),
    field: 'spec.aws.accessLogs.emitIntervalMinutes',
    message: 'must be 5 or 60',
  },
  {
    title: 'groups and none',
    kind: CloudLoadBalancerKind,
    spec: aws({ securityGroups: { mode: 'None', groups: ['sg-1'] } }),
    field: 'spec.aws.securityGroups.mode',
    message: 'mode None leaves no group',
  },
  {
    title: 'prefix lists for groups of others',
    kind: CloudLoadBalancerKind,
    spec: aws({ securityGroups: { prefixListIDs: ['pl-1'], groups: ['sg-1'] } }),
    field: 'spec.aws.securityGroups.prefixListIDs',
    message: 'are for the managed group',
  },
  {
    title: 'a path for AWS’s TCP health check',
    kind: CloudLoadBalancerKind,
    spec: aws({ healthCheck: { protocol: 'TCP', path: '/' } }),
    field: 'spec.aws.healthCheck.protocol',
    message: 'need protocol HTTP or HTTPS',
  },
  {
    title: 'checks that overlap',
    kind: CloudLoadBalancerKind,
    spec: aws({ healthCheck: { timeoutSeconds: 11, intervalSeconds: 10 } }),
    field: 'spec.aws.healthCheck.timeoutSeconds',
    message: 'must not take longer',
  },
  ...['0', 'http', '123456'].map((port) => ({
    title: `health check port "${port}"`,
    kind: CloudLoadBalancerKind,
    spec: aws({ healthCheck: { port } }),
    field: 'spec.aws.healthCheck.port',
  })),
  {
    title: 'two sources of AWS credentials',
    kind: CloudProviderKind,
    spec: { aws: { profile: 'a', credentialsSecretRef: { name: 'aws' } } },
    field: 'spec.aws',
    message: 'only one of profile, credentialsSecretRef',
  },
  {
    title: 'shared node rules without groups',
    kind: CloudProviderKind,
    spec: { aws: { networkSecurityGroups: 'None' } },
    field: 'spec.aws.networkSecurityGroups',
    message: 'nodeRules Shared needs a group',
  },
  {
    title: 'a legacy tag of no cluster',
    kind: CloudProviderKind,
    spec: { aws: { legacyClusterTag: true } },
    field: 'spec.aws.legacyClusterTag',
    message: 'legacyClusterTag needs clusterName',
  },
  {
    title: 'an AWS endpoint that is none',
    kind: CloudProviderKind,
    spec: { aws: { endpoints: [{ service: 'EC2', url: 'ec2.example' }] } },
    field: 'spec.aws.endpoints[0].url',
    message: 'must begin with https://',
  },
  {
    title: 'one AWS endpoint twice',
    kind: CloudProviderKind,
    spec: { aws: { endpoints: ['https://a', 'https://b'].map((url) => ({ service: 'EC2', url })) } },
    field: 'spec.aws.endpoints',
  },
  { title: 'a VPC that is none', kind: CloudProviderKind, spec: { aws: { vpcID: 'main' } }, field: 'spec.aws.vpcID' },
];

/** What must be refused. */
export const BAD: BadSpec[] = [
  ...BAD_AWS,
  {
    title: 'port 0',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, listeners: [{ ...listener, port: 0 }] },
    field: 'spec.listeners[0].port',
  },
  {
    title: 'port 65536',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, listeners: [{ ...listener, port: 65536 }] },
    field: 'spec.listeners[0].port',
  },
  {
    title: 'port as text',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, listeners: [{ ...listener, port: '80' }] },
    field: 'spec.listeners[0].port',
  },
  {
    title: 'node port 0',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, listeners: [{ ...listener, nodePort: 0 }] },
    field: 'spec.listeners[0].nodePort',
  },
  { title: 'no listeners', kind: CloudLoadBalancerKind, spec: { ...balancer, listeners: [] }, field: 'spec.listeners' },
  {
    title: 'no name for a listener',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, listeners: [{ port: 80 }] },
    field: 'spec.listeners[0].name',
  },
  {
    title: 'two listeners with one protocol and port',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, listeners: [listener, { ...listener, name: 'again' }] },
    field: 'spec.listeners',
    message: 'two listeners have the same protocol and port',
  },
  {
    title: 'two listeners with one name',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, listeners: [listener, { ...listener, port: 81 }] },
    field: 'spec.listeners',
  },
  {
    title: 'unknown protocol',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, listeners: [{ ...listener, protocol: 'ICMP' }] },
    field: 'spec.listeners[0].protocol',
  },
  {
    title: 'source range with a mask too long',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, sourceRanges: ['10.0.0.0/8', '10.0.0.0/33'] },
    field: 'spec.sourceRanges[1]',
    message: 'must be a CIDR such as 203.0.113.0/24',
  },
  {
    title: 'a source range twice',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, sourceRanges: ['10.0.0.0/8', '10.0.0.0/8'] },
    field: 'spec.sourceRanges',
  },
  {
    title: 'an address that is none',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, addresses: ['203.0.113.256'] },
    field: 'spec.addresses[0]',
    message: 'must be an IP address such as 203.0.113.10',
  },
  { title: 'unknown IP family', kind: CloudLoadBalancerKind, spec: { ...balancer, ipFamilies: ['IPv5'] }, field: 'spec.ipFamilies[0]' },
  {
    title: 'an IP family twice',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, ipFamilies: ['IPv4', 'IPv4'] },
    field: 'spec.ipFamilies',
  },
  { title: 'unknown scheme', kind: CloudLoadBalancerKind, spec: { ...balancer, scheme: 'internet-facing' }, field: 'spec.scheme' },
  {
    title: 'unknown traffic policy',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, trafficPolicy: 'cluster' },
    field: 'spec.trafficPolicy',
  },
  {
    title: 'a path for a TCP health check',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, healthCheck: { path: '/' } },
    field: 'spec.healthCheck.path',
    message: 'path needs protocol HTTP',
  },
  {
    title: 'a path without a slash',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, healthCheck: { protocol: 'HTTP', path: 'up' } },
    field: 'spec.healthCheck.path',
  },
  {
    title: 'an affinity time without affinity',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, sessionAffinity: { timeoutSeconds: 5 } },
    field: 'spec.sessionAffinity.timeoutSeconds',
    message: 'timeoutSeconds needs type ClientIP',
  },
  {
    title: 'two typed blocks',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, custom: { kind: 'example' } },
    field: 'spec',
    message: 'only one of aws, local, custom can be set',
  },
  { title: 'no provider', kind: CloudLoadBalancerKind, spec: { listeners: [listener], local: {} }, field: 'spec.provider' },
  {
    title: 'a provider that is no name',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, provider: 'Local Cloud' },
    field: 'spec.provider',
  },
  {
    title: 'drain time of the local cloud',
    kind: CloudLoadBalancerKind,
    spec: { ...balancer, local: { drainSeconds: -1 } },
    field: 'spec.local.drainSeconds',
  },
  {
    title: 'two clouds',
    kind: CloudProviderKind,
    spec: { ...provider, custom: { kind: 'example' } },
    field: 'spec',
    message: 'exactly one of aws, local, custom must be set',
  },
  { title: 'no cloud', kind: CloudProviderKind, spec: {}, field: 'spec', message: 'exactly one of aws, local, custom must be set' },
  {
    title: 'an endpoint that is none',
    kind: CloudProviderKind,
    spec: { local: { endpoint: 'localhost:80' } },
    field: 'spec.local.endpoint',
    message: 'must begin with http:// or unix:/',
  },
  {
    title: 'two tokens',
    kind: CloudProviderKind,
    spec: { local: { ...provider.local, tokenFile: '/token', tokenSecretRef: { name: 'token' } } },
    field: 'spec.local',
    message: 'only one of tokenFile, tokenSecretRef can be set',
  },
  ...['8760h1ms', '525601m', '999999h999999h999999h', '1000000000h', '99999999999999999999999999999s'].map((retireAfter) => ({
    title: `"${retireAfter}", which is longer than a year`,
    kind: CloudProviderKind,
    spec: { ...provider, retireAfter },
    field: 'spec.retireAfter',
    message: 'must be at most 8760h',
  })),
  ...['10', '10 s', 's', '-1s', '1d', ''].map((driftInterval) => ({
    title: `drift interval "${driftInterval}"`,
    kind: CloudProviderKind,
    spec: { ...provider, driftInterval },
    field: 'spec.driftInterval',
    ...(driftInterval === '' ? {} : { message: 'must be a duration such as 30s, 10m or 1h30m' }),
  })),
  {
    title: 'no time between route listings',
    kind: CloudProviderKind,
    spec: { ...provider, routePeriod: '0s' },
    field: 'spec.routePeriod',
    message: 'must be longer than zero',
  },
  {
    title: 'sharing with namespaces, but which',
    kind: CloudProviderKind,
    spec: { ...provider, policy: { sharing: 'Namespaces' } },
    field: 'spec.policy',
    message: 'sharingNamespaces and sharing: Namespaces need each other',
  },
  {
    title: 'unknown sharing',
    kind: CloudProviderKind,
    spec: { ...provider, policy: { sharing: 'Everybody' } },
    field: 'spec.policy.sharing',
  },
  {
    title: 'a namespace that is no name',
    kind: CloudProviderKind,
    spec: { ...provider, policy: { namespaces: ['a.b'] } },
    field: 'spec.policy.namespaces[0]',
  },
  {
    title: 'a destination that is no CIDR',
    kind: CloudRouteKind,
    spec: { ...route, destinationCIDR: '10.244.1.0' },
    field: 'spec.destinationCIDR',
    message: 'must be a CIDR',
  },
  {
    title: 'a destination with bits behind the mask',
    kind: CloudRouteKind,
    spec: { ...route, destinationCIDR: '10.244.1.7/24' },
    field: 'spec.destinationCIDR',
    message: 'must not have bits set behind the mask',
  },
  {
    title: 'a next hop that is no address',
    kind: CloudRouteKind,
    spec: { ...route, nodeAddresses: ['node-1'] },
    field: 'spec.nodeAddresses[0]',
    message: 'must be an IP address',
  },
  {
    title: 'a route without a Node',
    kind: CloudRouteKind,
    spec: { provider: 'local', destinationCIDR: '10.244.1.0/24' },
    field: 'spec.nodeName',
  },
  { title: 'unknown kind of stack', kind: CloudStackKind, spec: { ...stack, kind: 'Bucket' }, field: 'spec.kind' },
  { title: 'an instance without a provider', kind: CloudInstanceKind, spec: { nodeName: 'node-1' }, field: 'spec.provider' },
];

/** Texts on which both must agree whether they are addresses. */
export const ADDRESSES = [
  '203.0.113.10',
  '0.0.0.0',
  '1.2.3',
  '1.2.3.4.5',
  '01.2.3.4',
  '1.2.3.4 ',
  '0x7f.0.0.1',
  '2001:db8::10',
  '2001:DB8::10',
  '::',
  '::1',
  '::1.2.3.4',
  '::ffff:1.2.3.4',
  '::ffff:102:304',
  'fe80::1%eth0',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7:8:9',
  '1::2::3',
  '[::1]',
  'web.example',
];

/** Texts on which both must agree whether they are CIDRs, and fit for a route table. */
export const CIDRS = [
  '0.0.0.0/0',
  '10.0.0.0/8',
  '10.0.0.1/8',
  '10.0.0.0/08',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '/24',
  '10.0.0.0',
  '10.0/16',
  '10.0.0.0/8/8',
  '10.0.0.0/255.0.0.0',
  '203.0.113.7/32',
  '::/0',
  'fd00::/8',
  'fd00::1/8',
  'fd00::/129',
  '2001:db8::1/128',
  '::ffff:10.0.0.0/104',
  'fe80::1%eth0/64',
];
