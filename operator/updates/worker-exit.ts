import { OperatorError } from '../base/errors';

/** How a worker process has ended. */
export interface WorkerExit {
  /** The signal, or the exit code in words, or why it could not be started. */
  how: string;
  /** It has said that its heap is full (isOutOfHeap). */
  outOfHeap: boolean;
  /** Limit of its JavaScript heap. */
  heapMB: number;
}

/** Signal by which V8 ends a process whose heap is full, after it has said so on standard error. */
export const V8_ABORT = 'SIGABRT';

/** Whether V8 says that the heap has reached its limit. Pure. @param line of standard error */
export function isOutOfHeap(line: string): boolean {
  return line.includes('JavaScript heap out of memory');
}

/** What an update fails with whose worker has ended by itself. Pure. */
export function failureOfExit({ how, outOfHeap, heapMB }: WorkerExit): OperatorError {
  if (!outOfHeap || how !== V8_ABORT) return new OperatorError('Transient', `the update's worker process ended: ${how}`);
  return new OperatorError('Unknown', `the program used more than ${heapMB} MB of JavaScript heap and was stopped`, {
    remedy: 'make the stack smaller, or raise --update-memory, half of which the heap may be',
  });
}
