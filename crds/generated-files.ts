import { toCRD } from './crd';
import { KINDS } from './index';
import { kindsReference } from './reference';
import { toYaml } from './yaml';

/** The files that are generated from the kinds: path in the project → text. */
export function generatedFiles(): Map<string, string> {
  const crds = KINDS.map((kind): [string, string] => [
    `crds/generated/${kind.plural}.yaml`,
    `# Generated from crds/*.ts by \`npm run generate\`. Do not edit.\n${toYaml(toCRD(kind))}`,
  ]);
  return new Map([...crds, ['docs/reference/kinds.md', kindsReference(KINDS)]]);
}
