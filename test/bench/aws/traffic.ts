import { fieldsOf, type ModelAnswer, type ModelCall } from '../../harness/aws-model/call';
import type { Rule } from '../../harness/aws-model/rule';

/** What stands in the account, by the answers that went by: knowing it costs moto nothing. */
export class Traffic implements Rule {
  /** Instance ids by target group. */
  readonly targets = new Map<string, Set<string>>();
  readonly loadBalancers = new Set<string>();
  /** When the last call came in or was answered, as performance.now() has it. */
  lastAt = 0;

  before(): undefined {
    this.lastAt = performance.now();
  }

  after(call: ModelCall, answer: ModelAnswer): ModelAnswer {
    this.lastAt = performance.now();
    if (answer.status === 200 && call.service === 'elbv2') this.note(call, answer.body);
    return answer;
  }

  /** How many target groups hold all of these instances, and none of those. */
  right(has: readonly string[], hasNot: readonly string[] = []): number {
    const isRight = (ids: Set<string>): boolean => has.every((id) => ids.has(id)) && !hasNot.some((id) => ids.has(id));
    return [...this.targets.values()].filter(isRight).length;
  }

  private note(call: ModelCall, body: string): void {
    const group = call.parameters.get('TargetGroupArn') ?? '';
    const ids = fieldsOf(call, 'Targets', 'Id');
    switch (call.action) {
      case 'CreateLoadBalancer':
        return void this.loadBalancers.add(idIn(body, 'LoadBalancerArn'));
      case 'DeleteLoadBalancer':
        return void this.loadBalancers.delete(call.parameters.get('LoadBalancerArn') ?? '');
      case 'CreateTargetGroup':
        return void this.targets.set(idIn(body, 'TargetGroupArn'), this.targets.get(idIn(body, 'TargetGroupArn')) ?? new Set());
      case 'DeleteTargetGroup':
        return void this.targets.delete(group);
      case 'RegisterTargets':
        return ids.forEach((id) => this.targets.get(group)?.add(id));
      case 'DeregisterTargets':
        return ids.forEach((id) => void this.targets.get(group)?.delete(id));
    }
  }
}

function idIn(body: string, element: string): string {
  return new RegExp(`<${element}>([^<]+)<`).exec(body)?.[1] ?? '';
}
