import { z } from 'zod';
import { port } from './address';

/** What a CloudProvider says of the health checks of its load balancers, whatever the cloud. */
export const healthProbe = z
  .object({
    mode: z.enum(['ServiceNodePort', 'Shared']).default('ServiceNodePort').meta({
      description:
        'ServiceNodePort: each listener’s own node port is checked. Shared: one port of the Node, kube-proxy’s, for all Services.',
    }),
    port: port.default(10256).meta({ description: 'The port of mode Shared.' }),
    path: z.string().regex(/^\//).max(1024).default('/healthz').meta({ description: 'What mode Shared asks for.' }),
  })
  .meta({ description: 'How Nodes are checked for Services of externalTrafficPolicy: Cluster that say nothing themselves.' });
