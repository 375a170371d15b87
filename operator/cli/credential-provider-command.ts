import { text } from 'node:stream/consumers';
import { EnvHttpProxyAgent, setGlobalDispatcher } from 'undici';
import type { ImageRequest, RegistryCredentials } from '../../providers/registry-credentials';
import { readSmallFile } from '../base/small-file';
import { readRequest, responseOf } from './credential-request';

/** A machine is asked about itself without a proxy. */
const METADATA = '169.254.169.254';

export interface AcrFlags {
  config?: string;
  registryMirror?: string;
}

/** `credential-provider ecr`. @throws OperatorError what the kubelet is told on standard error */
export async function answerForEcr(): Promise<void> {
  const { ecrCredentials } = await import('../../providers/aws/registry/ecr-credentials.js');
  await answer((request) => ecrCredentials(request, { environment: process.env }));
}

/** `credential-provider acr`. @throws OperatorError what the kubelet is told on standard error */
export async function answerForAcr({ config: file, registryMirror = '' }: AcrFlags): Promise<void> {
  const { acrCredentials } = await import('../../providers/azure/registry/acr-credentials.js');
  const { mirrorsIn } = await import('../../providers/azure/registry/acr-registry.js');
  const { parseAzureJson } = await import('../../providers/azure/config/azure-json.js');
  const mirrors = mirrorsIn(registryMirror);
  const { AZURE_CLIENT_ID: clientID } = process.env;
  const machine = {
    useManagedIdentityExtension: true,
    ...(clientID !== undefined && clientID !== '' && { userAssignedIdentityID: clientID }),
  };
  const config = file === undefined ? machine : parseAzureJson(readSmallFile(file)).config;
  await answer((request) => acrCredentials(request, { config, mirrors, environment: process.env }));
}

async function answer(credentialsFor: (request: ImageRequest) => Promise<RegistryCredentials | undefined>): Promise<void> {
  const { NO_PROXY, no_proxy: noProxy = NO_PROXY } = process.env;
  setGlobalDispatcher(new EnvHttpProxyAgent({ noProxy: [noProxy, METADATA].filter(Boolean).join(',') }));
  const request = readRequest(await text(process.stdin));
  process.stdout.write(`${responseOf(await credentialsFor(request))}\n`);
}
