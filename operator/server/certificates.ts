import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { ServerOptions } from 'node:https';
import { OperatorError } from '../base/errors';
import { makeFolder } from '../base/folder';
import type { NamedCertificate, TlsOptions } from './options';
import { selfSigned, type KeyPair } from './self-signed';

/** A certificate and the names for which it is shown. */
interface Named {
  names: string[];
  context: SecureContext;
}

export interface CertificateFiles {
  tls: TlsOptions;
  /** Name of the pair in `tls.directory`. */
  pairName: string;
  bindAddress: string;
}

/** The certificates of one server, from files that may change. */
export class Certificates {
  private made: KeyPair | undefined;
  private own: KeyPair;
  private named: Named[];

  /** @throws OperatorError Invalid when a file can't be read or is no certificate with its key */
  constructor(private readonly files: CertificateFiles) {
    this.own = this.read();
    this.named = this.readNamed();
  }

  /**
   * What Node's TLS server needs.
   * @param ca PEM of the CAs of clients; empty = nobody is asked for a certificate that counts
   */
  options(ca: string): ServerOptions {
    const { minVersion, ciphers, curves } = this.files.tls;
    return {
      ...this.own,
      ...(ca === '' ? {} : { ca }),
      requestCert: true,
      rejectUnauthorized: false, // who shows none, or a foreign one, is anonymous or has a token
      SNICallback: (name, callback) => callback(null, this.contextFor(name)),
      ...(minVersion === undefined ? {} : { minVersion }),
      ...(ciphers === undefined ? {} : { ciphers: ciphers.join(':') }),
      ...(curves === undefined ? {} : { ecdhCurve: curves.join(':') }),
    };
  }

  /**
   * Reads files again; those for certain names count from the next connection on.
   * @returns true when the server's own certificate has changed
   * @throws OperatorError as the constructor; what was read before stays then
   */
  reload(): boolean {
    const [own, named] = [this.read(), this.readNamed()];
    const changed = own.cert !== this.own.cert || own.key !== this.own.key;
    [this.own, this.named] = [own, named];
    return changed;
  }

  /** Of several that fit, the one with the exact name, else the first with a wildcard; undefined = the server's own. */
  private contextFor(server: string): SecureContext | undefined {
    const exact = this.named.find(({ names }) => names.includes(server));
    return (exact ?? this.named.find(({ names }) => names.some((name) => isWildcardOf(name, server))))?.context;
  }

  private read(): KeyPair {
    const { certificate, directory } = this.files.tls;
    if (certificate !== undefined) return readPair(certificate);
    if (directory === undefined) return this.selfMade();
    const [certFile, keyFile] = ['crt', 'key'].map((kind) => join(directory, `${this.files.pairName}.${kind}`)) as [string, string];
    if (existsSync(certFile) && existsSync(keyFile)) return readPair({ certFile, keyFile });
    return writePair(directory, { certFile, keyFile }, this.selfMade());
  }

  /** The same one as long as it is needed: a new one would be a change. */
  private selfMade(): KeyPair {
    this.made ??= selfSigned(ownNames(this.files.bindAddress), Date.now());
    return this.made;
  }

  private readNamed(): Named[] {
    return this.files.tls.named.map((entry) => {
      const pair = readPair(entry);
      return { names: namesOf(entry, pair.cert), context: createSecureContext(pair) };
    });
  }
}

/** Upstream's names for a certificate of its own, and the address that it listens on. */
function ownNames(bindAddress: string): string[] {
  const unspecified = bindAddress === '0.0.0.0' || bindAddress === '::';
  return [...new Set(['localhost', '127.0.0.1', '::1', ...(unspecified || isIP(bindAddress) === 0 ? [] : [bindAddress])])];
}

function readPair({ certFile, keyFile }: { certFile: string; keyFile: string }): KeyPair {
  const pair = { cert: readText(certFile), key: readText(keyFile) };
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw new OperatorError('Invalid', `${certFile} and ${keyFile} are no certificate with its key: ${(cause as Error).message}`, {
      cause,
    });
  }
  return pair;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new OperatorError('Invalid', `open ${file}: ${code === 'ENOENT' ? 'no such file or directory' : (code ?? 'error')}`, { cause });
  }
}

/** Somebody else fills a folder that is read-only, such as a mounted Secret that may come later: until then the pair is kept in memory. */
function writePair(directory: string, { certFile, keyFile }: { certFile: string; keyFile: string }, pair: KeyPair): KeyPair {
  try {
    makeFolder(directory, 0o755);
    writeFileSync(keyFile, pair.key, { mode: 0o600 });
    writeFileSync(certFile, pair.cert, { mode: 0o644 });
    return pair;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EROFS') return pair;
    throw new OperatorError('Invalid', `--cert-dir ${directory}: the server's certificate can't be written: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Those of the flag, else those that the certificate holds. */
function namesOf({ names }: NamedCertificate, cert: string): string[] {
  if (names.length > 0) return names;
  const alternatives = new X509Certificate(cert).subjectAltName?.split(', ') ?? [];
  return alternatives.flatMap((entry) => (entry.startsWith('DNS:') ? [entry.slice('DNS:'.length)] : []));
}

/** `*.example.com` stands for one label in front. */
function isWildcardOf(pattern: string, server: string): boolean {
  return pattern.startsWith('*.') && server.slice(server.indexOf('.')) === pattern.slice(1);
}
