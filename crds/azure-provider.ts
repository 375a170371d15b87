import { z } from 'zod';
import { objectName } from './address';
import { azureName, azureResourceGroup, azureResourceID, azureTags } from './azure-load-balancer';
import { healthProbe } from './health-probe';
import { labelSelector } from './label-selector';
import { mapOf, setOf } from './list';
import { type Rule, withRules } from './rule';

/** An id of a subscription, tenant, application or identity. */
const guid = z
  .string()
  .max(36)
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/);

const url = z
  .string()
  .max(1024)
  .regex(/^https?:\/\//);

const loadBalancer = z
  .object({
    name: azureName.meta({ description: 'Its name; the internal one beside it is <name>-internal.' }),
    allowServicePlacement: z.boolean().default(true).meta({ description: 'Whether it takes Services that it has not yet.' }),
    serviceSelector: labelSelector.optional().meta({ description: 'Which Services it takes, by their labels; absent or empty = any.' }),
    namespaceSelector: labelSelector
      .optional()
      .meta({ description: 'Of which namespaces it takes Services, by the namespaces’ labels; absent or empty = any.' }),
    nodeSelector: labelSelector.optional().meta({
      description: 'Which Nodes are behind it, by their labels; absent or empty = those that no other one asks for. A Node is behind one.',
    }),
    primaryVMSet: azureName
      .optional()
      .meta({ description: 'The uniform scale set whose Nodes are always behind it, and behind no other.' }),
  })
  .meta({ description: 'One of several load balancers of the cluster.' });

const limit = (most: number, usual: number, description: string): z.ZodDefault<z.ZodInt> =>
  z.int().min(1).max(most).default(usual).meta({ description });

/** Limits of the subscription, with Azure's usual figures (learn.microsoft.com, "Azure subscription and service limits"). */
export const azureLimits = z
  .object({
    rulesPerLoadBalancer: limit(1500, 1500, 'Rules of one load balancer.'),
    frontendsPerLoadBalancer: limit(600, 600, 'Frontends of one load balancer.'),
    rulesPerSecurityGroup: limit(1000, 1000, 'Rules of one security group.'),
    addressesPerSecurityGroup: limit(4000, 4000, 'Sources, and destinations, of all rules of one security group.'),
    routesPerTable: limit(1000, 400, 'Routes of one route table.'),
  })
  .meta({ description: 'Limits of the subscription; what does not fit is refused before Azure is asked.' });
export type AzureLimits = z.infer<typeof azureLimits>;

/** Where nothing is said. */
export const AZURE_LIMITS: AzureLimits = azureLimits.parse({});

const secretKey = z
  .object({ name: objectName.meta({ description: 'Its name.' }), key: z.string().min(1).max(253).meta({ description: 'Its key.' }) })
  .meta({ description: 'A key of a Secret in the operator’s own namespace.' });

const certificate = secretKey
  .extend({
    passwordKey: z
      .string()
      .min(1)
      .max(253)
      .optional()
      .meta({ description: 'Key of the same Secret with the password of certificate or private key, where they have one.' }),
  })
  .meta({ description: 'Certificate and private key of the application, as PKCS #12 or as PEM.' });

const managedIdentity = z
  .object({
    clientID: guid.optional().meta({ description: 'The identity, by its client id.' }),
    resourceID: azureResourceID.optional().meta({ description: 'The identity, by its resource id.' }),
  })
  .meta({ description: 'The identity of the operator’s own machine; empty = its only one.' });

const credentials = withRules(
  z
    .object({
      clientID: guid.optional().meta({ description: 'The application; absent = AZURE_CLIENT_ID.' }),
      clientSecretRef: secretKey.optional().meta({ description: 'The application’s secret.' }),
      clientCertificateRef: certificate.optional(),
      managedIdentity: managedIdentity.optional(),
      workloadIdentity: z
        .object({ tokenFile: z.string().min(1).max(4096).optional().meta({ description: 'Absent = AZURE_FEDERATED_TOKEN_FILE.' }) })
        .optional()
        .meta({ description: 'A token of the cluster, which the application trusts.' }),
      cloudConfigFile: z.string().min(1).max(4096).optional().meta({ description: 'An azure.json on the operator’s host.' }),
      cloudConfigRef: secretKey.optional().meta({ description: 'An azure.json in a Secret.' }),
    })
    .meta({ description: 'Who the operator is to Azure; absent = by the environment, as the workload identity webhook sets it.' }),
  [
    {
      cel: '[has(self.clientSecretRef), has(self.clientCertificateRef), has(self.managedIdentity), has(self.workloadIdentity), has(self.cloudConfigFile), has(self.cloudConfigRef)].filter(x, x).size() <= 1',
      holds: ({ clientSecretRef, clientCertificateRef, managedIdentity: machine, workloadIdentity, cloudConfigFile, cloudConfigRef }) =>
        [clientSecretRef, clientCertificateRef, machine, workloadIdentity, cloudConfigFile, cloudConfigRef].filter(
          (one) => one !== undefined,
        ).length <= 1,
      message: 'only one kind of credentials can be set',
    },
  ],
);

const fields = z.object({
  cloud: z.string().max(64).default('AzurePublicCloud').meta({
    description: 'The cloud: AzurePublicCloud, AzureChinaCloud or AzureUSGovernmentCloud; another one by resourceManagerEndpoint.',
  }),
  resourceManagerEndpoint: url
    .optional()
    .meta({ description: 'The resource manager of a cloud, which says where its other endpoints are.' }),
  tenantID: z.string().min(1).max(253).optional().meta({ description: 'The tenant; absent = AZURE_TENANT_ID.' }),
  subscriptionID: guid.meta({ description: 'The subscription of the machines.' }),
  networkSubscriptionID: guid.optional().meta({ description: 'The subscription of the network; absent = that of the machines.' }),
  networkTenantID: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .meta({ description: 'The tenant of networkSubscriptionID, where it is another one; not with managedIdentity.' }),
  resourceGroup: azureResourceGroup.meta({ description: 'The resource group of the cluster.' }),
  nodeResourceGroups: setOf(azureResourceGroup, {
    max: 32,
    description: 'Resource groups of Nodes beside the cluster’s; Nodes of others are let alone.',
  }).optional(),
  clusterName: z.string().min(1).max(63).default('kubernetes').meta({ description: 'Names of load balancers begin with it.' }),
  vnetName: azureName.optional().meta({ description: 'The virtual network of the Nodes; needed for load balancers.' }),
  vnetResourceGroup: azureResourceGroup.optional().meta({ description: 'Its resource group; absent = the cluster’s.' }),
  subnetName: azureName.optional().meta({ description: 'The subnet of the Nodes.' }),
  securityGroupName: azureName.optional().meta({ description: 'The security group of the Nodes; needed to let clients in.' }),
  securityGroupResourceGroup: azureResourceGroup.optional().meta({ description: 'Its resource group; absent = the cluster’s.' }),
  routeTableName: azureName.optional().meta({ description: 'The route table of the Nodes; needed for routes.' }),
  routeTableResourceGroup: azureResourceGroup.optional().meta({ description: 'Its resource group; absent = the cluster’s.' }),
  loadBalancerName: azureName.optional().meta({ description: 'The load balancer’s name; absent = clusterName.' }),
  loadBalancerResourceGroup: azureResourceGroup.optional().meta({ description: 'Its resource group; absent = the cluster’s.' }),
  privateLinkServiceResourceGroup: azureResourceGroup
    .optional()
    .meta({ description: 'That of Private Link Services; absent = the cluster’s.' }),
  loadBalancers: mapOf(loadBalancer, 'name', { max: 32, description: 'Several load balancers in place of one.' }).optional(),
  preConfiguredPools: z
    .enum(['Internal', 'External', 'All'])
    .optional()
    .meta({ description: 'Load balancers whose Nodes somebody else looks after.' }),
  healthProbe: healthProbe.optional(),
  outboundSNAT: z.boolean().default(true).meta({ description: 'Whether load balancing rules also serve Nodes’ connections outwards.' }),
  excludeControlPlane: z.boolean().default(true).meta({ description: 'Whether Nodes of the control plane are left out.' }),
  tags: azureTags.optional().meta({
    description: 'Tags of what is made: load balancers, public addresses, the route table. Those that say whose it is go before them.',
  }),
  routeWaitSeconds: z.int().min(0).max(600).default(30).meta({ description: 'How long a route that was written takes to work.' }),
  limits: azureLimits.optional(),
  credentials: credentials.optional(),
});

type AzureSettings = z.output<typeof fields>;

const RULES: Rule<AzureSettings>[] = [
  {
    cel: '!has(self.networkTenantID) || has(self.networkSubscriptionID)',
    holds: (azure) => azure.networkTenantID === undefined || azure.networkSubscriptionID !== undefined,
    message: 'networkTenantID needs networkSubscriptionID',
  },
  {
    cel: '!has(self.loadBalancers) || !has(self.loadBalancerName)',
    holds: (azure) => azure.loadBalancers === undefined || azure.loadBalancerName === undefined,
    message: 'only one of loadBalancers, loadBalancerName can be set',
  },
];

/** Settings of a subscription, and of what it has for the cluster. */
export const azureProviderSettings = withRules(fields.meta({ description: 'Settings of Azure.' }), RULES);
export type AzureProviderSettings = z.infer<typeof azureProviderSettings>;
export type AzureProviderSettingsInput = z.input<typeof azureProviderSettings>;
