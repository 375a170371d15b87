/** One request: its HTTP method, and host and port of the API server. */
export interface ObservedRequest {
  verb: string;
  host: string;
}

/** Told of every request to the API server; times in milliseconds. */
export interface RequestObserver {
  /** For the client's own rate limit. */
  waited(request: ObservedRequest, ms: number): void;
  /** With a body of so many bytes. */
  sent(request: ObservedRequest, bytes: number): void;
  /** @param code of the answer; `<error>` = there was none */
  answered(request: ObservedRequest, code: string, ms: number): void;
  received(request: ObservedRequest, bytes: number): void;
}
