import * as ts from 'typescript';

const RUNNERS = new Set(['test', 'it', 'describe']);
const NOT_RUN = new Set(['skip', 'todo', 'failing']);

/**
 * Every text in the titles and tables of those tests of a file that run: neither what is skipped, nor what depends on a condition, nor what
 * stands in a comment or in a table that no test has. Pure.
 * @throws RangeError for a file in which a test is alone: the others don't run then
 */
export function textsOfTests(fileName: string, source: string): string[] {
  const file = ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true);
  const tables = constantsOf(file);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) return;
    if (ts.isCallExpression(node)) {
      const words = wordsOf(node.expression);
      if (RUNNERS.has(words[0] ?? '')) {
        if (words.includes('only')) throw new RangeError(`${fileName}: a test with .only`);
        if (words.some((word) => NOT_RUN.has(word))) return;
        texts.push(...textsIn(titleAndTable(node), tables));
        return node.arguments.forEach(visit);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

/** `test.each(table)('title', …)`: its table, and its title. */
function titleAndTable({ expression, arguments: [title] }: ts.CallExpression): ts.Node[] {
  const table = ts.isCallExpression(expression) ? [...expression.arguments] : [];
  return title === undefined ? table : [title, ...table];
}

/** `test.each(table)('title')` → test, each. */
function wordsOf(callee: ts.Expression): string[] {
  if (ts.isIdentifier(callee)) return [callee.text];
  if (ts.isPropertyAccessExpression(callee)) return [...wordsOf(callee.expression), callee.name.text];
  return ts.isCallExpression(callee) ? wordsOf(callee.expression) : [];
}

function textsIn(nodes: readonly ts.Node[], tables: ReadonlyMap<string, ts.Expression>): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node)) texts.push(node.head.text, ...node.templateSpans.map(({ literal }) => literal.text));
    const table = ts.isIdentifier(node) ? tables.get(node.text) : undefined;
    if (table !== undefined) visit(table);
    ts.forEachChild(node, visit);
  };
  nodes.forEach(visit);
  return texts;
}

/** The file's own constants that are lists. */
function constantsOf(file: ts.SourceFile): Map<string, ts.Expression> {
  const declared = file.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => [...declarationList.declarations]);
  return new Map(
    declared.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && initializer !== undefined && ts.isArrayLiteralExpression(initializer) ? [[name.text, initializer]] : [],
    ),
  );
}
