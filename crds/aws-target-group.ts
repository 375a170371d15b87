import { z } from 'zod';
import { withRules } from './rule';

const percentage = z.int().min(1).max(100).optional().meta({ description: 'So many of a hundred.' });
const healthyTargets = z
  .object({ count: z.int().min(1).max(1000).optional().meta({ description: 'So many; absent = one.' }), percentage })
  .meta({ description: 'How many targets of a zone must be healthy.' });
const inDNS = z
  .object({
    count: z.int().min(0).max(1000).optional().meta({ description: 'So many, 0 = only the percentage counts; absent = one.' }),
    percentage,
  })
  .meta({ description: 'How many targets of a zone must be healthy.' });

/** What the target groups of a Network load balancer can be told beside its health check. */
export const awsTargetGroup = z
  .object({
    preserveClientIP: z.boolean().optional().meta({
      description: 'Whether Nodes see the client’s address; absent = true where AWS allows it. UDP always keeps it.',
    }),
    proxyProtocolV2: z.boolean().optional().meta({
      description: 'Whether connections to Nodes begin with a PROXY protocol header of version 2; absent = false.',
    }),
    deregistrationDelaySeconds: z
      .int()
      .min(0)
      .max(3600)
      .optional()
      .meta({ description: 'How long a leaving Node keeps its open connections; absent = 300.' }),
    connectionTermination: z.boolean().optional().meta({
      description: 'Whether they are cut when that time is over; absent = false, for UDP true.',
    }),
    unhealthyConnectionTermination: z.boolean().optional().meta({
      description: 'Whether connections to a Node are cut when it becomes unhealthy; absent = true.',
    }),
    unhealthyDrainingIntervalSeconds: z.int().min(0).max(360_000).optional().meta({
      description: 'How long connections to an unhealthy Node are kept; needs unhealthyConnectionTermination: false.',
    }),
    stickiness: z
      .enum(['None', 'SourceIP'])
      .optional()
      .meta({ description: 'Whether a client stays with one Node; absent = what spec.sessionAffinity says.' }),
    crossZone: z.enum(['Enabled', 'Disabled', 'LoadBalancer']).optional().meta({
      description: 'Whether traffic goes to Nodes of all zones; absent = LoadBalancer: what aws.crossZone says.',
    }),
    dnsFailover: inDNS.optional().meta({
      description: 'With fewer healthy targets a zone is taken out of DNS; absent = one.',
    }),
    unhealthyStateRouting: healthyTargets.optional().meta({
      description: 'With fewer healthy targets traffic goes to all of them; absent = one.',
    }),
  })
  .meta({ description: 'The target groups of a Network load balancer.' });
export type AWSTargetGroup = z.infer<typeof awsTargetGroup>;

/** A health check in AWS's words. It stands before `spec.healthCheck`, field by field. */
export const awsHealthCheck = withRules(
  z
    .object({
      protocol: z.enum(['TCP', 'HTTP', 'HTTPS']).optional().meta({ description: 'How Nodes are asked.' }),
      port: z
        .string()
        .max(12)
        .regex(/^(traffic-port|[1-9][0-9]{0,4})$/)
        .optional()
        .meta({ description: 'A port number, or traffic-port for each listener’s own node port.' }),
      path: z.string().regex(/^\//).max(1024).optional().meta({ description: 'What is asked for, by HTTP and HTTPS.' }),
      successCodes: z
        .string()
        .max(64)
        .regex(/^[2-5][0-9]{2}(-[2-5][0-9]{2})?(,[2-5][0-9]{2}(-[2-5][0-9]{2})?)*$/)
        .optional()
        .meta({ description: 'Answers that count as good, for example 200-399; for type Network.' }),
      intervalSeconds: z.int().min(5).max(300).optional().meta({ description: 'Time between two checks.' }),
      timeoutSeconds: z.int().min(2).max(120).optional().meta({ description: 'How long a check may take.' }),
      healthyThreshold: z.int().min(2).max(10).optional().meta({ description: 'Good checks in a row until a Node gets traffic.' }),
      unhealthyThreshold: z.int().min(2).max(10).optional().meta({ description: 'Failed checks in a row until it gets none.' }),
    })
    .meta({ description: 'The health check in AWS’s words; what is set here stands before spec.healthCheck.' }),
  [
    {
      cel: "!has(self.protocol) || self.protocol != 'TCP' || !(has(self.path) || has(self.successCodes))",
      holds: ({ protocol, path, successCodes }) => protocol !== 'TCP' || (path === undefined && successCodes === undefined),
      message: 'path and successCodes need protocol HTTP or HTTPS',
      field: 'protocol',
    },
    {
      cel: '!has(self.timeoutSeconds) || !has(self.intervalSeconds) || self.timeoutSeconds <= self.intervalSeconds',
      holds: ({ timeoutSeconds, intervalSeconds }) =>
        timeoutSeconds === undefined || intervalSeconds === undefined || timeoutSeconds <= intervalSeconds,
      message: 'a check must not take longer than the time between two of them',
      field: 'timeoutSeconds',
    },
  ],
);
export type AWSHealthCheck = z.infer<typeof awsHealthCheck>;
