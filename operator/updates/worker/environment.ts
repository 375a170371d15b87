import type { StateEndpoint } from './endpoint/endpoint';

/** Folders of one worker, removed with it. */
export interface WorkerFolders {
  /** PULUMI_HOME: the CLI keeps its log-in here. */
  home: string;
  /** The working directory of the engine: Pulumi.yaml. */
  work: string;
  temporary: string;
}

/** The engine's environment. No credentials: those are with the resource providers, in the worker; an extension's own stack adds some (PluginAccess). */
export function engineEnvironment(endpoint: StateEndpoint, folders: WorkerFolders, attachments: string[]): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: folders.home,
    TMPDIR: folders.temporary,
    PULUMI_HOME: folders.home,
    PULUMI_BACKEND_URL: endpoint.url,
    PULUMI_ACCESS_TOKEN: endpoint.token,
    PULUMI_DEBUG_PROVIDERS: attachments.join(','),
    PULUMI_AUTOMATION_API: 'true',
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_SKIP_CONFIRMATIONS: 'true',
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
    // Milliseconds that a journal's batch waits for more: by default 50, which a deep stack would spend twice for each of its levels.
    PULUMI_JOURNALING_BATCH_PERIOD: '5',
    // A short-lived process: collecting garbage costs more than it frees (half of its CPU time), up to this much memory.
    GOGC: 'off',
    GOMEMLIMIT: '384MiB',
  };
}
