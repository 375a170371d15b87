import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALERTS, type Alert } from '../../synth/monitoring/alerts';
import type { Labels } from './promql';

/** Series as promtool writes them, with one sample a minute; what is firing after so many minutes. */
export interface AlertCase {
  of: string;
  series: [selector: string, samples: string][];
  firing: [minute: number, labels: Labels[]][];
}

/** Path of promtool; undefined = there is none. */
export function findPromtool(): string | undefined {
  const path = spawnSync('which', ['promtool'], { encoding: 'utf8' }).stdout.trim();
  return path === '' ? undefined : path;
}

/** What promtool says of our rules and these cases, by the name of the alert. */
export function promtoolOn(promtool: string, cases: Record<string, AlertCase[]>): { status: number | null; said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-promtool-'));
  try {
    // JSON is YAML.
    const rules = ALERTS.map(({ alert, expr, for: held, severity, summary, description }) => ({
      ...{ alert, expr, for: held, labels: { severity }, annotations: { summary, description } },
    }));
    writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'cloud-operator', rules }] }));
    const tests = Object.entries(cases).flatMap(([name, all]) => all.map((one) => testOf(name, one)));
    writeFileSync(join(folder, 'tests.yaml'), JSON.stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
    const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', 'tests.yaml'], { cwd: folder, encoding: 'utf8' });
    return { status, said: `${stdout}${stderr}` };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function testOf(name: string, { series, firing }: AlertCase): object {
  const alert = ALERTS.find((one) => one.alert === name);
  if (alert === undefined) throw new Error(`there is no alert ${name}`);
  return {
    interval: '1m',
    input_series: series.map(([selector, values]) => ({ series: selector, values })),
    alert_rule_test: firing.map(([minute, labels]) => ({
      eval_time: `${minute}m`,
      alertname: name,
      exp_alerts: labels.map((own) => expected(alert, own)),
    })),
  };
}

function expected({ severity, summary, description }: Alert, labels: Labels): object {
  const filled = (text: string): string => text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');
  return { exp_labels: { severity, ...labels }, exp_annotations: { summary: filled(summary), description: filled(description) } };
}
