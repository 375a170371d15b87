import type { z } from 'zod';
import type { KindDefinition } from './kind';

/** What is wrong with one field, as the API server would say it. */
export interface FieldProblem {
  /** For example `spec.listeners[0].port`. */
  field: string;
  message: string;
}

export type Validated<T> = { ok: true; value: T } | { ok: false; problems: FieldProblem[] };

/**
 * Checks a spec that was made in code, before it is sent: the schema and those CEL rules that need no old object.
 * @returns the spec with the defaults filled in and unknown fields dropped, as the API server would store it
 */
export function validateSpec<Spec extends z.ZodType>(kind: KindDefinition<Spec>, value: unknown): Validated<z.output<Spec>> {
  const parsed = kind.spec.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, problems: parsed.error.issues.map(toProblem) };
}

function toProblem(issue: z.core.$ZodIssue): FieldProblem {
  const path = issue.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return { field: `spec${path}`, message: issue.message };
}
