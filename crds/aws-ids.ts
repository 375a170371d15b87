import { z } from 'zod';

/** An id of EC2, for example `vpc-0a1b2c3d`. */
export function awsID(prefix: string): z.ZodString {
  return z
    .string()
    .max(64)
    .regex(new RegExp(`^${prefix}-[0-9a-f]+$`));
}

/** An Amazon Resource Name of some service, in any partition; `service` as it stands in the name, alternatives separated by `|`. */
export function arn(service: string): z.ZodString {
  return z
    .string()
    .max(2048)
    .regex(new RegExp(`^arn:aws[a-z0-9-]*:(${service}):[^\\s]+$`));
}

/** An id, or the value of the tag Name. */
export const idOrName = z.string().min(1).max(255);

/** The value of a tag. */
export const tagValue = z.string().max(256);
