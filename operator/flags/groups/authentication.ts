import { flag, type FlagGroup } from '../flag';
import { BOOLEAN, DURATION, STRING, STRINGS } from '../types';

const TEN_SECONDS = 10_000;

export const AUTHENTICATION = {
  'authentication-kubeconfig': flag(
    STRING,
    '',
    'Kubeconfig with the right to create TokenReviews; empty = the Pod’s ServiceAccount, and without one every token is anonymous',
  ),
  'authentication-skip-lookup': flag(BOOLEAN, false, 'Don’t read the client CAs from the ConfigMap extension-apiserver-authentication'),
  'authentication-token-webhook-cache-ttl': flag(DURATION, TEN_SECONDS, 'How long the answer to a TokenReview is used'),
  'authentication-tolerate-lookup-failure': flag(BOOLEAN, false, 'Start although that ConfigMap can’t be read'),
  'client-ca-file': flag(STRING, '', 'CAs of client certificates; their common name is the user, their organizations are the groups'),
  'requestheader-allowed-names': flag(
    STRINGS,
    [],
    'Common names of the proxies that may name users in headers; empty = any certificate of the CA',
  ),
  'requestheader-client-ca-file': flag(STRING, '', 'CAs of the proxies that may name users in headers'),
  'requestheader-extra-headers-prefix': flag(STRINGS, ['x-remote-extra-'], 'Prefixes of headers with extra data of the user'),
  'requestheader-group-headers': flag(STRINGS, ['x-remote-group'], 'Headers with the user’s groups'),
  'requestheader-uid-headers': flag(STRINGS, [], 'Headers with the user’s UID'),
  'requestheader-username-headers': flag(STRINGS, ['x-remote-user'], 'Headers with the user’s name'),
} satisfies FlagGroup;

export const AUTHORIZATION = {
  'authorization-always-allow-paths': flag(
    STRINGS,
    ['/healthz', '/readyz', '/livez'],
    'Paths for everybody: exact ones, or with a * at the end',
  ),
  'authorization-kubeconfig': flag(
    STRING,
    '',
    'Kubeconfig with the right to create SubjectAccessReviews; empty = the Pod’s ServiceAccount, and without one only the paths above are served',
  ),
  'authorization-webhook-cache-authorized-ttl': flag(DURATION, TEN_SECONDS, 'How long a yes is used'),
  'authorization-webhook-cache-unauthorized-ttl': flag(DURATION, TEN_SECONDS, 'How long a no is used'),
} satisfies FlagGroup;
