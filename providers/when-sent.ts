import type { Dispatcher } from 'undici';

/**
 * Runs something at the moment in which a request's bytes go out: it may have waited for a connection since it was made, and the process may have
 * been stopped meanwhile (design: Fencing).
 * @param run when it throws, the request fails with that error and nothing of it is sent
 */
export function whenSent(run: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context): void => {
      run();
      start?.(controller, context);
    };
    return dispatch(options, handler);
  };
}
