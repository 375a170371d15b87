const UNCAUGHT: readonly unknown[] = ['uncaughtException', 'unhandledRejection'];

/**
 * Keeps a program from ending the worker: `process.exit` throws instead, and what nobody caught is told to `onStray`.
 * (During an update the Pulumi SDK has handlers of its own, which turn stray errors into a failed update.)
 * @param isLeftover whether the code that runs now was begun by an update that is over: then nobody but `onStray` learns of it
 */
export function guardProcess(onStray: (thrown: unknown) => void, isLeftover: () => boolean = () => false): void {
  process.exit = (code) => {
    const error = new Error(`the program called process.exit(${code ?? ''})`);
    onStray(error);
    throw error;
  };
  process.on('uncaughtException', onStray);
  process.on('unhandledRejection', onStray);
  const emit = process.emit.bind(process) as (...event: unknown[]) => boolean;
  process.emit = ((...event: unknown[]): boolean => {
    if (!UNCAUGHT.includes(event[0]) || !isLeftover()) return emit(...event);
    onStray(event[1]);
    return true;
  }) as typeof process.emit;
}
