import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ANNOTATIONS, GROUP, SERVICE_UID_ANNOTATION } from '../../../crds';
import { PROJECT_ROOT } from '../../../operator/entry';
import { APPLIED_ANNOTATION } from '../../../operator/loops/service/cloud-load-balancer';
import { annotationWarnings } from '../../../operator/loops/service/own-annotations';
import type { Service } from '../../../operator/kube/object';

const page = readFileSync(join(PROJECT_ROOT, 'docs/reference/annotations.md'), 'utf8');

/** First cells of a section's table. */
function rowsUnder(heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name);
}

const hasEffectOnServices = (annotation: string): boolean => {
  const metadata = { name: 'web', namespace: 'default', annotations: { [annotation]: 'x' } };
  return annotationWarnings({ metadata } as unknown as Service).length === 0;
};

describe('docs/reference/annotations.md', () => {
  const all = Object.values<string>(ANNOTATIONS);

  it('has those with an effect on Services under Services, and the others under our own kinds', () => {
    expect(rowsUnder('On Services').sort()).toEqual(all.filter(hasEffectOnServices).sort());
    // A Service hands these on to its CloudLoadBalancer.
    const onBoth: string[] = [ANNOTATIONS.pause, ANNOTATIONS.reconcile, ANNOTATIONS.approval];
    const onOurs = all.filter((annotation) => !hasEffectOnServices(annotation) || onBoth.includes(annotation));
    expect(rowsUnder('On our own kinds').sort()).toEqual(onOurs.sort());
  });

  it('names no annotation of ours that is not in the code', () => {
    const named = [...page.matchAll(new RegExp(`(?<![.\\w])${GROUP}/([a-z-]*[a-z])`, 'g'))].map(([annotation]) => annotation);
    expect(named.filter((annotation) => ![...all, SERVICE_UID_ANNOTATION, APPLIED_ANNOTATION].includes(annotation))).toEqual([]);
  });
});
