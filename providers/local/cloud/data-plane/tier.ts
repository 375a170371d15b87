import { spawnSync } from 'node:child_process';
import { OperatorError } from '../../../../operator/base/errors';

/** The tiers with a network of their own. */
export type OwnTier = 'vpc-root' | 'vpc-userns' | 'loopback';

/** `netns` works in a network namespace of others, and only where it is asked for. */
export type Tier = OwnTier | 'netns';

export interface TierChoice {
  tier: Tier;
  /** One line for people: which tier, and why not a better one. */
  reason: string;
}

/** What an instance's network needs, tried with a namespace at `$1`. */
const INSIDE = 'echo 1 > /proc/sys/net/ipv4/ip_forward && ip link add br0 type bridge && ip link add probe0 type veth peer name probe1';

const DESCRIPTIONS: Record<Tier, string> = {
  'vpc-root': 'network namespaces, made as root',
  'vpc-userns': 'network namespaces in a user namespace',
  netns: 'in the network namespace of machines that are there already',
  loopback: 'addresses of 127.0.0.0/8; routes hold for those who ask the userland router',
};

/**
 * Takes the asked tier, or the best that works here; each is tried, not guessed.
 * @param probe gives undefined where the tier works, else why not
 * @throws OperatorError Invalid when the asked one does not work here
 */
export function chooseTier(asked: 'auto', probe?: (tier: Tier) => string | undefined): TierChoice & { tier: OwnTier };
export function chooseTier(asked: 'auto' | Tier, probe?: (tier: Tier) => string | undefined): TierChoice;
export function chooseTier(asked: 'auto' | Tier, probe: (tier: Tier) => string | undefined = probeTier): TierChoice {
  if (asked !== 'auto') {
    const why = probe(asked);
    if (why === undefined) return { tier: asked, reason: `${asked}: ${DESCRIPTIONS[asked]} (asked for)` };
    throw new OperatorError('Invalid', `the tier ${asked} does not work here: ${why}; take "auto" or "loopback"`, { field: 'tier' });
  }
  const refused: string[] = [];
  for (const tier of ['vpc-root', 'vpc-userns'] as const) {
    const why = probe(tier);
    if (why === undefined) return { tier, reason: [`${tier}: ${DESCRIPTIONS[tier]}`, ...refused].join('; ') };
    refused.push(`not ${tier}: ${why}`);
  }
  return { tier: 'loopback', reason: [`loopback: ${DESCRIPTIONS.loopback}`, ...refused].join('; ') };
}

/** Tries a tier for real and cleans up after itself. @returns undefined where it works, else the first line of what failed */
export function probeTier(tier: Tier): string | undefined {
  if (tier === 'loopback') return undefined;
  if (tier === 'netns') return process.getuid?.() === 0 ? undefined : 'this is not root';
  return tier === 'vpc-root' ? probeRoot() : probeUserNamespace();
}

function probeRoot(): string | undefined {
  if (process.getuid?.() !== 0) return 'this is not root';
  const name = `lcprobe-${process.pid}`;
  const made = attempt(['ip', 'netns', 'add', name]);
  if (made !== undefined) return made;
  const works = attempt(['nsenter', `--net=/run/netns/${name}`, '--', 'unshare', '--pid', '--fork', '--kill-child', 'sh', '-c', INSIDE]);
  return works ?? attempt(['ip', 'netns', 'delete', name]);
}

function probeUserNamespace(): string | undefined {
  if (process.platform !== 'linux') return `${process.platform} has no network namespaces`;
  const nested = 'f=$(mktemp) && unshare --net=$f true && nsenter --net=$f -- true && umount $f; status=$?; rm -f $f; exit $status';
  const command = ['unshare', '--user', '--map-root-user', '--net', '--mount', '--pid', '--mount-proc', '--fork', '--kill-child'];
  return attempt([...command, 'sh', '-c', `${INSIDE} && ${nested}`]);
}

function attempt([program = '', ...args]: string[]): string | undefined {
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 10_000 });
  if (error !== undefined) return `${program}: ${error.message}`;
  if (status === 0) return undefined;
  return stderr.trim().split('\n')[0] ?? `${program} ended with ${status}`;
}
