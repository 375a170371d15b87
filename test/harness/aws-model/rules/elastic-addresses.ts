import type { Clock } from '../../../../operator/base/clock';
import { fieldsOf, refusal } from '../call';
import type { Rule } from '../rule';
import { withZoneAddresses } from './zone-addresses';

/** How long the interfaces of a deleted load balancer keep its addresses. */
export interface Holding {
  clock: Clock;
  holdMs: number;
}

/**
 * An Elastic IP address is on one load balancer, and on that for a while after it is deleted, minutes in AWS
 * (hashicorp/terraform-provider-aws#15031). moto forgets addresses, so they are told here too, with the interfaces that they are on.
 */
export function elasticAddresses({ clock, holdMs }: Holding): Rule {
  const held = new Map<string, { by: string; name: string; subnet: string; until: number }>();
  const isHeld = (id: string): boolean => (held.get(id)?.until ?? 0) > clock.monotonic();
  return {
    before(call) {
      const { service, action, parameters } = call;
      if (service !== 'elbv2') return undefined;
      if (action === 'DeleteLoadBalancer') {
        const arn = parameters.get('LoadBalancerArn') ?? '';
        for (const holding of held.values()) if (holding.by === arn) holding.until = clock.monotonic() + holdMs;
      }
      if (action !== 'CreateLoadBalancer') return undefined;
      return fieldsOf(call, 'SubnetMappings', 'AllocationId').some(isHeld)
        ? refusal('ResourceInUse', 'The allocation IDs are not available for use')
        : undefined;
    },
    after(call, answer) {
      const { service, action, parameters } = call;
      if (answer.status !== 200) return answer;
      if (service === 'ec2' && action === 'DescribeAddresses') return { ...answer, body: withInterfaces(answer.body, isHeld) };
      if (service === 'ec2' && action === 'DescribeNetworkInterfaces') {
        const asked = [...held].filter(([id]) => isHeld(id) && [...parameters.values()].includes(interfaceOf(id)));
        const items = asked.map(([id, { name }]) => describeInterface(interfaceOf(id), `ELB net/${name}/0123456789abcdef`));
        return { ...answer, body: withItems(answer.body, items.join('')) };
      }
      if (service !== 'elbv2') return answer;
      if (action === 'CreateLoadBalancer') {
        const by = /<LoadBalancerArn>([^<]+)</.exec(answer.body)?.[1] ?? '';
        const subnets = fieldsOf(call, 'SubnetMappings', 'SubnetId');
        fieldsOf(call, 'SubnetMappings', 'AllocationId').forEach((id, index) => {
          const name = parameters.get('Name') ?? '';
          held.set(id, { by, name, subnet: subnets[index] ?? '', until: Number.POSITIVE_INFINITY });
        });
      }
      if (action !== 'CreateLoadBalancer' && action !== 'DescribeLoadBalancers') return answer;
      const idsOf = (arn: string, on: string): string[] => {
        return [...held].flatMap(([id, { by, subnet, until }]) => (by === arn && subnet === on && until > clock.monotonic() ? [id] : []));
      };
      const membersOf = (arn: string, on: string): string[] => idsOf(arn, on).map((id) => `<AllocationId>${id}</AllocationId>`);
      return { ...answer, body: withZoneAddresses(answer.body, membersOf) };
    },
  };
}

/** Of the load balancer that has an address. */
function interfaceOf(allocation: string): string {
  return allocation.replace('eipalloc', 'eni');
}

function describeInterface(id: string, description: string): string {
  return `<item><networkInterfaceId>${id}</networkInterfaceId><description>${description}</description></item>`;
}

function withInterfaces(body: string, isHeld: (id: string) => boolean): string {
  const told = body.replaceAll(/<networkInterfaceId(\/>|><\/networkInterfaceId>)/g, '');
  return told.replaceAll(/<allocationId>([^<]+)<\/allocationId>/g, (allocation: string, id: string) =>
    isHeld(id) ? `${allocation}<networkInterfaceId>${interfaceOf(id)}</networkInterfaceId>` : allocation,
  );
}

function withItems(body: string, items: string): string {
  if (items === '') return body;
  return body.replace(/<networkInterfaceSet ?\/>|<\/networkInterfaceSet>/, (end: string) =>
    end.startsWith('</') ? `${items}${end}` : `<networkInterfaceSet>${items}</networkInterfaceSet>`,
  );
}
