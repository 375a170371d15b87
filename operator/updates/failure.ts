import { type ServiceError, status } from '@grpc/grpc-js';
import { type ErrorCode, OperatorError } from '../base/errors';
import { nameOfUrn } from './checkpoint';
import { departureOf, MISSED } from './departure';

/** Everything that is known about an update that failed. */
export interface FailureEvidence {
  stack: string;
  /** The state endpoint refused the engine: the lease or a race was lost. */
  refusal?: OperatorError;
  /** It was held to a plan that somebody has approved. */
  approved?: true;
  /** What is left of it, where only deletions failed. */
  undeleted?: readonly string[];
  /** The update was told to stop, and why. */
  canceled?: string;
  /** Errors of our own resource providers, exact, in the order they came. */
  resources: { urn: string; error: OperatorError }[];
  /** What the program threw, or how it misbehaved. */
  program?: OperatorError;
  /** Error diagnostics of the engine and of other people's plugins. */
  diagnostics: { urn?: string; message: string }[];
  /** How the engine's process ended. */
  exit?: { code: number | null; signal: string | null; stderr: string };
}

/** What the engine and plugins say in words, for providers that aren't ours. Tried in this order. */
const PHRASES: readonly [RegExp, ErrorCode][] = [
  [/throttl|rate exceeded|too many requests|\b429\b|slow ?down/i, 'Throttled'],
  [/unauthorized|access ?denied|forbidden|invalid.*credential|expired ?token|\b40[13]\b/i, 'Credentials'],
  [/quota|limit ?(exceeded|reached)|limit has been reached/i, 'Quota'],
  [/already exist(s|ing)|conflict|\b409\b|\b412\b|precondition/i, 'Conflict'],
  [/duplicate resource urn|invalid|malformed|must be|is required|\b400\b|\b422\b/i, 'Invalid'],
  [/timeout|timed out|connection (refused|reset)|unavailable|temporar|\b50[0234]\b|EOF/i, 'Transient'],
];

/** Somebody else's plugin is not there, or only in another version; what the engine says to do about it is for people at a terminal. */
const MISSING_PLUGIN = /no resource plugin '(pulumi-resource-[^']+)' found in the workspace(?: at version [\w.+-]+)? or on your \$PATH/;

/** Somebody else's plugin would have to make what is there already. */
const TAKEN = /already exist(s|ing)/i;
const TAKEN_REMEDY =
  'an official plugin joins and takes over nothing that is there: remove it, or have a stack that is new made with spec.plugin: BuiltIn of the CloudProvider';

/** Turns everything known about a failed update into the one error that the operator acts on. Pure. */
export function classifyFailure(evidence: FailureEvidence): OperatorError {
  const error = classified(evidence);
  const { code, message, resource } = error;
  if (evidence.undeleted === undefined) return error;
  const detail = { ...detailOf(error), ...(resource !== undefined && { resource }), undeleted: evidence.undeleted };
  return new OperatorError(code, message, { ...detail, cause: error });
}

function classified(evidence: FailureEvidence): OperatorError {
  const { stack, refusal, canceled, resources, exit } = evidence;
  if (refusal !== undefined) {
    return new OperatorError(
      refusal.code,
      `stack ${stack}: the update was stopped because its state could not be stored: ${refusal.message}`,
      { ...detailOf(refusal), cause: refusal },
    );
  }
  const gravest = worst(resources);
  if (canceled !== undefined && (gravest === undefined || gravest.error.code === 'Canceled')) {
    return new OperatorError('Canceled', `stack ${stack}: the update was stopped: ${canceled}`);
  }
  const departure = departureOf(evidence);
  if (departure !== undefined) return departure;
  if (gravest !== undefined) return resourceError(stack, gravest, resources.length - 1);
  // A program whose engine was killed fails as well, at its next call.
  if (exit?.signal) return endedEarly(stack, `signal ${exit.signal}`);
  return missingPlugin(evidence) ?? programFailure(evidence) ?? fromWords(evidence);
}

