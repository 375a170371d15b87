import type { DriftRequest } from '../../providers/local/api';

/** What the cloud answers to a change from behind. */
export interface DriftAnswer {
  /** As it is now; absent where it is gone, or was not touched itself. */
  resource?: { name?: string; tags?: Record<string, string> };
}

/** One line for people about a change behind the operator's back. Pure. */
export function driftText(request: DriftRequest, { resource }: DriftAnswer): string {
  switch (request.kind) {
    case 'deleteRoute':
      return `The route to ${request.destinationCIDR} is deleted from the cloud's table.`;
    case 'deleteKernelRoute':
      return `The route to ${request.destinationCIDR} no longer leads anywhere; the cloud's table still has it.`;
    case 'delete':
      return `${request.collection}/${request.id} is deleted.`;
    case 'patch': {
      const fields = Object.entries(request.fields).map(([field, value]) => `${field} is ${JSON.stringify(value)} now`);
      return `${request.collection}/${request.id}${named(resource)}: ${fields.join(', ') || 'nothing is changed'}.`;
    }
    case 'setTargets': {
      const targets = request.targets.map(({ instanceID, port }) => `${instanceID}:${port}`);
      return `pools/${request.id}${named(resource)}: its targets are ${targets.join(', ') || 'none'} now.`;
    }
    case 'power':
      return `instances/${request.id}${named(resource)} is ${request.power}.`;
  }
}

function named(resource: DriftAnswer['resource']): string {
  const owner = resource?.tags?.owner;
  return resource?.name === undefined ? '' : ` (${resource.name}${owner === undefined ? '' : `, of ${owner}`})`;
}
