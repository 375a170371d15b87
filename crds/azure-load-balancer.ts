import { z } from 'zod';
import { cidr, ip } from './address';
import { mapOf, setOf } from './list';
import { withRules } from './rule';

/** A name of a resource in Azure (learn.microsoft.com, "Naming rules and restrictions for Azure resources", Microsoft.Network). */
export const azureName = z
  .string()
  .max(80)
  .regex(/^[A-Za-z0-9]([\w.-]*\w)?$/);

/** A name of a resource group. */
export const azureResourceGroup = z
  .string()
  .max(90)
  .regex(/^[\w().-]*[\w()-]$/);

/** The id of a resource. */
export const azureResourceID = z
  .string()
  .max(1024)
  .regex(/^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/[^/]+(\/[^/]+\/[^/]+)+$/);

/** Tags, by key. */
export const azureTags = z.record(z.string().max(512), z.string().max(256));

/** All checks together last less than this many seconds (learn.microsoft.com, "Load Balancers - Create Or Update", Probe). */
export const AZURE_PROBE_SECONDS = 120;

const probeFields = {
  protocol: z
    .enum(['TCP', 'HTTP', 'HTTPS'])
    .optional()
    .meta({ description: 'How it is asked; absent = by the listener’s appProtocol, else TCP.' }),
  intervalSeconds: z.int().min(5).max(119).optional().meta({ description: 'Time between two checks; absent = 5.' }),
  threshold: z.int().min(2).max(23).optional().meta({ description: 'Checks in a row that change what is held of a Node; absent = 2.' }),
  path: z.string().min(1).max(2048).optional().meta({ description: 'For HTTP and HTTPS; absent = /.' }),
};

const TOGETHER = {
  cel: `!has(self.intervalSeconds) || !has(self.threshold) || self.intervalSeconds * self.threshold < ${AZURE_PROBE_SECONDS}`,
  holds: ({ intervalSeconds, threshold }: { intervalSeconds?: number | undefined; threshold?: number | undefined }): boolean =>
    intervalSeconds === undefined || threshold === undefined || intervalSeconds * threshold < AZURE_PROBE_SECONDS,
  message: `intervalSeconds times threshold must be less than ${AZURE_PROBE_SECONDS}`,
  field: 'intervalSeconds',
};

const probe = withRules(z.object(probeFields).meta({ description: 'How Nodes are checked, for ports that say nothing themselves.' }), [
  TOGETHER,
]);

const portSettings = withRules(
  z
    .object({
      port: z.int().min(1).max(65535).meta({ description: 'The listener’s port.' }),
      rule: z.boolean().default(true).meta({ description: 'Whether the load balancer forwards it.' }),
      probe: z.boolean().default(true).meta({ description: 'Whether it is checked by itself.' }),
      probePort: z.string().min(1).max(63).optional().meta({
        description: 'Name or number of the listener whose node port is checked, else a port of the Nodes; absent = its own.',
      }),
      ...probeFields,
    })
    .meta({ description: 'One port’s own settings.' }),
  [TOGETHER],
);

const publicIP = z
  .object({
    resourceGroup: azureResourceGroup.optional().meta({ description: 'Where named addresses are; absent = the cluster’s.' }),
    ipv4Name: azureName.optional().meta({ description: 'A public IP address that is there, for IPv4.' }),
    ipv6Name: azureName.optional().meta({ description: 'A public IP address that is there, for IPv6.' }),
    ipv4PrefixID: azureResourceID.optional().meta({ description: 'A public IP prefix that the IPv4 address is taken from.' }),
    ipv6PrefixID: azureResourceID.optional().meta({ description: 'A public IP prefix that the IPv6 address is taken from.' }),
    tags: azureTags.optional().meta({ description: 'Tags beside those that say whose it is.' }),
    ipTags: azureTags.optional().meta({ description: 'IP tags, by type; only a new address gets them.' }),
    dnsLabel: z
      .string()
      .max(63)
      .regex(/^[a-z][a-z0-9-]{1,61}[a-z0-9]$/)
      .optional()
      .meta({ description: 'The first part of its name in DNS, which only one in the region can have.' }),
  })
  .meta({ description: 'The public IP addresses.' });

