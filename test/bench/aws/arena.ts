import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { systemClock } from '../../../operator/base/clock';
import { AwsModel } from '../../harness/aws-model/aws-model';
import type { Rule } from '../../harness/aws-model/rule';
import { latency } from '../../harness/aws-model/rules/latency';
import { throttling } from '../../harness/aws-model/rules/throttling';
import { noTopology } from '../../harness/aws-model/rules/topology';
import { awsEnvironment, startMoto, type Moto } from '../../harness/moto';
import { OperatorCluster } from '../../harness/operator-cluster';
import { MotoAccount, REGION } from '../../integration/aws/moto-account';
import { Scene } from '../../integration/operator/scene';
import { Ours, Upstream, type Contestant, type ContestantName } from './contestant';
import { Traffic } from './traffic';
import type { Variant } from './variants';

/** Programs that are not part of the project. */
export interface Programs {
  moto: string;
  /** Absent = nobody asks for it. */
  upstream?: string;
}

/** A machine of the account that a Node is, or will be. */
export interface Machine {
  node: string;
  instanceID: string;
}

interface Parts {
  moto: Moto;
  account: MotoAccount;
  proxy: AwsModel;
  traffic: Traffic;
  cluster: OperatorCluster;
  contestant: Contestant;
  /** Security group of the Nodes. */
  nodeGroup: string;
  /** Ends what belongs to the contestant. */
  ended: () => Promise<void>;
}

/** A cluster and an account of its own for one contestant under one variant. */
export class Arena {
  readonly scene: Scene;
  readonly proxy: AwsModel;
  readonly traffic: Traffic;
  readonly cluster: OperatorCluster;
  readonly contestant: Contestant;

  private constructor(private readonly parts: Parts) {
    this.scene = new Scene(parts.cluster);
    ({ proxy: this.proxy, traffic: this.traffic, cluster: this.cluster, contestant: this.contestant } = parts);
  }

  static async open(who: ContestantName, variant: Variant, programs: Programs): Promise<Arena> {
    const moto = await startMoto(programs.moto);
    const account = new MotoAccount(moto.url);
    await account.prepare();
    await account.openToInternet();
    const nodeGroup = await account.nodeGroup();
    const traffic = new Traffic();
    const proxy = new AwsModel(moto.url, REGION, [traffic, ...rulesOf(variant)]);
    await proxy.start();
    const text = configOf(account, variant, proxy.url);
    const { cluster, contestant, ended } = await enter(who, { text, url: proxy.url, ...programs });
    return new Arena({ moto, account, proxy, traffic, cluster, contestant, nodeGroup, ended });
  }

  /** Of moto itself: looks there are not counted, delayed or refused. */
  get motoURL(): string {
    return this.parts.moto.url;
  }

  /** Machines of the cluster, without Nodes. */
  async machines(count: number): Promise<Machine[]> {
    const made = await this.parts.account.makeInstances(count, 'prod', this.parts.nodeGroup);
    return made.map(({ nodeName, providerID }) => ({ node: nodeName, instanceID: providerID.split('/').at(-1) ?? '' }));
  }

  async close(): Promise<void> {
    const { contestant, ended, cluster, account, proxy, moto } = this.parts;
    await contestant.stop();
    await ended();
    await cluster.stop();
    account.close();
    await proxy.stop();
    await moto.stop();
  }
}

function rulesOf({ latencyMs, limit }: Variant): Rule[] {
  return [
    ...(limit === undefined ? [] : [throttling({ clock: systemClock, ...limit })]),
    ...(latencyMs === 0 ? [] : [latency(systemClock, latencyMs)]),
    noTopology(),
  ];
}

/** Upstream's own file, for both. It names a subnet, because upstream asks the metadata service for what it misses there. */
function configOf(account: MotoAccount, { nodeRules }: Variant, url: string): string {
  const more = [`SubnetID=${account.subnetIDs[0]}`, ...(nodeRules ? [] : ['DisableSecurityGroupIngress=true'])];
  return account.upstreamConfig(url).replace('[Global]\n', `[Global]\n${more.join('\n')}\n`);
}

async function enter(
  who: ContestantName,
  { text, url, upstream }: Programs & { text: string; url: string },
): Promise<{ cluster: OperatorCluster; contestant: Contestant; ended: () => Promise<void> }> {
  const file = (directory: string): string => join(directory, 'bench-cloud.conf');
  const environment = { ...minimalEnvironment(), ...awsEnvironment(url, REGION) };
  // Its folder is known only when it is there; a path relative to it is read from there.
  const flags = ['--cloud-provider=aws', '--cloud-config=bench-cloud.conf'];
  const cluster = await OperatorCluster.start({ flags, environment, started: false });
  const config = file(cluster.directory);
  writeFileSync(config, text);
  if (who === 'ours') {
    const ours = new Ours(cluster);
    return { cluster, contestant: ours, ended: () => Promise.resolve(ours.close()) };
  }
  const peer = new Upstream(upstream ?? '', { cluster, config, url });
  return { cluster, contestant: peer, ended: () => peer.close() };
}
