export const PROVIDER_ID_SCHEME = 'azure';

/**
 * A Node's providerID by the id of its machine. As upstream writes it: the name of the resource group in lower case, because Azure gives it now so,
 * now so (providers 1b). Pure.
 */
export function providerIDOf(machineID: string): string {
  const written = machineID.replace(/(\/resourceGroups\/)([^/]+)/i, (_all, word: string, group: string) => word + group.toLowerCase());
  return `azure://${written}`;
}

/**
 * What tells a machine from others: its id in lower case. Undefined for what is no machine of Azure's, and for one in another resource group than
 * those that are listed: its Node is let alone, as upstream does with what it calls unmanaged. Pure.
 */
export function machineIn(providerID: string, resourceGroups: readonly string[]): string | undefined {
  const form =
    /^azure:\/\/(\/subscriptions\/[^/]+\/resourcegroups\/([^/]+)\/providers\/microsoft\.compute\/(?:virtualmachinescalesets\/[^/]+\/)?virtualmachines\/[^/]+)$/i;
  const [, id = '', group = ''] = form.exec(providerID) ?? [];
  return resourceGroups.some((one) => one.toLowerCase() === group.toLowerCase()) ? id.toLowerCase() : undefined;
}
