import { listOf } from '../call';
import type { Rule } from '../rule';
import { blocksOf } from '../xml';

/** What a listener of TLS speaks is changed in place; a change that does not name it leaves it. moto takes it at the create alone. */
export function alpnPolicies(): Rule {
  const changed = new Map<string, string>();
  return {
    after(call, answer) {
      const { service, action, parameters } = call;
      if (service !== 'elbv2' || answer.status !== 200) return answer;
      const [policy] = listOf(call, 'AlpnPolicy');
      if (action === 'ModifyListener' && policy !== undefined) changed.set(parameters.get('ListenerArn') ?? '', policy);
      if (action !== 'DescribeListeners') return answer;
      const body = blocksOf(answer.body, 'member').reduce((text, block) => {
        const known = changed.get(/^<member>\s*<ListenerArn>([^<]+)</.exec(block)?.[1] ?? '');
        return known === undefined ? text : text.replace(block, withPolicy(block, known));
      }, answer.body);
      return { ...answer, body };
    },
  };
}

function withPolicy(listener: string, policy: string): string {
  const bare = listener.replace(/<AlpnPolicy ?\/>|<AlpnPolicy>.*?<\/AlpnPolicy>/s, '');
  return bare.replace(/<\/member>$/, `<AlpnPolicy><member>${policy}</member></AlpnPolicy></member>`);
}
