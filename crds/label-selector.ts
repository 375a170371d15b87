import { z } from 'zod';
import { withRules } from './rule';

/** A label's key, with its prefix or without (kubernetes.io, "Labels and Selectors"). */
export const LABEL_KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** A label's value, which may be empty. */
export const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

const requirement = withRules(
  z
    .object({
      key: z.string().max(317).regex(LABEL_KEY).meta({ description: 'The label’s key.' }),
      operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).meta({ description: 'In and NotIn have values, the others none.' }),
      values: z.array(z.string().max(63).regex(LABEL_VALUE)).max(64).optional().meta({ description: 'Of In and NotIn.' }),
    })
    .meta({ description: 'What is asked of one label.' }),
  [
    {
      cel: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
      holds: ({ operator, values = [] }) => (operator === 'In' || operator === 'NotIn') === values.length > 0,
      message: 'values must be set with In and NotIn, and only with these',
    },
  ],
);

/** Kubernetes' own LabelSelector: all that it says must hold. */
export const labelSelector = z.object({
  matchLabels: z.record(z.string().max(317), z.string().max(63)).optional().meta({ description: 'Labels with these values.' }),
  matchExpressions: z.array(requirement).max(16).optional().meta({ description: 'Other demands on labels.' }),
});
