import { dirname, relative, resolve, sep } from 'node:path';

/** Imports go down this list, never up (docs/architecture.md): what each folder may import beside itself and packages. */
const MAY_IMPORT = {
  'operator/base': [],
  'operator/kube': ['operator/base'],
  'operator/loops': ['operator/base', 'operator/kube', 'crds'],
  'operator/updates': ['operator/base', 'operator/kube', 'operator/entry', 'providers', 'crds', 'extensions'],
  'operator/cloud': ['operator/base', 'operator/kube', 'operator/updates', 'operator/entry', 'providers', 'crds', 'extensions'],
  'operator/explain': ['operator/base', 'operator/kube', 'operator/cloud', 'crds'],
  'operator/ui': ['operator/base', 'operator/kube', 'operator/explain', 'operator/server', 'operator/entry', 'crds'],
  'operator/flags': ['operator/base', 'operator/server', 'operator/entry'],
  'operator/server': ['operator/base', 'operator/kube', 'crds'],
  providers: ['operator/base', 'crds'],
  extensions: ['operator/base', 'crds'],
  crds: [],
  synth: ['operator/base', 'operator/permissions', 'crds'],
};
/** Only the workers load Pulumi's SDK (docs/architecture.md, Two processes). */
const WITHOUT_PULUMI = [
  'operator/loops',
  'operator/cloud',
  'operator/explain',
  'operator/ui',
  'operator/flags',
  'operator/server',
  'extensions',
];

const root = import.meta.dirname;
const isIn = (path, folder) => path === folder || path.startsWith(`${folder}/`);

/** By the file that is meant: `../x` says nothing without the folder that it is said in. */
export const direction = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const from = relative(root, context.filename).split(sep).join('/');
    const folder = Object.keys(MAY_IMPORT).find((name) => isIn(from, name));
    const check = ({ source }) => {
      const name = source?.value;
      if (folder === undefined || typeof name !== 'string') return;
      const isOurs = name.startsWith('.');
      const target = isOurs
        ? relative(root, resolve(dirname(context.filename), name))
            .split(sep)
            .join('/')
        : name;
      const allowed = isOurs
        ? [folder, ...MAY_IMPORT[folder]].some((may) => isIn(target, may))
        : !(isIn(target, '@pulumi') && WITHOUT_PULUMI.includes(folder));
      if (!allowed)
        context.report({ node: source, message: `${folder} must not import ${target} (docs/architecture.md, The direction of imports)` });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      TSImportType: check,
    };
  },
};
