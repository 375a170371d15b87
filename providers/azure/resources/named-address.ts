import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { STATE_PACKAGE } from '../../resource-provider/own-package';
import { problemsIn } from '../../resource-provider/check';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { ArmClient } from '../client/arm-client';
import { nameInID } from '../client/resource-id';

/** Type token of a public address that is there already. */
export const NAMED_ADDRESS = `${STATE_PACKAGE}AzureNamedAddress`;

const schema = z.strictObject({
  resourceGroupName: z.string().min(1),
  family: z.enum(['IPv4', 'IPv6']),
  /** One of both. */
  name: z.string().min(1).optional(),
  address: z.string().min(1).optional(),
});
export type NamedAddressInputs = z.infer<typeof schema>;

interface FoundAddress {
  id: string;
  sku?: { name?: string };
  properties: { ipAddress?: string; publicIPAddressVersion?: string; ipConfiguration?: { id: string } };
}

const ARM_TYPE = 'Microsoft.Network/publicIPAddresses';

/**
 * A public address that somebody has made, found by its name or by itself, as a frontend needs it. It is somebody else's, and nothing of it is
 * changed or deleted.
 */
export function namedAddress(arm: ArmClient, subscription: string): ResourceType {
  const find = async (inputs: NamedAddressInputs, { signal, urn }: ResourceContext): Promise<{ id: string; ipAddress: string }> => {
    const { resourceGroupName: group, name, address, family } = inputs;
    const path = `/subscriptions/${subscription}/resourceGroups/${group}/providers/${ARM_TYPE}`;
    const found =
      name === undefined
        ? (await arm.list<FoundAddress>(path, ARM_TYPE, { signal })).find(({ properties }) => properties.ipAddress === address)
        : await arm.get<FoundAddress>(`${path}/${name}`, { signal });
    const called = `public IP address ${name ?? address ?? ''}`;
    const refuse = (what: string, remedy: string): OperatorError =>
      new OperatorError('Invalid', `${called} ${what}. ${remedy}`, { resource: urn, remedy });
    if (found === undefined) throw refuse(`is not in resource group ${group}`, 'Make it, or correct its name or resource group.');
    const { ipAddress = '', publicIPAddressVersion = 'IPv4' } = found.properties;
    if (publicIPAddressVersion !== family) throw refuse(`is of ${publicIPAddressVersion}, and ${family} is asked for`, 'Name another one.');
    if (found.sku?.name !== 'Standard') throw refuse('is not of SKU Standard', 'Upgrade it, or name another one.');
    if (ipAddress === '') throw refuse('has no address yet', 'Make its allocation Static.');
    return { id: found.id, ipAddress };
  };
  const made = async (inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> => {
    const { id, ipAddress } = await find(schema.parse(inputs), context);
    return { id: nameInID(id), outputs: { ...inputs, publicIPAddressId: id, ipAddress } };
  };
  return {
    token: NAMED_ADDRESS,
    replaceOn: ['resourceGroupName', 'family', 'name', 'address'],
    check: (inputs) => problemsIn(schema, inputs),
    create: made,
    read: () => Promise.resolve({ inputs: {}, outputs: {} }),
    update: (_id, _olds, news, context) => made(news, context),
    delete: () => Promise.resolve(),
  };
}
