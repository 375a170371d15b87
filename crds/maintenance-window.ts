import { z } from 'zod';
import { durationFrom } from './duration';
import { withRules } from './rule';

const MONTHS = 'JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC';
const WEEKDAYS = 'SUN|MON|TUE|WED|THU|FRI|SAT';

/** One field of a schedule: numbers, ranges and steps, separated by commas. */
function field(number: string): string {
  const item = `(\\*|(${number})(-(${number}))?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
}

const FIELDS = [
  field('[0-5]?[0-9]'),
  field('2[0-3]|[01]?[0-9]'),
  field('3[01]|[12][0-9]|0?[1-9]'),
  field(`1[0-2]|0?[1-9]|${MONTHS}`),
  field(`[0-7]|${WEEKDAYS}`),
];
const FORM = `^(?i)${FIELDS.join(' +')}$`;
const SHORT_MONTHS = '0?[2469]|11|FEB|APR|JUN|SEP|NOV';
/** 30 and 31 February, and the 31st of months that have none. Other ways to write such days are found by the operator. */
const NEVER = `^(?i)[^ ]+ +[^ ]+ +(3[01](,3[01])* +(0?2|FEB)|31 +(${SHORT_MONTHS})(,(${SHORT_MONTHS}))*) +\\*$`;

/** RE2, which CEL uses, writes the flag into the expression. */
function regExp(re2: string): RegExp {
  return new RegExp(re2.replace('(?i)', ''), 'i');
}

const schedule = withRules(
  z.string().min(9).max(128).meta({
    description:
      'When the window opens, as in a CronJob: minute, hour, day of the month, month, day of the week; for example 0 2 * * SAT for Saturdays at two.',
  }),
  [
    {
      cel: `self.matches(r'${FORM}')`,
      holds: (text) => regExp(FORM).test(text),
      message:
        'must have five fields as in a CronJob: minute, hour, day of the month, month, day of the week; for example 0 2 * * SAT for Saturdays at two',
    },
    {
      cel: `!self.matches(r'${NEVER}')`,
      holds: (text) => !regExp(NEVER).test(text),
      message: 'no month asked for has that day, so that the window would never open',
    },
  ],
);

/** When changes may reach the cloud. */
export const maintenanceWindow = z
  .object({
    schedule,
    duration: durationFrom(60, 'Refused').meta({ description: 'How long it stays open, for example 4h; at least 1m.' }),
    timeZone: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[A-Za-z][A-Za-z0-9_+\-/]*$/)
      .default('UTC')
      .meta({ description: 'The zone that the schedule speaks of, by its IANA name, for example Europe/Berlin.' }),
  })
  .meta({ description: 'A time in which changes may reach the cloud.' });
export type MaintenanceWindow = z.infer<typeof maintenanceWindow>;

/** When changes may reach the cloud; absent = always. */
export const maintenanceWindows = z.array(maintenanceWindow).min(1).max(16).meta({
  description:
    'When updates may reach the cloud: while one of these windows is open. Absent = always. Where a CloudProvider has windows too, one of each must be open. Deletions and targets do not wait.',
});
