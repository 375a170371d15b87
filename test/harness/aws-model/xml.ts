/** Every element of that name, from its opening to its closing tag, those within others too; the outer before the inner ones. Pure. */
export function blocksOf(xml: string, name: string): string[] {
  const tags = [...xml.matchAll(new RegExp(`<(/?)${name}>`, 'g'))];
  const open: { at: number; order: number }[] = [];
  const blocks: string[] = [];
  let order = 0;
  for (const { 0: tag, 1: closing, index } of tags) {
    if (closing === '') {
      open.push({ at: index, order: order++ });
      continue;
    }
    const begun = open.pop();
    if (begun !== undefined) blocks[begun.order] = xml.slice(begun.at, index + tag.length);
  }
  return blocks;
}
