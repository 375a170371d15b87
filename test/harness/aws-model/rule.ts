import type { EC2 } from '@aws-sdk/client-ec2';
import type { ElasticLoadBalancing } from '@aws-sdk/client-elastic-load-balancing';
import type { ElasticLoadBalancingV2 } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { ModelAnswer, ModelCall } from './call';

/** What is in moto, behind the rules. */
export interface MotoState {
  ec2: EC2;
  elb: ElasticLoadBalancingV2;
  classic: ElasticLoadBalancing;
}

/** One rule of AWS's that moto does not keep. */
export interface Rule {
  /** Looks at a call before moto gets it: what it gives is the answer; undefined = the call goes on. */
  before?(call: ModelCall, moto: MotoState): Promise<ModelAnswer | undefined> | ModelAnswer | undefined;
  /** Looks at moto's answer to a call, and gives what AWS would have answered. */
  after?(call: ModelCall, answer: ModelAnswer, moto: MotoState): Promise<ModelAnswer> | ModelAnswer;
}
