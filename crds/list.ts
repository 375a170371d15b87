import { z } from 'zod';

/** A list in which no value stands twice. Server-side apply merges it by value. */
export function setOf<S extends z.ZodType<string>>(items: S, limits: ListLimits): z.ZodArray<S> {
  const list = limited(items, limits).refine((values) => new Set(values).size === values.length, {
    message: 'must not name anything twice',
  });
  return list.meta({ description: limits.description, 'x-kubernetes-list-type': 'set' });
}

/** A list in which no two items have the same `key`. Server-side apply merges it item by item. */
export function mapOf<S extends z.ZodType<object>>(items: S, key: keyof z.output<S> & string, limits: ListLimits): z.ZodArray<S> {
  const keysOf = (values: z.output<S>[]): unknown[] => values.map((value) => value[key]);
  const list = limited(items, limits).refine((values) => new Set(keysOf(values)).size === values.length, {
    message: `two items have the same ${key}`,
  });
  return list.meta({ description: limits.description, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });
}

export interface ListLimits {
  min?: number;
  max: number;
  description: string;
}

function limited<S extends z.ZodType>(items: S, { min, max }: ListLimits): z.ZodArray<S> {
  const list = z.array(items).max(max);
  return min === undefined ? list : list.min(min);
}
