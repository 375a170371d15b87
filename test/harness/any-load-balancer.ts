import * as fc from 'fast-check';

/** Listeners of as many ports, each third one of UDP. Pure. */
export function listenersOf(count: number) {
  return Array.from({ length: count }, (_unused, index) => ({
    name: `port-${index}`,
    protocol: index % 3 === 2 ? ('UDP' as const) : ('TCP' as const),
    port: 8000 + index,
    nodePort: 30_000 + index,
  }));
}

const port = fc.integer({ min: 1, max: 65_535 });

/** A listener as the CRD takes it, whatever a cloud says of it. */
export const anyListener = fc.record({
  name: fc.string({ minLength: 1, maxLength: 63 }),
  protocol: fc.constantFrom('TCP' as const, 'UDP' as const, 'SCTP' as const),
  port,
  nodePort: fc.option(port, { nil: undefined }),
});

/** What a load balancer of a large cloud asks for beside its cloud's own settings. */
export const anyFields = {
  listeners: fc.array(anyListener, { minLength: 1, maxLength: 5 }),
  scheme: fc.constantFrom('Public' as const, 'Internal' as const),
  ipFamilies: fc.constantFrom<('IPv4' | 'IPv6')[]>(['IPv4'], ['IPv6'], ['IPv4', 'IPv6']),
  trafficPolicy: fc.constantFrom('Cluster' as const, 'Local' as const),
};
