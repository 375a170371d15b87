import { ANNOTATIONS } from '../../../crds';
import type { Service } from '../../kube/object';
import type { Readiness } from '../readiness';
import { sourceRangesField } from './source-ranges';

/** Fields of the CloudLoadBalancer that come from the Service, and where that says it; undefined = it doesn't. */
const FIELDS: [RegExp, (service: Service) => string | undefined][] = [
  [/\bspec\.listeners\b/g, () => 'spec.ports'],
  [/\bspec\.sourceRanges\b/g, (service) => sourceRangesField(service)],
  [/\bspec\.addresses\b(\[\d+\])?/g, ({ spec }) => ((spec.loadBalancerIP ?? '') === '' ? undefined : 'spec.loadBalancerIP')],
  [/\bspec\.trafficPolicy\b/g, () => 'spec.externalTrafficPolicy'],
  [/\bspec\.placement\b/g, (service) => annotationField(service, ANNOTATIONS.placement)],
  [/\bspec\.provider\b/g, (service) => annotationField(service, ANNOTATIONS.provider)],
];

/** Where in the engine something failed: said on the CloudLoadBalancer, for who looks into that. */
const PLACE = /^stack \S+: (?:resource "[^"]*": )?/;

/** What a CloudLoadBalancer says, for who has written the Service only: without the stack, and its fields have the Service's names. Pure. */
export function inServiceWords(service: Service, message: string): string {
  return FIELDS.reduce(
    (text, [field, nameOf]) => {
      const name = nameOf(service);
      return name === undefined ? text : text.replace(field, name);
    },
    message.replace(PLACE, ''),
  );
}

/** The same of all that the loop tells; a failure about the address that the Service asks for begins with that field. Pure. */
export function readinessInServiceWords(service: Service, { ready, failure, ...rest }: Readiness): Readiness {
  const say = (message: string): string => {
    const text = inServiceWords(service, message);
    return failure === undefined ? text : withAddressField(service, text);
  };
  return {
    ...rest,
    ...(ready === undefined ? {} : { ready: { ...ready, message: say(ready.message) } }),
    ...(failure === undefined ? {} : { failure: { ...failure, message: say(failure.message) } }),
  };
}

function withAddressField({ spec }: Service, message: string): string {
  const address = spec.loadBalancerIP ?? '';
  const speaksOfIt = address !== '' && message.split(/[^0-9A-Fa-f.:]+/).some((word) => word.replace(/[.:]$/, '') === address);
  return !speaksOfIt || message.startsWith('spec.loadBalancerIP') ? message : `spec.loadBalancerIP "${address}": ${message}`;
}

function annotationField({ metadata }: Service, key: string): string | undefined {
  return metadata.annotations?.[key] === undefined ? undefined : `annotation ${key}`;
}
