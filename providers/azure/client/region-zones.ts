import { OperatorError } from '../../../operator/base/errors';
import type { CallOptions } from '../../client-options';
import type { ArmClient } from './arm-client';

/** Of Microsoft.Resources (learn.microsoft.com, "Providers - Get"). */
const VERSION = '2021-04-01';

interface ResourceProviderOfAzure {
  resourceTypes?: { resourceType: string; zoneMappings?: { location: string; zones?: string[] }[] }[];
}

/**
 * The zones that a region has, as upstream asks for them: those in which it has machines. None where the operator may not ask
 * (`Microsoft.Resources/subscriptions/providers/read`): then nothing of them is said. Asked once.
 */
export class RegionZones {
  private asked: Promise<ReadonlyMap<string, string[]>> | undefined;

  constructor(
    private readonly arm: ArmClient,
    private readonly subscription: string,
  ) {}

  /** @param location Azure's name of the region, such as `westeurope` @throws OperatorError when Azure doesn't answer */
  async of(location: string, options: CallOptions): Promise<string[]> {
    this.asked ??= this.ask(options).catch((thrown: unknown) => {
      this.asked = undefined;
      throw thrown;
    });
    return (await this.asked).get(location.toLowerCase()) ?? [];
  }

  private async ask(options: CallOptions): Promise<ReadonlyMap<string, string[]>> {
    const path = `/subscriptions/${this.subscription}/providers/Microsoft.Compute`;
    const found = await this.arm.read<ResourceProviderOfAzure>(path, VERSION, options).catch((thrown: unknown) => {
      if (thrown instanceof OperatorError && (thrown.code === 'Credentials' || thrown.code === 'NotFound')) return {};
      throw thrown;
    });
    const { resourceTypes = [] }: ResourceProviderOfAzure = found;
    const mappings = resourceTypes.find(({ resourceType }) => resourceType.toLowerCase() === 'virtualmachines')?.zoneMappings ?? [];
    return new Map(mappings.map(({ location, zones = [] }) => [location.replaceAll(' ', '').toLowerCase(), [...zones].sort()]));
  }
}
