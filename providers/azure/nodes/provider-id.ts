import { sameID } from '../client/resource-id';

export const PROVIDER_ID_SCHEME = 'azure';

/**
 * A Node's providerID by the id of its machine. As upstream writes it: the name of the resource group in lower case, because Azure gives it now so,
 * now so (providers 1b). Pure.
 */
export function providerIDOf(machineID: string): string {
  const written = machineID.replace(/(\/resourceGroups\/)([^/]+)/i, (_all, word: string, group: string) => word + group.toLowerCase());
  return `azure://${written}`;
}

/** A machine, as its providerID names it. */
export interface NamedMachine {
  /** Its id in lower case, which tells it from others. */
  id: string;
  resourceGroup: string;
}

/** The machine of a providerID; undefined for what is no machine of Azure's, and for one of another subscription: nobody says that it is gone. Pure. */
export function machineIn(providerID: string, subscriptionID: string): NamedMachine | undefined {
  const form =
    /^azure:\/\/(\/subscriptions\/([^/]+)\/resourcegroups\/([^/]+)\/providers\/microsoft\.compute\/(?:virtualmachinescalesets\/[^/]+\/)?virtualmachines\/[^/]+)$/i;
  const [, id = '', subscription = '', resourceGroup = ''] = form.exec(providerID) ?? [];
  return sameID(subscription, subscriptionID) && id !== '' ? { id: id.toLowerCase(), resourceGroup } : undefined;
}
