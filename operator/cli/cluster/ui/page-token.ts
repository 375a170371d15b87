import type { Clock } from '../../../base/clock';
import { OperatorError } from '../../../base/errors';
import type { RawApi } from '../../../kube/client';
import { SERVICE_ACCOUNTS } from '../../../kube/object';
import { objectPath } from '../../../kube/resource-url';
import { statusOf } from '../../../kube/status';

/** Asked for, in seconds; the API server may grant less. */
const LIFETIME_S = 3_600;
/** Renewed when so much of its time is over. */
const RENEW_AFTER = 0.8;

interface TokenRequest {
  spec: { expirationSeconds: number };
  status: { token: string };
}

/** Short-lived tokens of a ServiceAccount that may see the page: the user's own credentials are shown to no Pod. */
export class PageToken {
  private held: { token: string; renewAt: number } | undefined;

  /** @param account `<namespace>/<name>` */
  constructor(
    private readonly api: RawApi,
    private readonly account: string,
    private readonly clock: Clock,
  ) {}

  /** @throws OperatorError NotFound where there is no such ServiceAccount, Credentials where the user may not have its tokens */
  async value(): Promise<string> {
    if (this.held !== undefined && this.clock.monotonic() < this.held.renewAt) return this.held.token;
    const askedAt = this.clock.monotonic();
    const { spec, status } = await this.request();
    this.held = { token: status.token, renewAt: askedAt + spec.expirationSeconds * 1_000 * RENEW_AFTER };
    return status.token;
  }

  private async request(): Promise<TokenRequest> {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: LIFETIME_S } };
    try {
      return (await this.api.raw('POST', objectPath(SERVICE_ACCOUNTS, this.account, 'token'), { body })) as TokenRequest;
    } catch (thrown) {
      const code = statusOf(thrown)?.code;
      const [namespace, name] = this.account.split('/');
      if (code === 404) {
        const remedy = 'cloud-operator manifests --ui has it; --namespace and --service-account name another one (docs/operate/page.md)';
        throw new OperatorError('NotFound', `there is no ServiceAccount ${name} in namespace ${namespace}`, { cause: thrown, remedy });
      }
      if (code !== 403) throw thrown;
      const remedy = `somebody must bind you to the Role cloud-operator-ui in namespace ${namespace} (docs/operate/page.md)`;
      throw new OperatorError('Credentials', `you may not have a token of ServiceAccount ${this.account}`, { cause: thrown, remedy });
    }
  }
}
