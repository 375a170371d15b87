import { systemClock } from '../../operator/base/clock';
import { hashJson, type JsonObject } from '../../operator/base/json';
import type { ResourceProvider } from '../resource-provider/resource-provider';
import type { UpdateContext, WorkerModule } from '../worker-module';
import { ClassicElb } from './client/classic-elb';
import { Ec2 } from './client/ec2';
import { ElbV2 } from './client/elbv2';
import { parseAwsSettings } from './client/settings';
import { OWN_PACKAGE } from '../resource-provider/own-package';
import { pluginVariables } from './config/plugin-variables';
import { program } from './load-balancers/program';
import { resourceTypes } from './resources';
import { VpcListings } from './resources/vpc-listings';
import { loadBalancersOf } from './served';

/** Of the official package whose types are served; the state names it for every resource. */
export const AWS_VERSION = '7.48.0';
const OWN_VERSION = '1.0.0';

/** The provider of AWS, the workers' half. */
export const workerModule: WorkerModule = { program, resourceProviders, loadBalancersOf, hasOfficialPlugin: true, pluginVariables };

const vpcListings = new VpcListings(systemClock);

/** Clients for each update, with the credentials of that update. */
function resourceProviders(settings: JsonObject, context: UpdateContext): ResourceProvider[] {
  const parsed = parseAwsSettings(settings);
  const options = {
    settings: parsed,
    onCall: (verb: string) => context.countCall(verb),
    ...(context.calls !== undefined && { calls: context.calls }),
  };
  const clients = { ec2: new Ec2(options), elb: new ElbV2(options), classic: new ClassicElb(options) };
  const vpcs = vpcListings.of(hashJson(settings), clients.ec2);
  const { official, own } = resourceTypes(clients, parsed, context, vpcs);
  return [
    { package: 'aws', version: AWS_VERSION, types: official },
    { package: OWN_PACKAGE, version: OWN_VERSION, types: own },
  ];
}
