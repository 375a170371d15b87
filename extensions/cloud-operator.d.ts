/* eslint-disable @typescript-eslint/consistent-type-imports -- the declaration of a module by name can't import by a relative path */
/** The name under which extensions in this repository import `index.ts`, as extensions anywhere else do. */
declare module 'cloud-operator/extensions' {
  export type Extension = import('./index').Extension;
  export type LoadBalancer = import('./index').LoadBalancer;
  export type PublishedLoadBalancer = import('./index').PublishedLoadBalancer;
  export type StackOutputs = import('./index').StackOutputs;
  export type TransformedResource = import('./index').TransformedResource;
  export const defineExtension: typeof import('./index').defineExtension;
}
