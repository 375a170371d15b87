import type { Json, JsonObject } from '../../../operator/base/json';

/** How one property of a resource stands among the attributes of AWS's API, which are texts. */
export interface Attribute {
  property: string;
  /** AWS's name. */
  attribute: string;
  kind: 'Boolean' | 'Number' | 'Text';
  /** What AWS has while nothing sets it. */
  default: string;
}

/** Properties by name, those of a table among them. */
type Properties = Readonly<Record<string, unknown>>;

/** The attributes that give the wanted properties, all of them. Pure. */
export function attributesOf(table: readonly Attribute[], inputs: Properties): Record<string, string> {
  return Object.fromEntries(
    table.map(({ property, attribute, default: usual }) => {
      const value = inputs[property] as string | number | boolean | undefined;
      return [attribute, String(value ?? usual)];
    }),
  );
}

/** The properties that attributes stand for, all of the table. Pure. */
export function propertiesOf(table: readonly Attribute[], attributes: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    table.map(({ property, attribute, kind, default: usual }): [string, Json] => {
      const text = attributes[attribute] ?? usual;
      if (kind === 'Boolean') return [property, text === 'true'];
      return [property, kind === 'Number' ? Number(text) : text];
    }),
  );
}

/** What AWS has of a table's attributes when nothing was set. Pure. */
export function defaultsOf(table: readonly Attribute[]): Record<string, string> {
  return Object.fromEntries(table.map(({ attribute, default: usual }) => [attribute, usual]));
}

/** What must be sent to turn the attributes that are there into the wanted ones, as the API takes it. Pure. */
export function attributeChanges(
  has: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): { Key: string; Value: string }[] {
  return Object.entries(wanted)
    .filter(([key, value]) => has[key] !== value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([Key, Value]) => ({ Key, Value }));
}
