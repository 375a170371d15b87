import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudLoadBalancerSpec } from '../../../crds/cloud-load-balancer';
import type { LoadBalancer } from '../../../extensions';
import { OperatorError } from '../../../operator/base/errors';
import { findExtension, type ExtensionModule } from '../../../operator/updates/extension-module';
import type { StackUpdate, UpdateResult } from '../../../operator/updates/update';
import type { FakeInputs } from '../updates/fake-provider';
import { UpdatesHarness } from '../updates/harness';

const spec = cloudLoadBalancerSpec.parse({
  provider: 'fake',
  listeners: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }],
  local: {},
});

/** The load balancer that every stack of these tests carries. */
export const WEB: LoadBalancer = { uid: 'uid-web', namespace: 'default', name: 'web', spec };

/** An update engine with a fake cloud, and extensions that tests write. */
export class ExtendedHarness extends UpdatesHarness {
  private readonly folder = mkdtempSync(join(tmpdir(), 'cloud-operator-extension-'));
  private written = 0;

  /** Writes an extension of one file; each has a folder of its own. */
  write(source: string): ExtensionModule {
    const path = join(this.folder, `extension-${++this.written}.ts`);
    writeFileSync(path, source);
    return findExtension(path, '/');
  }

  /** Runs a stack with the extension's transform. */
  transformed(stack: string, module: ExtensionModule, inputs: FakeInputs, more: Partial<StackUpdate> = {}): Promise<UpdateResult> {
    return this.run(stack, inputs, { extension: { role: 'transform', module, loadBalancers: [WEB] }, ...more });
  }

  /** As `transformed`, for an update that must fail. */
  async refused(stack: string, module: ExtensionModule, inputs: FakeInputs, more: Partial<StackUpdate> = {}): Promise<OperatorError> {
    const error = await this.transformed(stack, module, inputs, more).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof OperatorError)) throw new Error(`expected an OperatorError, got ${String(error)}`);
    return error;
  }

  override async stop(): Promise<void> {
    await super.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
