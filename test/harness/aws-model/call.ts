/** A call of one of AWS's query APIs, as it came in. */
export interface ModelCall {
  service: 'ec2' | 'elb' | 'elbv2';
  action: string;
  verb: CallVerb;
  /** Rules may change them; moto gets what they are then. */
  parameters: URLSearchParams;
}

export type CallVerb = 'create' | 'update' | 'delete' | 'list' | 'targets';

/** What goes back. */
export interface ModelAnswer {
  status: number;
  body: string;
}

/** The API versions are how the three services that share a server are told apart. */
const SERVICES: Readonly<Record<string, ModelCall['service']>> = { '2012-06-01': 'elb', '2015-12-01': 'elbv2' };

/** Pure. */
export function parseCall(body: string): ModelCall {
  const parameters = new URLSearchParams(body);
  const action = parameters.get('Action') ?? '';
  return { service: SERVICES[parameters.get('Version') ?? ''] ?? 'ec2', action, verb: verbOf(action), parameters };
}

/** The values of a list parameter: `Names.member.1`, or EC2's `GroupId.1`. Pure. */
export function listOf({ parameters }: ModelCall, name: string): string[] {
  const form = new RegExp(`^${name}(\\.member)?\\.\\d+$`);
  return [...parameters].filter(([key]) => form.test(key)).map(([, value]) => value);
}

/** One field of each entry of a list of structures, in their order: `Targets.member.2.Id`. Pure. */
export function fieldsOf({ parameters }: ModelCall, list: string, field: string): string[] {
  const form = new RegExp(`^${list}(\\.member)?\\.\\d+\\.${field}$`);
  return [...parameters].filter(([key]) => form.test(key)).map(([, value]) => value);
}

/** An error in the form of all three APIs. Pure. */
export function refusal(code: string, message: string, status = 400): ModelAnswer {
  const error = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, body: `<Response><Errors>${error}</Errors>${error}<RequestID>1</RequestID><RequestId>1</RequestId></Response>` };
}

function verbOf(action: string): CallVerb {
  if (action.startsWith('Describe')) return 'list';
  if (/^(Register|Deregister)(Targets|Instances)/.test(action)) return 'targets';
  if (/^(Create(?!Tags)|Authorize)/.test(action)) return 'create';
  return /^(Delete(?!Tags)|Revoke)/.test(action) ? 'delete' : 'update';
}
