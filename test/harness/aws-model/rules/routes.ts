import type { EC2, Route } from '@aws-sdk/client-ec2';
import { refusal } from '../call';
import { blocksOf } from '../xml';
import type { Rule } from '../rule';

/** A table has one route for each destination; ReplaceRoute changes it. moto's CreateRoute overwrites. */
export function routeAlreadyExists(): Rule {
  return {
    async before({ service, action, parameters }, { ec2 }) {
      if (service !== 'ec2' || action !== 'CreateRoute') return undefined;
      const destination = parameters.get('DestinationCidrBlock') ?? parameters.get('DestinationIpv6CidrBlock') ?? '';
      const routes = await routesOf(ec2, parameters.get('RouteTableId') ?? '');
      const taken = routes.some((route) => (route.DestinationCidrBlock ?? route.DestinationIpv6CidrBlock) === destination);
      return taken ? refusal('RouteAlreadyExists', `The route identified by ${destination} already exists.`) : undefined;
    },
  };
}

/** A route whose instance or network interface is gone leads nowhere. moto calls it active. */
export function blackholeRoutes(): Rule {
  return {
    async after({ service, action }, answer, { ec2 }) {
      if (service !== 'ec2' || action !== 'DescribeRouteTables' || answer.status !== 200) return answer;
      const { Reservations = [] } = await ec2.describeInstances({
        Filters: [{ Name: 'instance-state-name', Values: ['pending', 'running', 'stopping', 'stopped'] }],
      });
      const living = Reservations.flatMap(({ Instances = [] }) => Instances);
      const interfaces = living.flatMap(({ NetworkInterfaces = [] }) => NetworkInterfaces);
      const targets = new Set([
        ...living.map(({ InstanceId }) => InstanceId),
        ...interfaces.map(({ NetworkInterfaceId }) => NetworkInterfaceId),
      ]);
      const dead = (block: string): boolean => {
        const id = /<(?:instanceId|networkInterfaceId)>((?:i|eni)-[0-9a-f]+)</.exec(block)?.[1];
        return id !== undefined && !targets.has(id);
      };
      const routes = blocksOf(answer.body, 'item').filter(
        (block) => /<destination(?:Ipv6)?CidrBlock>/.test(block) && !block.includes('<routeSet>'),
      );
      const body = routes
        .filter(dead)
        .reduce((text, block) => text.replace(block, block.replace('<state>active</state>', '<state>blackhole</state>')), answer.body);
      return { ...answer, body };
    },
  };
}

async function routesOf(ec2: EC2, tableID: string): Promise<Route[]> {
  const { RouteTables = [] } = await ec2.describeRouteTables({ RouteTableIds: [tableID] }).catch(() => ({ RouteTables: [] }));
  return RouteTables[0]?.Routes ?? [];
}
