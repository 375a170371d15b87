import { httpGet, udpEcho } from '../traffic';
import type { World } from '../world';

const REQUESTS = 30;

/** (b) A Service becomes a load balancer that answers. */
export async function serviceAnswers(world: World, manifest: string): Promise<void> {
  const { report } = world;
  report.heading('b', 'kubectl apply -f examples/web.yaml');
  await world.kubectl('apply', '-f', manifest);
  const { value: ingress, seconds } = await world.until('an address in the Service', () => world.ingressOf('web'));
  report.prove(true, 'external address in the Service’s status', `${ingress.ip ?? ingress.hostname} after ${seconds.toFixed(2)} s`);

  const http = await world.endpoint('web', 'http');
  const answers = new Map<string, number>();
  for (let i = 0; i < REQUESTS; i++) {
    const name = /node-\d+/.exec(await httpGet(http, 2000))?.[0] ?? 'somebody else';
    answers.set(name, (answers.get(name) ?? 0) + 1);
  }
  const shares = [...answers].sort().map(([name, count]) => `${name} ${count}`);
  report.prove(answers.size === 3, `${REQUESTS} requests to ${http.ip}:${http.port}, answered by all three nodes`, shares.join(', '));

  const echo = await world.endpoint('web', 'echo');
  const text = `hello ${Date.now()}`;
  const echoed = await udpEcho(echo, text, 2000);
  report.prove(echoed.includes(text), `a datagram to ${echo.ip}:${echo.port} comes back`, echoed.trim());

  await world.until('an address for web-restricted', () => world.ingressOf('web-restricted'));
  const restricted = await world.endpoint('web-restricted', 'http');
  const refusal = await httpGet(restricted, 2000).then(
    () => undefined,
    (error: Error) => error.message,
  );
  report.prove(refusal !== undefined, 'loadBalancerSourceRanges: [198.51.100.0/24] refuses us', refusal ?? 'it answered');
  report.say((await world.kubectl('get', 'cloudloadbalancers')).split('\n').join('\n             '));
}
