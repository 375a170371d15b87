import { request } from 'undici';
import type { JsonObject } from '../../../operator/base/json';
import { apiVersionOf } from '../../../providers/azure/client/api-versions';
import { ArmClient } from '../../../providers/azure/client/arm-client';
import { findEndpoints } from '../../../providers/azure/config/endpoints';
import { loadBalancer } from '../../../providers/azure/resources/load-balancer';
import type { CommonInputs, Found, OwnedDescription } from '../../../providers/azure/resources/owned-resource';
import { outputsOf } from '../../../providers/azure/resources/owned-resource';
import { publicIPAddress } from '../../../providers/azure/resources/public-ip-address';
import { AZURE_NATIVE_VERSION } from '../../../providers/azure/worker';
import type { ResourceType } from '../../../providers/resource-provider/resource-provider';
import { serveAsPlugin } from '../extensions/plugin-process';

const azureApiVersion = apiVersionOf('Microsoft.Network/loadBalancers');

/**
 * Stands in the place of the official plugin of Azure, as its process: found by its name, reached by its environment alone, with a token that it asks a managed
 * identity for. It is as blunt as that one: it makes nothing that is there, puts the whole of a resource whatever others have put into it, asks for no etag,
 * adds the version of the API to every resource's inputs, and has Azure's spelling of ids.
 */
class OfficialType implements ResourceType {
  readonly token: string;
  readonly replaceOn: readonly string[];
  readonly deleteBeforeReplace = true;

  constructor(
    private readonly description: OwnedDescription<CommonInputs>,
    private readonly arm: ArmClient,
  ) {
    this.token = description.token;
    this.replaceOn = description.replaceOn;
  }

  keep(): JsonObject {
    return { azureApiVersion };
  }

  async create(inputs: JsonObject): Promise<{ id: string; outputs: JsonObject }> {
    const id = this.description.idOf(set(inputs));
    if ((await this.arm.get(id)) !== undefined) throw new Error(`cannot create already existing resource '${id}'`);
    return this.put(id, inputs);
  }

  /** The official one keeps the names that a state's inputs have. Here they are those of the id, as the tests write them: in lower case. */
  async read(id: string): Promise<{ inputs: JsonObject; outputs: JsonObject } | undefined> {
    const found = await this.arm.get<Found>(id);
    return found === undefined ? undefined : this.whole({ ...found, id: id.toLowerCase() });
  }

  async update(id: string, _olds: JsonObject, news: JsonObject): Promise<{ outputs: JsonObject }> {
    return this.put(id, news);
  }

  delete(id: string): Promise<void> {
    return this.arm.remove(id);
  }

  private async put(id: string, inputs: JsonObject): Promise<{ id: string; outputs: JsonObject }> {
    const { tags } = set(inputs);
    const made = await this.arm.put<Found>(id, { ...this.description.body(set(inputs)), tags });
    return { id: made.id, outputs: { ...this.whole(made).outputs, ...inputs } };
  }

  /** With the parts of everybody. */
  private whole(found: Found): { inputs: JsonObject; outputs: JsonObject } {
    const { inputs, observed } = this.description.describe(found, [found.properties]);
    const all = { ...(inputs as unknown as JsonObject), azureApiVersion };
    return { inputs: all, outputs: { ...outputsOf(all, observed), etag: found.etag, provisioningState: 'Succeeded' } };
  }
}

/** What the program has set. */
function set({ azureApiVersion: _unused, ...inputs }: JsonObject): CommonInputs {
  return inputs as unknown as CommonInputs;
}

/** As Azure's libraries ask an App Service's identity (learn.microsoft.com, "How to use managed identities for App Service and Azure Functions"). */
async function tokenFor(resource: string): Promise<string> {
  const { IDENTITY_ENDPOINT = '', IDENTITY_HEADER = '' } = process.env;
  const query = new URLSearchParams({ 'api-version': '2019-08-01', resource });
  const { body } = await request(`${IDENTITY_ENDPOINT}?${query.toString()}`, { headers: { 'x-identity-header': IDENTITY_HEADER } });
  const { access_token: token } = (await body.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`the managed identity gives no token for ${resource}`);
  return token;
}

async function main(): Promise<void> {
  const { ARM_SUBSCRIPTION_ID = '', ARM_METADATA_HOSTNAME = '', ARM_USE_MSI } = process.env;
  if (ARM_USE_MSI !== 'true') throw new Error('it is told of no identity');
  const { resourceManager, audience } = await findEndpoints({ resourceManagerEndpoint: `http://${ARM_METADATA_HOSTNAME}` });
  const arm = new ArmClient({ resourceManager, token: () => tokenFor(`${audience}/`) });
  const served = [publicIPAddress(ARM_SUBSCRIPTION_ID), loadBalancer(ARM_SUBSCRIPTION_ID, { clusterName: '' })];
  const types = (served as unknown as OwnedDescription<CommonInputs>[]).map((description) => new OfficialType(description, arm));
  await serveAsPlugin({ package: 'azure-native', version: AZURE_NATIVE_VERSION, types });
}

void main();
