/** What a kubelet says of the image that it is about to pull. */
export interface ImageRequest {
  /** As the Pod writes it, such as `registry.example.com/web:1`. */
  image: string;
  /** Of the Pod's ServiceAccount, where the kubelet was told to send it. */
  serviceAccountToken?: string;
  /** Those of the ServiceAccount's that the kubelet was told to send. */
  serviceAccountAnnotations: Readonly<Record<string, string>>;
}

/** What lets somebody in at registries. Holds a secret: never logged. */
export interface RegistryCredentials {
  /** Hosts that it is good for. */
  registries: string[];
  username: string;
  password: string;
  /** How long it may be kept, in milliseconds. */
  cacheMs: number;
}

/** How long credentials may be kept that hold until `expiresAt`: half of their time, so that none is used that ends under way. Pure. */
export function cacheMsOf(expiresAt: number, now: number): number {
  return Math.max(0, Math.floor((expiresAt - now) / 2000) * 1000);
}

/** The registry in the name of an image. Pure. */
export function registryOf(image: string): string {
  return image.split('/')[0] ?? '';
}