const access = z
  .object({
    rules: z.enum(['Managed', 'None']).optional().meta({
      description: 'Whether the security group lets clients in; absent = Managed. None: rules are made by hand.',
    }),
    serviceTags: setOf(z.string().min(1).max(80), { max: 50, description: 'Service tags of Azure that may connect.' }).optional(),
    ranges: setOf(cidr, { max: 4000, description: 'Who may connect, in place of spec.sourceRanges.' }).optional(),
    denyOthers: z.boolean().optional().meta({ description: 'Whether everybody else is kept out too who is in the virtual network.' }),
    additionalAddresses: setOf(ip, {
      max: 16,
      description: 'Public addresses of a load balancer in front of this one: let in, and told in the status.',
    }).optional(),
  })
  .meta({ description: 'Who is let in to the Nodes.' });

const privateLink = z
  .object({
    name: azureName.optional().meta({ description: 'Its name; absent = pls-<frontend>.' }),
    resourceGroup: azureResourceGroup.optional().meta({ description: 'Its resource group; absent = what the CloudProvider says.' }),
    subnetName: azureName.optional().meta({ description: 'Where its own addresses are from; absent = the subnet of the frontend.' }),
    addressCount: z.int().min(1).max(8).optional().meta({ description: 'How many addresses it has; absent = 1.' }),
    addresses: setOf(ip, { max: 8, description: 'Addresses of its subnet that it gets; the first is its main one.' }).optional(),
    fqdns: setOf(z.string().min(1).max(253), { max: 8, description: 'Names that it is known by.' }).optional(),
    proxyProtocol: z.boolean().optional().meta({ description: 'Whether connections begin with a PROXY protocol header.' }),
    visibility: setOf(z.string().min(1).max(36), { max: 100, description: 'Subscriptions that see it; * = all.' }).optional(),
    autoApproval: setOf(z.string().min(1).max(36), {
      max: 100,
      description: 'Subscriptions whose requests are approved at once.',
    }).optional(),
  })
  .meta({ description: 'A Private Link Service on the frontend.' });

/** What only Azure knows. */
export const azureLoadBalancer = z
  .object({
    subnetName: azureName.optional().meta({ description: 'The subnet of an internal frontend; absent = the Nodes’.' }),
    ipv4Address: ip.optional().meta({ description: 'The IPv4 address that is asked for, in place of spec.addresses.' }),
    ipv6Address: ip.optional().meta({ description: 'The IPv6 address that is asked for, in place of spec.addresses.' }),
    publicIP: publicIP.optional(),
    configurations: setOf(z.string().min(1).max(80), {
      max: 16,
      description: 'Load balancers of the CloudProvider’s that may carry it; absent = all that take it.',
    }).optional(),
    access: access.optional(),
    idleTimeoutMinutes: z.int().min(4).max(100).optional().meta({ description: 'How long a silent connection is kept; absent = 4.' }),
    tcpReset: z.boolean().optional().meta({ description: 'Whether both ends are told when that is over; absent = true.' }),
    floatingIP: z.boolean().optional().meta({
      description: 'Whether Nodes see the frontend’s address and port; absent = true. Otherwise the node port is what they see.',
    }),
    allPorts: z.boolean().optional().meta({ description: 'Whether one rule forwards all ports; for scheme Internal.' }),
    probe: probe.optional(),
    ports: mapOf(portSettings, 'port', { max: 100, description: 'Settings of single ports; they go before those of all.' }).optional(),
    privateLink: privateLink.optional(),
  })
  .meta({ description: 'Settings of Azure.' });
export type AzureLoadBalancer = z.infer<typeof azureLoadBalancer>;
