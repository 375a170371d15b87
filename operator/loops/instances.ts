/** Machines as the node loops see them; injected, implemented in operator/cloud/ over the providers' bulk listings. */
export interface Instances {
  /**
   * Looks one Node up: by providerID, else by the provider's selector, else by name in every provider's listing (design: Whose Node).
   * Served from a bulk listing not older than `maxAgeMs`.
   * @throws OperatorError when the cloud can't be asked: never taken for "Missing"
   */
  lookup(node: { name: string; providerID?: string; labels: Record<string, string> }, maxAgeMs: number): Promise<InstanceLookup>;
}

export type InstanceLookup =
  | { state: 'Found'; provider: string; metadata: InstanceMetadata; shutdown: boolean }
  /**
   * The owning provider says that it does not exist, by a listing taken at `listedAt` (monotonic, milliseconds). One that was made less than `lateMs`
   * milliseconds ago may not be listed yet.
   */
  | { state: 'Missing'; provider: string; listedAt: number; lateMs: number }
  /** No provider, or more than one, claims the Node; or one says that it is in its cluster, and no machine of its own. */
  | { state: 'Unclaimed' | 'Ambiguous' | 'Unmanaged'; message: string };

/** Contract 1.5. */
export interface InstanceMetadata {
  providerID: string;
  instanceType: string;
  zone: string;
  region: string;
  addresses: { type: string; address: string }[];
  additionalLabels: Record<string, string>;
}
