import { z } from 'zod';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import { hashJson, type JsonObject } from '../../../operator/base/json';
import type { DiscoveredResource } from '../../provider';
import { problemsIn } from '../../resource-provider/check';
import type { ResourceContext, ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import { holderOf, isOfStack } from '../tags';
import type { Api } from './description';

const schema = z.strictObject({ listenerArn: z.string().min(1), certificateArn: z.string().min(1) });
type Inputs = z.infer<typeof schema>;

/** What the official provider has of it. */
export const listenerCertificate = {
  token: 'aws:lb/listenerCertificate:ListenerCertificate',
  replaceOn: ['listenerArn', 'certificateArn'],
  schema,
} as const;

/** Its name in the program, by that of its listener. Pure. */
export function certificateName(listener: string, certificateArn: string): string {
  return `${listener}-certificate-${hashJson(certificateArn).slice(0, 10)}`;
}

/** One that a listener has, as discovery tells it. Pure. @param listener its name in the program */
export function foundCertificate(listener: string, listenerArn: string, certificateArn: string): DiscoveredResource {
  const inputs = { listenerArn, certificateArn };
  return { type: listenerCertificate.token, name: certificateName(listener, certificateArn), id: idOf(inputs), inputs, outputs: inputs };
}

/** A certificate of a listener beside its default one. It bears no tags; its listener's say whose it is. */
export class ListenerCertificateResource implements ResourceType {
  readonly token = listenerCertificate.token;
  readonly replaceOn = listenerCertificate.replaceOn;

  constructor(
    private readonly clients: Omit<Api, 'options'>,
    private readonly updateContext: UpdateContext,
  ) {}

  check(inputs: JsonObject): { property: string; reason: string }[] {
    return problemsIn(schema, inputs);
  }

  /** To add what is there already changes nothing. */
  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const wanted = schema.parse(inputs);
    const { elb, options } = this.api(context);
    await elb.addListenerCertificates(callOf(wanted), options);
    return { id: idOf(wanted), outputs: inputs };
  }

  async read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const inputs = partsOf(id);
    return (await this.isThere(inputs, this.api(context))) ? { inputs, outputs: inputs } : undefined;
  }

  /** Nothing of it can change but that it is there. */
  async update(_id: string, _olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    return this.create(news, context);
  }

  /** @throws OperatorError Conflict where the listener is somebody else's */
  async delete(id: string, context: ResourceContext): Promise<void> {
    const inputs = partsOf(id);
    const api = this.api(context);
    const tags = await api.elb.tagsOf(inputs.listenerArn, api.options);
    if (tags === undefined) return;
    if (!isOfStack(this.updateContext, tags)) {
      const message = `${this.token} ${context.name}: listener ${inputs.listenerArn} is not changed, because by its tags it belongs to ${holderOf(tags)}`;
      throw new OperatorError('Conflict', message, { resource: context.urn });
    }
    // A listener that does not speak TLS any more has none, and AWS refuses to take one from it.
    if (await this.isThere(inputs, api)) await api.elb.removeListenerCertificates(callOf(inputs), api.options);
  }

  private async isThere({ listenerArn, certificateArn }: Inputs, { elb, options }: Api): Promise<boolean> {
    try {
      return (await elb.listenerCertificates(listenerArn, options)).includes(certificateArn);
    } catch (thrown) {
      if (toOperatorError(thrown).code === 'NotFound') return false;
      throw thrown;
    }
  }

  private api({ signal }: ResourceContext): Api {
    return { ...this.clients, options: { signal, assertValid: () => this.updateContext.assertValid() } };
  }
}

function callOf({ listenerArn, certificateArn }: Inputs): { ListenerArn: string; Certificates: { CertificateArn: string }[] } {
  return { ListenerArn: listenerArn, Certificates: [{ CertificateArn: certificateArn }] };
}

/** As the official provider has it: an underscore, which no ARN of a listener has, stands between the two. */
function idOf({ listenerArn, certificateArn }: Inputs): string {
  return `${listenerArn}_${certificateArn}`;
}

function partsOf(id: string): Inputs {
  const end = id.indexOf('_');
  return { listenerArn: id.slice(0, end), certificateArn: id.slice(end + 1) };
}
