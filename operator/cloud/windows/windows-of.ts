import type { CloudProviderSpec } from '../../../crds';
import type { Problem } from '../../../providers/provider';
import type { Member } from '../stack/stack-kind';
import { windowState, type PlacedWindows, type WindowState } from './window-state';

const FIELD = 'spec.maintenanceWindows';
/** Wall clocks are set, and machines sleep: when a window opens is not waited for in one go. */
const LOOK_AGAIN_MS = 3_600_000;

/** A CloudProvider, as far as its windows go. */
export interface WindowsOfCloud {
  name: string;
  spec: Pick<CloudProviderSpec, 'maintenanceWindows'>;
}

/** Whether the object's updates may reach its cloud at a time (milliseconds since 1970). Pure. */
export function windowOf({ spec }: Pick<Member, 'spec'>, cloud: WindowsOfCloud | undefined, now: number): WindowState {
  const own = placed(FIELD, spec.maintenanceWindows);
  return windowState([...own, ...windowsOfCloud(cloud)], now);
}

/** The same of all that a CloudProvider carries, as far as that one says. Pure. */
export function windowOfCloud(cloud: WindowsOfCloud, now: number): WindowState {
  return windowState(placed(FIELD, cloud.spec.maintenanceWindows), now);
}

function windowsOfCloud(cloud: WindowsOfCloud | undefined): PlacedWindows[] {
  return cloud === undefined ? [] : placed(`${FIELD} of CloudProvider ${cloud.name}`, cloud.spec.maintenanceWindows);
}

function placed(field: string, windows: PlacedWindows['windows'] | undefined): PlacedWindows[] {
  return windows === undefined ? [] : [{ field, windows }];
}

/** What keeps the object's windows from ever opening. Pure. */
export function windowProblems(object: Pick<Member, 'spec'>, cloud: WindowsOfCloud | undefined, now: number): Problem[] {
  const window = windowOf(object, cloud, now);
  return window.state === 'Never' ? [window.problem] : [];
}

/** Milliseconds until updates of all these objects may run, or until that is to be looked at again; 0 = now. Pure. */
export function untilWindow(objects: readonly Pick<Member, 'spec'>[], cloud: WindowsOfCloud | undefined, now: number): number {
  const waits = objects.map((object) => {
    const window = windowOf(object, cloud, now);
    if (window.state === 'Open') return 0;
    return window.state === 'Closed' ? Math.min(window.opensAt - now, LOOK_AGAIN_MS) : LOOK_AGAIN_MS;
  });
  return Math.max(0, ...waits);
}
