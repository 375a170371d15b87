import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = dirname(require.resolve('@pulumi/aws/package.json'));

/** A property as the typings of @pulumi/aws have it. */
export interface OfficialProperty {
  required: boolean;
  type: OfficialType;
}

/** Text, number and flag by their names; a list by what it holds, an object by its properties; `map` of texts by key. */
export type OfficialType = 'string' | 'number' | 'boolean' | 'map' | 'other' | { list: OfficialType } | OfficialObject;
export type OfficialObject = { properties: Record<string, OfficialProperty> };

/** The version of @pulumi/aws that is installed. */
export function officialVersion(): string {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}

/** One resource type of @pulumi/aws: its token as its code has it, the properties that a program sets, and the names of all. */
export function officialResource(token: string): { token: string; inputs: OfficialObject; outputs: string[] } {
  const [, path = '', name = ''] = token.split(':');
  const file = join(ROOT, path);
  const code = readFileSync(`${file}.js`, 'utf8');
  const source = parse(`${file}.d.ts`, readFileSync(`${file}.d.ts`, 'utf8'));
  const args = declarations(source).find((at) => ts.isInterfaceDeclaration(at) && at.name.text === `${name}Args`);
  const resource = declarations(source).find((at) => ts.isClassDeclaration(at) && at.name?.text === name);
  if (args === undefined || resource === undefined) throw new Error(`${file}.d.ts declares no ${name}`);
  return {
    token: /__pulumiType = '([^']+)'/.exec(code)?.[1] ?? '',
    inputs: propertiesOf((args as ts.InterfaceDeclaration).members),
    outputs: (resource as ts.ClassDeclaration).members.filter(ts.isPropertyDeclaration).map((at) => at.name.getText()),
  };
}

function parse(name: string, text: string): ts.SourceFile {
  return ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true);
}

function declarations(source: ts.SourceFile): ts.Statement[] {
  return [...source.statements];
}

function propertiesOf(members: Iterable<ts.TypeElement>): OfficialObject {
  const all = [...members].filter(ts.isPropertySignature);
  return {
    properties: Object.fromEntries(
      all.map((at) => [at.name.getText(), { required: at.questionToken === undefined, type: typeOf(at.type) }]),
    ),
  };
}

/** Takes off what stands around a type: pulumi.Input, and undefined. */
function typeOf(node: ts.TypeNode | undefined): OfficialType {
  if (node === undefined) return 'other';
  if (ts.isUnionTypeNode(node)) return typeOf(node.types.find((one) => one.kind !== ts.SyntaxKind.UndefinedKeyword));
  if (ts.isArrayTypeNode(node)) return { list: typeOf(node.elementType) };
  if (ts.isTypeLiteralNode(node)) return 'map';
  if (!ts.isTypeReferenceNode(node)) return KEYWORDS.get(node.kind) ?? 'other';
  const name = node.typeName.getText();
  if (name === 'pulumi.Input') return typeOf(node.typeArguments?.[0]);
  const [from, namespace, type] = name.split('.');
  return from === 'inputs' && namespace !== undefined && type !== undefined ? nested(namespace, type) : 'other';
}

const KEYWORDS = new Map<ts.SyntaxKind, OfficialType>([
  [ts.SyntaxKind.StringKeyword, 'string'],
  [ts.SyntaxKind.NumberKeyword, 'number'],
  [ts.SyntaxKind.BooleanKeyword, 'boolean'],
]);

let nestedTypes: string | undefined;
const namespaces = new Map<string, ts.SourceFile>();

/** All nested types are in one large file, of which only the namespace that is needed is parsed. */
function nested(namespace: string, name: string): OfficialType {
  nestedTypes ??= readFileSync(join(ROOT, 'types/input.d.ts'), 'utf8');
  const begin = nestedTypes.indexOf(`\nexport declare namespace ${namespace} {`) + 1;
  const source = namespaces.get(namespace) ?? parse(namespace, nestedTypes.slice(begin, nestedTypes.indexOf('\n}', begin) + 2));
  namespaces.set(namespace, source);
  const [module] = declarations(source);
  if (module === undefined || !ts.isModuleDeclaration(module) || module.body === undefined || !ts.isModuleBlock(module.body)) {
    throw new Error(`types/input.d.ts declares no namespace ${namespace}`);
  }
  const found = module.body.statements.filter(ts.isInterfaceDeclaration).find((at) => at.name.text === name);
  return found === undefined ? 'other' : propertiesOf(found.members);
}
