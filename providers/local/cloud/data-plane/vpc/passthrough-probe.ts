import { spawnSync } from 'node:child_process';
import type { VpcTier } from './protocol';

/** A rule of every kind that the passthrough engine needs, tried in a network namespace of its own. */
const PROBE = `set -e
ip rule add fwmark 1001 lookup 1001 pref 1000
nft -f - <<'END'
add table inet probe
add set inet probe s { type ipv4_addr ; size 16 ; flags dynamic,timeout ; timeout 1s ; }
add chain inet probe c { type filter hook prerouting priority mangle ; }
add rule inet probe c ct direction original ct mark 0 meta mark set numgen inc mod 2 offset 1
add rule inet probe c ct mark 0 meta mark 1 ct mark set 1
add rule inet probe c ct mark 1 update @s { ip saddr } meta mark set ct mark
add rule inet probe c meta l4proto tcp reject with tcp reset
END
`;

/**
 * Tries whether packets can be handed on as they are.
 * @param env where programs are looked for
 * @returns undefined where they can, else why not and what to do
 */
export function noPassthrough(tier: VpcTier, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (tier === 'vpc-userns')
    return 'the tier vpc-userns reaches its network through a bridge that keeps no client address; run the local cloud as root';
  const { status, error, stderr } = spawnSync('unshare', ['--net', 'sh', '-c', PROBE], {
    env,
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (status === 0) return undefined;
  const why = error?.message ?? stderr.trim().split('\n')[0];
  return `nftables can't be used here: ${why}; install the package nftables, which has the program nft, and a kernel with nf_tables`;
}
