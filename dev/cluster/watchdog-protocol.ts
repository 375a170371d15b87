/** What is said between a ProcessGuard and its watchdog: one JSON object a line. */
export type WatchdogRequest =
  | {
      request: 'start';
      id: number;
      command: string;
      args: string[];
      environment: Record<string, string>;
      cwd: string;
      log: string;
      lines: boolean;
      graceMs: number;
    }
  | { request: 'signal'; id: number; signal: NodeJS.Signals };

export type WatchdogEvent =
  | { event: 'started'; id: number; pid: number }
  | { event: 'failed'; id: number; message: string }
  | { event: 'line'; id: number; text: string }
  | { event: 'exited'; id: number; code: number | null; signal: NodeJS.Signals | null };
