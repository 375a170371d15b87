import { OperatorError } from '../../../operator/base/errors';

/** In which domains Azure has its registries (learn.microsoft.com, "Compare Azure Government and global Azure"). */
const DOMAINS = ['azurecr.io', 'azurecr.cn', 'azurecr.de', 'azurecr.us'];

/** The name of a registry, of a protected one (`name-hash`), or of one of its regions (`name.region.geo`). */
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+\.geo)?$/i;

/**
 * True for a host that is a registry of Azure's: tokens go nowhere else, whatever a Pod writes. Pure.
 * @param suffix of registries in a cloud that is not one of Azure's own
 */
export function isAcr(host: string, suffix?: string): boolean {
  return [...DOMAINS, ...(suffix === undefined ? [] : [suffix])].some((domain) => {
    const end = `.${domain.replace(/^\./, '').toLowerCase()}`;
    return host.toLowerCase().endsWith(end) && NAME.test(host.slice(0, -end.length));
  });
}

/**
 * Registries by those whose images they hold a copy of, as upstream's flag says it: `mcr.microsoft.com:name.azurecr.io,…`. Pure.
 * @throws OperatorError Invalid naming the pair that is none
 */
export function mirrorsIn(text: string): Map<string, string> {
  const mirrors = new Map<string, string>();
  for (const pair of text.split(',').map((one) => one.trim())) {
    if (pair === '') continue;
    const [from, to, ...more] = pair.split(':');
    if (!from || !to || more.length > 0) {
      const remedy = 'Write mcr.microsoft.com:name.azurecr.io.';
      throw new OperatorError('Invalid', `--registry-mirror: "${pair}" is no pair of registries. ${remedy}`, { remedy });
    }
    mirrors.set(from, to);
  }
  return mirrors;
}
