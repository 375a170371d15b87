import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { direction } from './eslint.direction.mjs';

/** The root of a provider's package, or a whole service's index, loads hundreds of classes: tens to hundreds of MB in each worker. */
const WHOLE_PACKAGES = {
  regex: '^@pulumi/(aws|azure-native)(/[a-z0-9]+)?(/index(\\.js)?)?$',
  message: 'Import the module of the one class, such as @pulumi/aws/lb/listener: all else of the package would be loaded with it.',
};

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
      'no-restricted-imports': ['error', { patterns: [WHOLE_PACKAGES] }],
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
    files: ['operator/ui/assets/*.js'],
    languageOptions: {
      sourceType: 'module',
      globals: Object.fromEntries(
        ['document', 'window', 'fetch', 'setInterval', 'URLSearchParams', 'Element', 'HTMLElement'].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['bin/**/*.js'],
    languageOptions: { globals: { require: 'readonly', process: 'readonly', __dirname: 'readonly' } },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: ['**/*.ts'],
    plugins: { project: { rules: { direction } } },
    rules: { 'project/direction': 'error' },
  },
);
