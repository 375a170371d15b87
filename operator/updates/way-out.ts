/** How a process gets out to a cloud: proxies, what needs none, and authorities that are trusted beside the usual ones. */
const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy', 'NODE_EXTRA_CA_CERTS'];

/** What a worker gets of the operator's environment, which is as good as nothing else. Pure. */
export function wayOut(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const named = NAMES.flatMap((name): [string, string][] => (environment[name] === undefined ? [] : [[name, environment[name]]]));
  // The engine is on this host, and the SDK would look for it behind a proxy.
  return named.length === 0 ? {} : { ...Object.fromEntries(named), no_grpc_proxy: 'localhost,127.0.0.1,[::1]' };
}
