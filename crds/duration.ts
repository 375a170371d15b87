import { z } from 'zod';
import { withRules } from './rule';

const FORM = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$';
const HOURS: Readonly<Record<string, number>> = { ms: 1 / 3_600_000, s: 1 / 3600, m: 1 / 60, h: 1 };
/** A year; a number without end would be no date any more. */
const MAX_HOURS = 8760;

/** `10s`, `5m`, `1h30m`. */
export const duration = withRules(z.string().min(1).max(32).meta({ description: 'A duration such as 30s, 10m or 1h30m.' }), [
  {
    cel: `self.matches(r'${FORM}')`,
    holds: (text) => new RegExp(FORM).test(text),
    message: 'must be a duration such as 30s, 10m or 1h30m',
  },
  {
    // CEL's own duration() fails on what has more than 290 years.
    cel: `!self.matches(r'${FORM}') || (!self.matches('[0-9]{8}') && duration(self) <= duration('${MAX_HOURS}h'))`,
    holds: (text) => !new RegExp(FORM).test(text) || (!/[0-9]{8}/.test(text) && hoursOf(text) <= MAX_HOURS),
    message: `must be at most ${MAX_HOURS}h, which is a year`,
  },
]);

/** A duration that is not zero. */
export const period = withRules(duration, [
  { cel: "self.matches('[1-9]')", holds: (text) => /[1-9]/.test(text), message: 'must be longer than zero, for example 10s' },
]);

/** A duration that is at least so many seconds long. @param zero whether 0s is another word for never */
export function durationFrom(seconds: number, zero: 'Never' | 'Refused'): typeof duration {
  const exempt = zero === 'Never' ? " || !self.matches('[1-9]')" : '';
  return withRules(duration, [
    {
      cel: `!self.matches(r'${FORM}') || self.matches('[0-9]{8}')${exempt} || duration(self) >= duration('${seconds}s')`,
      holds: (text) => !new RegExp(FORM).test(text) || (zero === 'Never' && !/[1-9]/.test(text)) || hoursOf(text) * 3600 >= seconds,
      message: `must be at least ${seconds}s${zero === 'Never' ? ', or 0s for never' : ''}`,
    },
  ]);
}

function hoursOf(text: string): number {
  const parts = [...text.matchAll(/([0-9.]+)(ms|s|m|h)/g)];
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (HOURS[unit] ?? 0), 0);
}
