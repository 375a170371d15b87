import { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';

/** What a target group does about targets that are not healthy, in the official provider's shape. */
export const targetGroupHealth = {
  /** Only TCP and TLS have one. */
  targetHealthStates: z
    .array(z.strictObject({ enableUnhealthyConnectionTermination: z.boolean(), unhealthyDrainingInterval: z.number().int() }))
    .length(1)
    .optional(),
  /** Counts and percentages as the official types have them; `off` = it does not count. */
  targetGroupHealth: z.strictObject({
    dnsFailover: z.strictObject({ minimumHealthyTargetsCount: z.string(), minimumHealthyTargetsPercentage: z.string() }),
    unhealthyStateRouting: z.strictObject({ minimumHealthyTargetsCount: z.number().int(), minimumHealthyTargetsPercentage: z.string() }),
  }),
};
export type TargetGroupHealth = z.infer<z.ZodObject<typeof targetGroupHealth>>;

const CUTS = 'target_health_state.unhealthy.connection_termination.enabled';
const DRAINS = 'target_health_state.unhealthy.draining_interval_seconds';
const DNS = 'target_group_health.dns_failover.minimum_healthy_targets';
const ROUTING = 'target_group_health.unhealthy_state_routing.minimum_healthy_targets';

/** What AWS has while nothing sets it. */
export const USUAL_HEALTH: Readonly<Record<string, string>> = {
  [CUTS]: 'true',
  [DRAINS]: '0',
  [`${DNS}.count`]: '1',
  [`${DNS}.percentage`]: 'off',
  [`${ROUTING}.count`]: '1',
  [`${ROUTING}.percentage`]: 'off',
};

/** The attributes of AWS's API that give the wanted properties. Pure. */
export function healthAttributes({ targetHealthStates, targetGroupHealth: health }: TargetGroupHealth): Record<string, string> {
  const [state] = targetHealthStates ?? [];
  return {
    ...(state !== undefined && {
      [CUTS]: String(state.enableUnhealthyConnectionTermination),
      [DRAINS]: String(state.unhealthyDrainingInterval),
    }),
    [`${DNS}.count`]: health.dnsFailover.minimumHealthyTargetsCount,
    [`${DNS}.percentage`]: health.dnsFailover.minimumHealthyTargetsPercentage,
    [`${ROUTING}.count`]: String(health.unhealthyStateRouting.minimumHealthyTargetsCount),
    [`${ROUTING}.percentage`]: health.unhealthyStateRouting.minimumHealthyTargetsPercentage,
  };
}

/** The properties that attributes stand for. Pure. @param cuts whether the protocol has connections to cut */
export function healthProperties(attributes: Readonly<Record<string, string>>, cuts: boolean): JsonObject {
  const has = (key: string): string => attributes[key] ?? USUAL_HEALTH[key] ?? '';
  const state = { enableUnhealthyConnectionTermination: has(CUTS) === 'true', unhealthyDrainingInterval: Number(has(DRAINS)) };
  const dnsFailover = { minimumHealthyTargetsCount: has(`${DNS}.count`), minimumHealthyTargetsPercentage: has(`${DNS}.percentage`) };
  const unhealthyStateRouting = {
    minimumHealthyTargetsCount: Number(has(`${ROUTING}.count`)),
    minimumHealthyTargetsPercentage: has(`${ROUTING}.percentage`),
  };
  return { ...(cuts && { targetHealthStates: [state] }), targetGroupHealth: { dnsFailover, unhealthyStateRouting } };
}
