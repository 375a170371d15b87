import { z } from 'zod';
import { OperatorError } from '../../../operator/base/errors';

/** Where a cloud of Azure's is reached. */
export interface CloudEndpoints {
  /** Of Azure Resource Manager, without a slash at the end. */
  resourceManager: string;
  /** Of Microsoft Entra ID, without a slash at the end. */
  login: string;
  /** For whom tokens are made out, without a slash at the end. */
  audience: string;
  /** What hosts of container registries end with; absent = as Azure has it everywhere. */
  registrySuffix?: string;
}

const PUBLIC: CloudEndpoints = {
  resourceManager: 'https://management.azure.com',
  login: 'https://login.microsoftonline.com',
  audience: 'https://management.core.windows.net',
};
const CHINA: CloudEndpoints = {
  resourceManager: 'https://management.chinacloudapi.cn',
  login: 'https://login.chinacloudapi.cn',
  audience: 'https://management.core.chinacloudapi.cn',
};
const US_GOVERNMENT: CloudEndpoints = {
  resourceManager: 'https://management.usgovcloudapi.net',
  login: 'https://login.microsoftonline.us',
  audience: 'https://management.core.usgovcloudapi.net',
};

/** By the names that azure.json has for them, in capitals. */
const CLOUDS: Readonly<Record<string, CloudEndpoints>> = {
  '': PUBLIC,
  AZURECLOUD: PUBLIC,
  AZUREPUBLICCLOUD: PUBLIC,
  AZURECHINACLOUD: CHINA,
  AZUREUSGOVERNMENT: US_GOVERNMENT,
  AZUREUSGOVERNMENTCLOUD: US_GOVERNMENT,
};

/** The names of the clouds whose endpoints are known. */
export const CLOUD_NAMES = ['AzurePublicCloud', 'AzureChinaCloud', 'AzureUSGovernmentCloud'] as const;

/**
 * The endpoints of a cloud by its name, in capitals or not. Pure.
 * @throws OperatorError Invalid when it is none that is known
 */
export function endpointsOf(cloud: string): CloudEndpoints {
  const found = CLOUDS[cloud.toUpperCase()];
  if (found !== undefined) return found;
  const remedy = `Write one of ${CLOUD_NAMES.join(', ')}, or the endpoint of its resource manager as resourceManagerEndpoint.`;
  throw new OperatorError('Invalid', `there is no cloud "${cloud}". ${remedy}`, { field: 'cloud', remedy });
}

const metadata = z
  .array(
    z.object({
      resourceManager: z.string().min(1).optional(),
      authentication: z.object({ loginEndpoint: z.string().min(1), audiences: z.array(z.string().min(1)).min(1) }),
      suffixes: z.object({ acrLoginServer: z.string().min(1).optional() }).optional(),
    }),
  )
  .min(1);

/** Where a resource manager says where its cloud's other endpoints are; of Azure Stack Hub too. */
export function metadataURL(resourceManager: string): string {
  return `${withoutSlash(resourceManager)}/metadata/endpoints?api-version=2019-05-01`;
}

/**
 * The endpoints of a cloud by what its resource manager says of itself (`metadataURL`). Pure.
 * @throws OperatorError Invalid when that is something else
 */
export function endpointsIn(answer: unknown, resourceManager: string): CloudEndpoints {
  const [first] = metadata.safeParse(answer).data ?? [];
  if (first === undefined) {
    throw new OperatorError('Invalid', `${metadataURL(resourceManager)} does not answer as a resource manager of Azure's does`, {
      field: 'resourceManagerEndpoint',
      remedy: 'Write the endpoint of the resource manager, such as https://management.local.azurestack.external.',
    });
  }
  const { loginEndpoint, audiences } = first.authentication;
  const registrySuffix = first.suffixes?.acrLoginServer;
  return {
    resourceManager: withoutSlash(first.resourceManager ?? resourceManager),
    login: withoutSlash(loginEndpoint),
    audience: withoutSlash(audiences[0] ?? ''),
    ...(registrySuffix !== undefined && { registrySuffix }),
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
