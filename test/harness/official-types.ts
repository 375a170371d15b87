import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** A property as the typings of an official package have it. */
export interface OfficialProperty {
  required: boolean;
  type: OfficialType;
}

/** Text, number and flag by their names; a list by what it holds, an object by its properties; `map` of texts by key. */
export type OfficialType = 'string' | 'number' | 'boolean' | 'map' | 'other' | { list: OfficialType } | OfficialObject;
export type OfficialObject = { properties: Record<string, OfficialProperty> };

/** The typings of an official package, such as @pulumi/aws. */
export class OfficialTypings {
  private nestedTypes: string | undefined;
  private readonly namespaces = new Map<string, ts.SourceFile>();

  /** @param root the package's folder */
  constructor(private readonly root: string) {}

  get version(): string {
    return (JSON.parse(readFileSync(join(this.root, 'package.json'), 'utf8')) as { version: string }).version;
  }

  /** One resource type: its token as its code has it, the properties that a program sets, and the names of all. */
  resource(token: string): { token: string; inputs: OfficialObject; outputs: string[] } {
    const [, path = '', name = ''] = token.split(':');
    // `lb/loadBalancer` says the file; of `network` it is in a file of its own.
    const file = join(this.root, path.includes('/') ? path : `${path}/${name.charAt(0).toLowerCase()}${name.slice(1)}`);
    const code = readFileSync(`${file}.js`, 'utf8');
    const source = parse(`${file}.d.ts`, readFileSync(`${file}.d.ts`, 'utf8'));
    const args = declarations(source).find((at) => ts.isInterfaceDeclaration(at) && at.name.text === `${name}Args`);
    const resource = declarations(source).find((at) => ts.isClassDeclaration(at) && at.name?.text === name);
    if (args === undefined || resource === undefined) throw new Error(`${file}.d.ts declares no ${name}`);
    return {
      token: /__pulumiType = '([^']+)'/.exec(code)?.[1] ?? '',
      inputs: this.propertiesOf((args as ts.InterfaceDeclaration).members),
      outputs: (resource as ts.ClassDeclaration).members.filter(ts.isPropertyDeclaration).map((at) => at.name.getText()),
    };
  }

  /** A type is looked at when it is asked for: some hold themselves. */
  private propertiesOf(members: Iterable<ts.TypeElement>): OfficialObject {
    const all = [...members].filter(ts.isPropertySignature);
    const properties = all.map((at): [string, OfficialProperty] => {
      const typeOf = (): OfficialType => this.typeOf(at.type);
      const required = at.questionToken === undefined;
      return [
        at.name.getText(),
        {
          required,
          get type() {
            return typeOf();
          },
        },
      ];
    });
    return { properties: Object.fromEntries(properties) };
  }

  /** Takes off what stands around a type: pulumi.Input, and undefined. */
  private typeOf(node: ts.TypeNode | undefined): OfficialType {
    if (node === undefined) return 'other';
    if (ts.isUnionTypeNode(node)) return this.typeOf(node.types.find((one) => one.kind !== ts.SyntaxKind.UndefinedKeyword));
    if (ts.isArrayTypeNode(node)) return { list: this.typeOf(node.elementType) };
    if (ts.isTypeLiteralNode(node)) return 'map';
    if (!ts.isTypeReferenceNode(node)) return KEYWORDS.get(node.kind) ?? 'other';
    const name = node.typeName.getText();
    if (name === 'pulumi.Input') return this.typeOf(node.typeArguments?.[0]);
    const [from, namespace, type] = name.split('.');
    return from === 'inputs' && namespace !== undefined && type !== undefined ? this.nested(namespace, type) : 'other';
  }

  /** All nested types are in one large file, of which only the namespace that is needed is parsed. */
  private nested(namespace: string, name: string): OfficialType {
    this.nestedTypes ??= readFileSync(join(this.root, 'types/input.d.ts'), 'utf8');
    const begin = this.nestedTypes.indexOf(`\nexport declare namespace ${namespace} {`) + 1;
    const text = (): string => this.nestedTypes?.slice(begin, this.nestedTypes.indexOf('\n}', begin) + 2) ?? '';
    const source = this.namespaces.get(namespace) ?? parse(namespace, text());
    this.namespaces.set(namespace, source);
    const [module] = declarations(source);
    if (module === undefined || !ts.isModuleDeclaration(module) || module.body === undefined || !ts.isModuleBlock(module.body)) {
      throw new Error(`types/input.d.ts declares no namespace ${namespace}`);
    }
    const found = module.body.statements.filter(ts.isInterfaceDeclaration).find((at) => at.name.text === name);
    return found === undefined ? 'other' : this.propertiesOf(found.members);
  }
}

const aws = new OfficialTypings(dirname(require.resolve('@pulumi/aws/package.json')));

/** The version of @pulumi/aws that is installed. */
export function officialVersion(): string {
  return aws.version;
}

/** One resource type of @pulumi/aws. */
export function officialResource(token: string): ReturnType<OfficialTypings['resource']> {
  return aws.resource(token);
}

function parse(name: string, text: string): ts.SourceFile {
  return ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true);
}

function declarations(source: ts.SourceFile): ts.Statement[] {
  return [...source.statements];
}

const KEYWORDS = new Map<ts.SyntaxKind, OfficialType>([
  [ts.SyntaxKind.StringKeyword, 'string'],
  [ts.SyntaxKind.NumberKeyword, 'number'],
  [ts.SyntaxKind.BooleanKeyword, 'boolean'],
]);
