import { waitFor } from '../harness/wait-for';
import { problemsOf } from './checks';
import type { Operator } from './operator';
import { People } from './people';
import type { FaultSystem } from './system';
import { changed, EMPTY_WORLD, type Change, type World } from './world';

/** What people want of a system, change by change; at first nothing. */
export class WantedWorld {
  private readonly people: People;
  private world: World = EMPTY_WORLD;

  constructor(private readonly system: FaultSystem) {
    this.people = new People(system);
  }

  /** Names of the Services, the oldest first. */
  get services(): string[] {
    return Object.keys(this.world.services);
  }

  /** Makes changes one after another. */
  async make(...changes: Change[]): Promise<void> {
    for (const change of changes) {
      await this.people.make(change);
      this.world = changed(this.world, change);
    }
  }

  /** Resolves once all is as wanted. @throws Error naming what is not, when the time is over */
  settled(operators: readonly Operator[], timeoutMs: number): Promise<true> {
    const look = async (): Promise<true> => {
      const problems = await problemsOf(this.world, this.system, operators);
      if (problems.length === 0) return true;
      throw new Error(problems.join('; '));
    };
    return waitFor(look, { what: 'everything to be as wanted', timeoutMs });
  }
}
