import type { NamedCertificate } from '../../server/options';
import { flag, type Flag, type FlagGroup } from '../flag';
import { BOOLEAN, INT, IP, NAMED_CERTIFICATES, STRING, STRINGS } from '../types';

const ONE_PROTOCOL = 'the server speaks HTTP/1.1 only';
const GO_LISTENS = 'Node decides how its sockets are shared';

/** What is needed to serve TLS, for one server. */
export interface TlsFlags {
  'tls-cert-file': Flag<string>;
  'tls-cipher-suites': Flag<string[]>;
  'tls-curve-preferences': Flag<string[]>;
  'tls-min-version': Flag<string>;
  'tls-private-key-file': Flag<string>;
  'tls-sni-cert-key': Flag<NamedCertificate[]>;
}

const TLS: TlsFlags = {
  'tls-cert-file': flag(
    STRING,
    '',
    'Certificate of the server, followed by those of its CAs; without one the server makes a self-signed one',
  ),
  'tls-cipher-suites': flag(STRINGS, [], 'Cipher suites of the server up to TLS 1.2, by their IANA names; empty = Node’s'),
  'tls-curve-preferences': flag(
    STRINGS,
    [],
    'Key exchanges of the server in order of preference, such as X25519 or CurveP256; empty = Node’s',
  ),
  'tls-min-version': flag(STRING, '', 'Lowest version of TLS: VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13'),
  'tls-private-key-file': flag(STRING, '', 'Private key of --tls-cert-file'),
  'tls-sni-cert-key': flag(
    NAMED_CERTIFICATES,
    [],
    'Another certificate and key, for clients that ask for one of its names: cert,key or cert,key:name,name; may be repeated',
  ),
};

export const SECURE_SERVING = {
  'bind-address': flag(IP, '0.0.0.0', 'Address on which --secure-port listens; 0.0.0.0 and :: = all'),
  'cert-dir': flag(
    STRING,
    '',
    'Folder for cloud-controller-manager.crt and .key, made when they are not there; empty = a self-signed certificate in memory',
  ),
  'disable-http2-serving': flag(BOOLEAN, false, 'No HTTP/2', { inert: ONE_PROTOCOL }),
  'http2-max-streams-per-connection': flag(INT, 0, 'Streams of one HTTP/2 connection', { inert: ONE_PROTOCOL }),
  'permit-address-sharing': flag(BOOLEAN, false, 'Listen with SO_REUSEADDR', { inert: GO_LISTENS }),
  'permit-port-sharing': flag(BOOLEAN, false, 'Listen with SO_REUSEPORT', { inert: GO_LISTENS }),
  'secure-port': flag(INT, 10258, 'Port of the HTTPS server for health, metrics and configuration; 0 = none'),
  ...TLS,
} satisfies FlagGroup;

export const WEBHOOK = {
  webhooks: flag(STRINGS, [], 'Webhooks to serve, chosen as --controllers chooses; needs the gate CloudControllerManagerWebhook'),
} satisfies FlagGroup;

export const WEBHOOK_SERVING = {
  'webhook-bind-address': flag(IP, '0.0.0.0', 'Address on which --webhook-secure-port listens'),
  'webhook-cert-dir': flag(STRING, '', 'Folder for cloud-controller-manager-webhook.crt and .key'),
  'webhook-disable-http2-serving': flag(BOOLEAN, false, 'No HTTP/2', { inert: ONE_PROTOCOL }),
  'webhook-secure-port': flag(INT, 10260, 'Port of the webhooks; 0 = none'),
  'webhook-tls-cert-file': TLS['tls-cert-file'],
  'webhook-tls-cipher-suites': TLS['tls-cipher-suites'],
  'webhook-tls-curve-preferences': TLS['tls-curve-preferences'],
  'webhook-tls-min-version': TLS['tls-min-version'],
  'webhook-tls-private-key-file': flag(STRING, '', 'Private key of --webhook-tls-cert-file'),
  'webhook-tls-sni-cert-key': TLS['tls-sni-cert-key'],
} satisfies FlagGroup;
