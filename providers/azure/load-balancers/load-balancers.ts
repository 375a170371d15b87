import type { CloudLoadBalancerSpec } from '../../../crds';
import type { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { generationsOf } from '../../generations';
import type { LoadBalancerInput, LoadBalancers, TargetsOf } from '../../provider';
import { linkResourcesOf, solesOf } from '../private-links/links';
import type { AzureInput } from './arguments';
import { entriesOf, exclusivesOf, portPlacesOf } from './entries';
import { lossBy, withoutTargets } from './losses';
import { baseNameOf } from './names';
import { balancerNameOf, placeOf } from './placement';
import { renderStack } from './render';
import { replacement } from './replacement';
import { recognize, results } from './results';
import type { AzureScope } from './scope';
import { validateLoadBalancer } from './validation';

/** Standard load balancers, each of which carries all Services of its scheme: one stack has one of them, with the Nodes behind it. */
export class AzureLoadBalancers implements LoadBalancers {
  constructor(private readonly scope: AzureScope) {}

  /** The load balancer itself. */
  defaultPlacement(input: LoadBalancerInput): string {
    return balancerNameOf(input, this.scope);
  }

  validate(spec: CloudLoadBalancerSpec): ReturnType<LoadBalancers['validate']> {
    return validateLoadBalancer(spec, this.scope);
  }

  render(stack: string, inputs: LoadBalancerInput[], targets: TargetsOf = () => []): JsonObject {
    return renderStack(stack, inputs, targets, this.scope) as unknown as JsonObject;
  }

  withoutTargets = withoutTargets;

  lossBy = lossBy;

  replacement = replacement;

  exclusive = exclusivesOf;

  places(input: LoadBalancerInput, given?: readonly string[]): string[] {
    return portPlacesOf(input, this.scope, given);
  }

  sole(spec: CloudLoadBalancerSpec): string[] {
    return solesOf(spec, this.scope.settings);
  }

  results = results;

  recognize = recognize;

  /** By the name of what failed, else by the names of parts of the load balancer that Azure's own words have in them. */
  attribute(error: OperatorError, inputs: LoadBalancerInput[]): string[] {
    const failed = error.resource?.split('::').at(-1) ?? '';
    const all = generationsOf(inputs).map(({ input }) => input as AzureInput);
    const ofName = all.filter((input) => this.resourcesOf(input).includes(failed));
    const owners = ofName.length > 0 ? ofName : all.filter((input) => this.namesOf(input).some((name) => mentions(error.message, name)));
    return [...new Set(owners.map(({ uid }) => uid))];
  }

  /** Names of the resources that are there for it. */
  private resourcesOf(input: AzureInput): string[] {
    const place = placeOf(input, this.scope);
    const addresses = entriesOf(input, place).map((entry) => (entry.kind === 'Made' ? entry.name : entry.frontend));
    return [...addresses, ...linkResourcesOf(input, place)];
  }

  /** Of its parts; a frontend of an address that was asked for is named by that. */
  private namesOf(input: AzureInput): string[] {
    return [baseNameOf(input), ...entriesOf(input, placeOf(input, this.scope)).map(({ frontend }) => frontend)];
  }
}

/** A later generation's name begins with that of the first. */
function mentions(text: string, base: string): boolean {
  return new RegExp(`${base}(?!-g[0-9])`).test(text);
}
