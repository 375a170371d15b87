import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Imports go down this list, never up (docs/architecture.md): each folder names what it must not import. */
const FORBIDDEN = {
  'operator/base': ['crds', 'operator/(?!base)', 'providers', 'synth', 'dev', 'tools'],
  'operator/kube': ['crds', 'operator/(?!base|kube)', 'providers', 'synth', 'dev', 'tools'],
  'operator/loops': ['operator/(?!base|kube|loops)', 'providers', 'synth', 'dev', 'tools', '@pulumi'],
  'operator/updates': ['operator/(?!base|kube|updates|entry)', 'synth', 'dev', 'tools'],
  'operator/cloud': ['operator/(?!base|kube|updates|cloud|entry)', 'synth', 'dev', 'tools', '@pulumi'],
  'operator/flags': ['crds', 'operator/(?!base|flags|server|entry)', 'providers', 'synth', 'dev', 'tools', '@pulumi'],
  'operator/server': ['operator/(?!base|kube|server)', 'synth', 'dev', 'tools', '@pulumi'],
  providers: ['operator/(?!base)', 'synth', 'dev', 'tools'],
  crds: ['operator', 'providers', 'synth', 'dev', 'tools'],
  synth: ['operator/(?!base)', 'dev', 'tools'],
};

const directions = Object.entries(FORBIDDEN).map(([folder, forbidden]) => ({
  files: [`${folder}/**/*.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: forbidden.map((target) => ({
          regex: target.startsWith('@') ? `^${target}/` : `^(\\.\\./)+${target.replace(/^operator\//, '(?:operator/)?')}(/|$)`,
          message: `${folder} must not import ${target} (docs/architecture.md, The direction of imports)`,
        })),
      },
    ],
  },
}));

export default tseslint.config(
  { ignores: ['lib/', 'dist/', 'node_modules/', 'coverage/', '.cache/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './test/tsconfig.json', './projenrc/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      complexity: ['error', 12],
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-statements': ['error', 25],
      eqeqeq: 'error',
      'no-console': 'error',
      '@typescript-eslint/explicit-function-return-type': ['error', { allowExpressions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { 'max-lines': 'off', 'max-statements': 'off', '@typescript-eslint/explicit-function-return-type': 'off' },
  },
  {
    files: ['bin/**/*.js'],
    languageOptions: { globals: { require: 'readonly', process: 'readonly', __dirname: 'readonly' } },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  ...directions,
);
