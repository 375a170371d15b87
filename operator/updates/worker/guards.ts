/**
 * Keeps a program from ending the worker: `process.exit` throws instead, and what nobody caught is told to `onStray`.
 * (During an update the Pulumi SDK has handlers of its own, which turn stray errors into a failed update.)
 */
export function guardProcess(onStray: (thrown: unknown) => void): void {
  process.exit = (code) => {
    const error = new Error(`the program called process.exit(${code ?? ''})`);
    onStray(error);
    throw error;
  };
  process.on('uncaughtException', onStray);
  process.on('unhandledRejection', onStray);
}
