/**
 * What the work gives; the signal's reason, at once, where that is aborted before. The work may go on then, and nobody waits for it.
 * @param signal absent = the work is waited for
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).then(() => signal.removeEventListener('abort', onAbort));
  });
}
