import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minimalEnvironment, type ProcessGuard } from '../../dev/cluster/process-guard';
import { startFailure } from '../../dev/cluster/start-failure';

export interface Outcome {
  title: string;
  /** As Ginkgo has it: passed, skipped, failed, timedout, … */
  state: string;
  seconds: number;
  /** Why it was skipped or has failed. */
  message: string;
}

export interface SuiteOptions {
  /** Path of the tests' binary, and of kubectl. */
  tools: Record<'kubernetes-e2e' | 'kubectl', string>;
  kubeconfig: string;
  /** For logs and reports. */
  directory: string;
  /** For each test. */
  minutes: number;
}

/** The part of Ginkgo's report that is used. */
interface SuiteReport {
  SpecReports: {
    LeafNodeType: string;
    ContainerHierarchyTexts: string[] | null;
    LeafNodeText: string;
    State: string;
    RunTime: number;
    Failure?: { Message: string };
  }[];
}

const LOAD_BALANCER = '[Feature:LoadBalancer]';
const GRACE_MS = 5_000;

/** Upstream's load balancer tests, each in a process of its own. */
export class Suite {
  private runs = 0;

  constructor(
    private readonly guard: ProcessGuard,
    private readonly options: SuiteOptions,
  ) {}

  /** @param focus parts of titles; empty = all @returns titles */
  async list(focus: readonly string[]): Promise<string[]> {
    const all = await this.run('list', ['--ginkgo.dry-run', `--ginkgo.focus=${literally(LOAD_BALANCER)}`]);
    const titles = all.filter(({ state }) => state === 'passed').map(({ title }) => title);
    return titles.filter((title) => focus.length === 0 || focus.some((part) => title.includes(part)));
  }

  async test(title: string): Promise<Outcome> {
    const name = `test-${++this.runs}`;
    const outcomes = await this.run(name, [`--ginkgo.focus=${literally(title)}$`, `--ginkgo.timeout=${this.options.minutes}m`]);
    const outcome = outcomes.find((one) => one.title === title);
    return outcome ?? { title, state: 'failed', seconds: 0, message: `it did not run; see ${name}.log` };
  }

  /** @throws OperatorError with the end of its log when it ends without a report */
  private async run(name: string, flags: string[]): Promise<Outcome[]> {
    const { tools, kubeconfig, directory } = this.options;
    const report = join(directory, `${name}.json`);
    const process = await this.guard.start({
      name,
      command: tools['kubernetes-e2e'],
      args: [
        `--kubeconfig=${kubeconfig}`,
        `--kubectl-path=${tools.kubectl}`,
        '--provider=skeleton',
        '--minStartupPods=0',
        '--ginkgo.no-color',
        '--ginkgo.v',
        `--ginkgo.json-report=${report}`,
        ...flags,
      ],
      environment: minimalEnvironment(),
      cwd: directory,
      log: join(directory, `${name}.log`),
      graceMs: GRACE_MS,
    });
    await process.ended;
    try {
      return outcomesIn(readFileSync(report, 'utf8'));
    } catch {
      throw await startFailure(process, 0);
    }
  }
}

/** What each test of a report came to. Pure. */
export function outcomesIn(report: string): Outcome[] {
  const specs = (JSON.parse(report) as SuiteReport[]).flatMap(({ SpecReports }) => SpecReports);
  return specs
    .filter(({ LeafNodeType }) => LeafNodeType === 'It')
    .map(({ ContainerHierarchyTexts, LeafNodeText, State, RunTime, Failure }) => ({
      title: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' '),
      state: State,
      seconds: RunTime / 1e9,
      message: Failure?.Message ?? '',
    }));
}

/** A regular expression for just this text. Pure. */
function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
