import { httpGet } from '../traffic';
import type { World } from '../world';

const TIMEOUT_MS = 2000;

/** (f) Two Services on one address: neither an invalid change of one nor its end disturbs the other. */
export async function servicesShareAnAddress(world: World, manifest: string): Promise<void> {
  const { report } = world;
  report.heading('f', 'kubectl apply -f examples/shared.yaml: two Services on one placement');
  await world.kubectl('apply', '-f', manifest);
  const { value, seconds } = await world.until('an address for shop and blog', async () => {
    const [shop, blog] = await Promise.all([world.ingressOf('shop'), world.ingressOf('blog')]);
    return shop !== undefined && blog !== undefined && { shop, blog };
  });
  const { shop, blog } = value;
  report.prove(shop.ip === blog.ip, 'one address for both', `${shop.ip} and ${blog.ip} after ${seconds.toFixed(2)} s`);
  const [shopAt, blogAt] = [await world.sharedEndpoint('shop'), await world.sharedEndpoint('blog')];
  const ask = async (): Promise<string[]> => [await httpGet(shopAt, TIMEOUT_MS), await httpGet(blogAt, TIMEOUT_MS)];
  const answers = await ask();
  report.prove(
    answers[0] !== answers[1],
    `both answer, on ports ${shopAt.port} and ${blogAt.port}`,
    answers.map((answer) => answer.trim()).join(', '),
  );

  await world.kubectl('patch', 'service', 'blog', '--patch', '{"spec":{"loadBalancerIP":"2001:db8::1"}}');
  await world.kubectl('wait', '--for=condition=Stalled', 'cloudloadbalancer/blog', '--timeout=10s');
  const reason = await world.kubectl(
    'get',
    'cloudloadbalancer',
    'blog',
    '--output',
    'jsonpath={.status.conditions[?(@.type=="Stalled")].reason}',
  );
  const during = await ask();
  report.prove(
    reason === 'Invalid' && !during.includes(''),
    'an invalid change of blog (an IPv6 address, of a Service that has IPv4 only): both go on',
    `blog is Stalled, ${reason}`,
  );

  await world.kubectl('delete', 'service', 'blog');
  const refused = await httpGet(blogAt, TIMEOUT_MS).then(
    () => false,
    () => true,
  );
  const answer = await httpGet(shopAt, TIMEOUT_MS);
  report.prove(refused && answer !== '', 'blog is deleted: its port is closed, shop answers at the same address', answer.trim());
}
