import { systemClock } from '../../../operator/base/clock';
import type { JsonObject } from '../../../operator/base/json';
import { ClassicElb } from '../../../providers/aws/client/classic-elb';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { ElbV2 } from '../../../providers/aws/client/elbv2';
import type { AwsSettings } from '../../../providers/aws/client/settings';
import { DESCRIPTIONS } from '../../../providers/aws/resources';
import type { Api, CommonInputs, ResourceDescription } from '../../../providers/aws/resources/description';
import { AWS_VERSION } from '../../../providers/aws/worker';
import type { ResourceContext, ResourceType } from '../../../providers/resource-provider/resource-provider';
import { serveAsPlugin } from '../extensions/plugin-process';

/** What it fills in where a program sets nothing, as the bridge of the official plugin does. */
const DEFAULTS = { ipAddressType: 'ipv4' };

/**
 * Stands in the place of the official plugin of AWS, as its process: found by its name, reached by its environment alone. It is as blunt as that one: what has the
 * name already is no earlier try of its own, what is gone can't be deleted, inputs are filled in and the names of those noted beside them, and outputs that our
 * provider does not know are needed to go on.
 */
class OfficialType implements ResourceType {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly deleteBeforeReplace = true;

  constructor(
    private readonly description: ResourceDescription,
    private readonly api: Omit<Api, 'options'>,
  ) {
    this.token = description.token;
    this.replaceOn = description.replaceOn;
  }

  keep(_olds: JsonObject, news: JsonObject): JsonObject {
    const filled = this.token.endsWith(':LoadBalancer') ? Object.keys(DEFAULTS).filter((name) => news[name] === undefined) : [];
    return { ...Object.fromEntries(filled.map((name) => [name, DEFAULTS[name as keyof typeof DEFAULTS]])), __defaults: filled };
  }

  async create(inputs: JsonObject, context: ResourceContext): Promise<{ id: string; outputs: JsonObject }> {
    const api = this.of(context);
    if ((await this.description.find(set(inputs), api)) !== undefined)
      throw new Error(`${this.token} (${JSON.stringify(inputs.name)}) already exists`);
    const { id, observed } = await this.description.create(set(inputs), api);
    return { id, outputs: outputsOf(inputs, observed) };
  }

  async read(id: string, context: ResourceContext): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const api = this.of(context);
    const listed = await this.description.byID(id, api);
    if (listed === undefined) return undefined;
    const { inputs, observed } = await this.description.describe(listed, api);
    return { inputs: { ...inputs, __defaults: [] }, outputs: outputsOf(inputs, observed) };
  }

  async update(id: string, olds: JsonObject, news: JsonObject, context: ResourceContext): Promise<{ outputs: JsonObject }> {
    if (olds.region === undefined) throw new Error(`${this.token} ${id}: the state has no region`);
    const found = await this.read(id, context);
    if (found === undefined) throw new Error(`${this.token} ${id} does not exist`);
    await this.description.change(id, set(found.inputs), set(news), this.of(context));
    return { outputs: { ...found.outputs, ...news } };
  }

  async delete(id: string, context: ResourceContext): Promise<void> {
    if ((await this.read(id, context)) === undefined) throw new Error(`${this.token} ${id} does not exist`);
    await this.description.remove(id, this.of(context));
  }

  private of({ signal }: ResourceContext): Api {
    return { ...this.api, options: { signal, assertValid: () => undefined } };
  }
}

/** What the program has set, and the defaults that AWS has anyway. */
function set({ __defaults: _unused, ...inputs }: JsonObject): CommonInputs {
  return inputs as unknown as CommonInputs;
}

const outputsOf = (inputs: JsonObject, observed: JsonObject): JsonObject => ({
  ...inputs,
  ...observed,
  region: process.env.AWS_REGION ?? '',
});

async function main(): Promise<void> {
  const { AWS_REGION = '', AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
  const settings: AwsSettings = {
    region: AWS_REGION,
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY },
    endpoints: { EC2: process.env.AWS_ENDPOINT_URL_EC2, ElasticLoadBalancingV2: process.env.AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2 },
  };
  const options = { settings, clock: systemClock };
  const api = { ec2: new Ec2(options), elb: new ElbV2(options), classic: new ClassicElb(options) };
  const types = (DESCRIPTIONS as readonly unknown[] as ResourceDescription[]).map((description) => new OfficialType(description, api));
  await serveAsPlugin({ package: 'aws', version: AWS_VERSION, types });
}

void main();
