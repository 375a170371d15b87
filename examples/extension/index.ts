import { CustomResource } from '@pulumi/pulumi';
import { defineExtension, type LoadBalancer } from 'cloud-operator/extensions';

class Address extends CustomResource {}

/** For the local cloud. Try it: cloud-operator run --extension examples/extension … */
export default defineExtension({
  transform({ type, args, loadBalancers, refuse }) {
    if (loadBalancers.some(listensOn(22))) refuse('port 22 must not be published; use the bastion');
    // Connections get half a minute to end when a Node goes.
    if (type === 'local:index:TargetPool') args.drainMs = 30_000;
  },
  // Every load balancer has a second address in reserve.
  extra({ loadBalancers }) {
    const spares = loadBalancers.map(({ uid, namespace, name }) => {
      const args = { name: `spare-${uid}`, ownerUID: uid, owner: `${namespace}/${name}`, family: 'IPv4', ip: undefined };
      return [name, new Address('local:index:Address', `spare-${name}`, args).id] as const;
    });
    return Object.fromEntries(spares);
  },
});

function listensOn(port: number): (loadBalancer: LoadBalancer) => boolean {
  return ({ spec }) => spec.listeners.some((listener) => listener.port === port);
}