/** What gRPC says in a program when the engine at the other end has gone. Pure. */
export function isLostEngine(thrown: unknown): boolean {
  const { code, details } = (thrown ?? {}) as Partial<ServiceError>;
  return typeof details === 'string' && (code === status.UNAVAILABLE || code === status.CANCELLED);
}

/** The class that a text of the engine or of a plugin stands for. Pure. */
export function codeOfWords(text: string): ErrorCode {
  return PHRASES.find(([pattern]) => pattern.test(text))?.[1] ?? 'Unknown';
}

/** Only one of several errors is reported: first the ones that only a person can repair, then the one with the longest wait. */
function worst(resources: FailureEvidence['resources']): FailureEvidence['resources'][number] | undefined {
  const rank = ({ error }: FailureEvidence['resources'][number]): number => {
    if (error.code === 'Canceled') return 3;
    return error.terminal ? 0 : error.code === 'Throttled' ? 1 : 2;
  };
  return [...resources].sort((a, b) => rank(a) - rank(b) || (b.error.retryAfterMs ?? 0) - (a.error.retryAfterMs ?? 0))[0];
}

function resourceError(stack: string, { urn, error }: FailureEvidence['resources'][number], others: number): OperatorError {
  const name = nameOfUrn(urn);
  const where = error.message.includes(`"${name}"`) ? '' : `resource "${name}": `;
  const more = others > 0 ? ` (and ${others} more ${others === 1 ? 'failure' : 'failures'})` : '';
  return new OperatorError(error.code, `stack ${stack}: ${where}${error.message}${more}`, {
    ...detailOf(error),
    resource: urn,
    cause: error,
  });
}

/** A program that has lost its engine does not know why that ended; the engine may have said so. */
function programFailure({ stack, program, diagnostics }: FailureEvidence): OperatorError | undefined {
  if (program === undefined || (isLostEngine(program.cause) && diagnostics.length > 0)) return undefined;
  const resource = program.resource === undefined ? {} : { resource: program.resource };
  return new OperatorError(program.code, `stack ${stack}: ${program.message}`, { ...detailOf(program), ...resource, cause: program });
}

function fromWords({ stack, diagnostics, exit }: FailureEvidence): OperatorError {
  const causes = diagnostics.filter(({ message }) => !MISSED.test(message));
  const told = causes.find(({ urn }) => urn !== undefined) ?? causes[0] ?? { message: exit?.stderr ?? '' };
  const words = firstLines(told.message);
  if (words !== '') {
    const detail = { ...(told.urn !== undefined && { resource: told.urn }), ...(TAKEN.test(words) && { remedy: TAKEN_REMEDY }) };
    return new OperatorError(codeOfWords(words), `stack ${stack}: ${words}`, detail);
  }
  return endedEarly(stack, `exit code ${exit?.code ?? 'unknown'}`);
}

/** The program is told as well, and may be the only one. */
function missingPlugin({ stack, program, diagnostics, exit }: FailureEvidence): OperatorError | undefined {
  const texts = [...diagnostics.map(({ message }) => message), program?.message ?? '', exit?.stderr ?? ''];
  const [words, plugin] = texts.map((text) => MISSING_PLUGIN.exec(text)).find((found) => found !== null) ?? [];
  if (words === undefined) return undefined;
  return new OperatorError('Invalid', `stack ${stack}: ${words}`, {
    remedy: `put ${plugin} into /usr/local/bin of the operator's image (docs/extend.md)`,
  });
}

function endedEarly(stack: string, how: string): OperatorError {
  return new OperatorError('Transient', `stack ${stack}: the Pulumi engine ended with ${how} before the update was complete`);
}

function detailOf(error: OperatorError): { retryAfterMs?: number; field?: string; remedy?: string; reason?: string } {
  return {
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
    ...(error.reason === undefined ? {} : { reason: error.reason }),
  };
}

/** A message for a status field: without stack traces and blank lines. */
function firstLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const told = lines.filter((line) => line !== '' && !/^at\s/.test(line)).slice(0, 4);
  return told.join(' ').slice(0, 800);
}
