import type { z } from 'zod';

/** A validation that the API server runs in CEL and our own code runs in TypeScript: one meaning, written twice, tested against each other. */
export interface Rule<T> {
  /** The rule in CEL; `self` is the value. */
  cel: string;
  /** Says what is wrong and what to write instead. */
  message: string;
  /** The same rule for `validateSpec`; absent for rules that compare with the old object, which only the API server can run. */
  holds?: (value: T) => boolean;
  /** The field at fault below the value, for example `listeners`; absent = the value itself. */
  field?: string;
}

/** A rule as it stands in a CRD. */
export interface CelRule {
  rule: string;
  message: string;
  fieldPath?: string;
}

const VALIDATIONS = 'x-kubernetes-validations';

/** Adds rules to a schema, after those that it has. */
export function withRules<S extends z.ZodType>(schema: S, rules: Rule<z.output<S>>[]): S {
  const checked = rules.reduce((at, rule) => withCheck(at, rule), schema);
  const before = schema.meta();
  return checked.meta({ ...before, [VALIDATIONS]: [...celRules(before), ...rules.map(toCelRule)] });
}

/** A value that is chosen once. */
export function immutable<S extends z.ZodType>(schema: S, message: string): S {
  return withRules(schema, [{ cel: 'self == oldSelf', message }]);
}

function withCheck<S extends z.ZodType>(schema: S, rule: Rule<z.output<S>>): S {
  const { holds, message, field } = rule;
  if (holds === undefined) return schema;
  return schema.refine(holds, { message, path: field === undefined ? [] : field.split('.') });
}

function celRules(meta: Record<string, unknown> | undefined): CelRule[] {
  return (meta?.[VALIDATIONS] as CelRule[] | undefined) ?? [];
}

function toCelRule(rule: Rule<never>): CelRule {
  return {
    rule: rule.cel,
    message: rule.message,
    ...(rule.field === undefined ? {} : { fieldPath: `.${rule.field}` }),
  };
}
